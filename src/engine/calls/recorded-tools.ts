/**
 * The tools as the loop sees them: each call is a recorded step. Before a call that must not be repeated its intent
 * is on the disk; a call whose outcome a crash swallowed is repeated only if the tool says that this is safe.
 */

import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { answerText } from '../../events/answer-text.ts';
import type { ImagePart, TextPart, ToolCallPart, ToolResultPart } from '../../events/messages.ts';
import type { Cause, NewEvent } from '../../ledger/port.ts';
import type { LoopTools } from '../../loop/port.ts';
import { requestText } from '../../projections/request-text.ts';
import { resultPart } from '../../projections/transcript.ts';
import { boundResult } from '../../tools/bounded.ts';
import { runTool, sureRefusal } from '../../tools/call.ts';
import type { AgentTool, OrdinaryTool, ServiceTool, Tool, ToolContext, ToolOutcome, ToolRefusal } from '../../tools/port.ts';
import type { ProtectedKind } from '../../tools/protected-names.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { watchedCall } from '../evidence/watched-call.ts';
import { waitForAnswer } from '../hearing/waits.ts';
import type { ExecutorAccess, ProofAccess, ReplayAccess, ToolAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import { childOf, type DrivenRun, speakerOf } from '../record/driven-run.ts';
import type { StepIndex } from '../record/step-index.ts';
import { takeUpAssistant } from '../spawning/assistant-calls.ts';
import { keptSince } from '../travel/travelling.ts';
import { type CallsAgents, callAgent } from './agent-calls.ts';
import { type CallPlace, createCallOrder } from './call-order.ts';
import { type CommandLimit, createCommandLimit } from './command-limit.ts';
import { permitted } from './permitted.ts';
import { resultBytes } from './result-room.ts';
import { argumentsGone, askAboutGone, goneText } from './sealed-arguments.ts';
import { createFileMemory, type FileMemory, seenOfCut } from './seen-files.ts';

/** What calling any tool takes, agents among them. */
export type CallsTools = CallsAgents & ToolAccess & ExecutorAccess & ProofAccess & ReplayAccess & WorksInFolders;

interface Caller {
  readonly tree: CallsTools;
  readonly node: DrivenRun;
  readonly setup: AgentSetup;
  readonly stepIndex: StepIndex;
  readonly files: FileMemory;
  readonly commands: CommandLimit;
}

interface Call<Called extends Tool = Tool> {
  readonly step: string;
  readonly turn: number;
  readonly tool: Called;
  readonly asked: ToolCallPart;
  /** How many calls the turn makes. */
  readonly beside: number;
  readonly place: CallPlace;
}

export function recordedTools(tree: CallsTools, node: DrivenRun, setup: AgentSetup, stepIndex: StepIndex): LoopTools {
  const byName = new Map(setup.tools.map((tool) => [tool.name, tool]));
  const caller: Caller = {
    tree,
    node,
    setup,
    stepIndex,
    files: createFileMemory(tree, node),
    commands: createCommandLimit(tree, node),
  };
  const order = createCallOrder();
  return {
    specs: setup.tools,
    call(turn, index, asked, beside) {
      const step = `turn/${turn}/tool/${index}`;
      const tool = byName.get(asked.name);
      return order.place(turn, tool, async (place) => {
        const known = node.journal.recorded('tool.result', step);
        tree.replay?.again(node.run, 'tool.result', step, { id: asked.id, name: asked.name });
        if (known !== undefined) {
          place.asked();
          if (tool?.kind === 'spawn' && known.payload.isError !== true)
            await takeUpAssistant(tree, node, step, changedTo(node, step) ?? asked.input);
          await tree.replay?.due(node.run, node.abort.signal);
          return placed(caller.stepIndex, step, resultPart(known.payload));
        }
        if (tool === undefined) return refuse(caller, step, asked, `The tool ${asked.name} is not available now.`);
        const result = await callNow(caller, { step, turn, tool, asked, beside, place });
        await tree.replay?.due(node.run, node.abort.signal);
        return result;
      });
    },
  };
}

async function callNow(caller: Caller, call: Call): Promise<ToolResultPart> {
  const { tree, node, setup } = caller;
  const { step, tool, asked, place } = call;
  tree.checkpoint(node);
  const begun = node.journal.recorded('tool.call', step)?.event_id;
  const gone = argumentsGone(node, call.turn, step, asked);
  // A child run that has begun comes to its end, also when nobody wants its answer any more.
  const isUnderWay = begun !== undefined && (gone === undefined || tree.begun(childOf(node, step)));
  if (isUnderWay && tool.kind !== undefined && tool.kind !== 'question') {
    place.asked();
    return await callOther(caller, { ...call, tool }, begun, changedTo(node, step));
  }
  if (node.abort.signal.aborted) return refuse(caller, step, asked, 'Not run: the run was cancelled.');
  const mayHaveHappened = begun !== undefined && tool.replay === 'never';
  if (gone !== undefined && mayHaveHappened) return inDoubt(caller, call);
  if (gone !== undefined) return await notMade(caller, call, gone);
  if (tool.kind === 'question') return await askUser(caller, call);
  // One that may have happened has a question to come.
  const asking = mayHaveHappened ? { ...place, asked: () => undefined } : place;
  const refusal = async (opened?: ProtectedKind) =>
    tool.kind === undefined ? await sureRefusal(tool, asked.input, contextOf(caller, call, tool, opened)) : undefined;
  const placeNow = begun === undefined ? asking : { ...asking, itsTurn: undefined };
  const permit = await permitted(tree, node, setup, { ...call, refusal }, placeNow);
  if (!permit.ok) return refuse(caller, step, asked, permit.error);
  if (permit.value.refused !== undefined) return refusedBefore(caller, call, permit.value.refused);
  if (mayHaveHappened && !(await mayRepeat(caller, call))) return inDoubt(caller, call);
  await place.itsTurn();
  tree.checkpoint(node);
  if (begun === undefined && node.abort.signal.aborted) return refuse(caller, step, asked, 'Not run: the run was cancelled.');
  const tooMany = begun === undefined ? caller.commands.refusal(tool) : undefined;
  if (tooMany !== undefined) return refuse(caller, step, asked, tooMany);
  const { opened, input: edited } = permit.value;
  const cause = begun ?? (await announce(caller, call, edited));
  if (tool.kind !== undefined) return await callOther(caller, { ...call, tool }, cause, edited);
  const startedAt = tree.clock.elapsed();
  const run = () =>
    runTool(tool, edited ?? asked.input, contextOf(caller, call, tool, opened), {
      timeoutMs: caller.setup.definition.toolTimeout ?? limits.toolTimeoutMs,
      clock: tree.clock,
    });
  const watched = () => watchedCall(tree.workspaces, tree.workspaceOf(node), tree.redact, tool, run);
  const outcome = await tree.atWork.during(() =>
    tool.waits === true ? tree.slots.released(node.run, node.abort.signal, watched) : watched(),
  );
  // Cut off because the engine stops, not because the call failed: leave it in doubt rather than record a false result.
  if (node.abort.signal.aborted) tree.checkpoint(node);
  const kept = tool.readOnly === true ? [] : await keptSince(tree, node);
  return record(caller, call, cause, told(outcome, edited), kept, Math.round(tree.clock.elapsed() - startedAt));
}

function contextOf({ tree, node, setup, files }: Caller, { step, turn }: Call, tool: OrdinaryTool, opened?: ProtectedKind) {
  return {
    workspace: tree.workspaceOf(node),
    signal: node.abort.signal,
    run: speakerOf(node).run,
    idempotencyKey: `${node.run}/${step}`,
    seen: files.during(turn),
    opened,
    mayFetch: (url) => isAllowed({ tree, setup }, tool, url),
    mayShow: (path) => tree.shows?.(setup.definition, tool.name, path, tree.outside.remembered()) ?? true,
    redact: tree.redact,
  } satisfies ToolContext;
}

/** What somebody changed before it was made is what goes on after a crash. */
const changedTo = (node: DrivenRun, step: string): Json | undefined => node.journal.recorded('tool.call', step)?.payload.input;

function isAllowed({ tree, setup }: Pick<Caller, 'tree' | 'setup'>, tool: OrdinaryTool, url: string): boolean {
  return tree.permission(setup.definition, tool, { input: { url }, remembered: tree.outside.remembered() }) === 'allow';
}

/** A call that is a run of another agent: it resumes by itself, so it is never in doubt. */
async function callOther(
  caller: Caller,
  { step, tool, asked, beside }: Call<AgentTool | ServiceTool>,
  cause: Cause,
  changed: Json | undefined,
): Promise<ToolResultPart> {
  const { tree, node, setup } = caller;
  const startedAt = tree.clock.elapsed();
  const call = { step, tool, id: asked.id, input: changed ?? asked.input, cause };
  const waiting = () => callAgent(tree, node, call);
  const {
    payload,
    ended,
    gone = [],
    events = [],
  } = await (tool.kind === 'agent' || tool.kind === 'clarification'
    ? tree.slots.released(node.run, node.abort.signal, waiting)
    : waiting());
  if (node.abort.signal.aborted) tree.checkpoint(node);
  const said = changed === undefined ? payload.content : [changedText(changed), ...payload.content];
  const { content, attachment, wholeBytes } = bounded(said, resultBytes(setup.definition, beside, said), tree.redact);
  const durationMs = Math.round(tree.clock.elapsed() - startedAt);
  const cut = { ...payload, durationMs, content, ...present({ wholeBytes }) };
  const options = {
    step,
    tool: tool.name,
    actor: 'system' as const,
    cause: ended ?? cause,
    ...present({ attachment }),
  };
  const dismissed = gone.map(({ id, agent, run }) =>
    node.journal.event('agent.dismissed', { id, agent, run }, { actor: 'system' }),
  );
  tree.writer.enqueue([...dismissed, ...events, node.journal.event('tool.result', cut, options)]);
  return placed(caller.stepIndex, step, resultPart(cut));
}

/** A model that goes by what it asked for would be wrong about what was done. */
function told(outcome: ToolOutcome, edited: Json | undefined): ToolOutcome {
  if (edited === undefined) return outcome;
  const part = changedText(edited);
  if (outcome.kind === 'error') return { ...outcome, message: `${part.text}\n\n${outcome.message}` };
  return { ...outcome, content: [part, ...outcome.content] };
}

const changedText = (edited: Json): TextPart => ({
  type: 'text',
  text: `The user changed this call before it was made. It was made with: ${JSON.stringify(edited)}`,
});

/** Records that the call is about to be made; waits for the disk only when it could not be made twice. */
async function announce({ tree, node }: Caller, { step, turn, tool, asked }: Call, input: Json | undefined): Promise<Cause> {
  const cause = node.journal.latest('model.response');
  const payload = { turn, id: asked.id, name: tool.name, replay: tool.replay, ...present({ input }) };
  const event = node.journal.event('tool.call', payload, { step, tool: tool.name, ...present({ cause }) });
  if (tool.replay === 'never') await tree.writer.write([event], { sync: 'power' });
  else tree.writer.enqueue([event]);
  return event.mark;
}

/** Whether a call that may have happened is made again: only when the user, asked, says so. */
async function mayRepeat({ tree, node }: Caller, { step, tool, asked, place }: Call): Promise<boolean> {
  if (tree.whenInDoubt !== 'ask') return false;
  const question =
    `The process stopped while ${tool.name} was running:\n${requestText(asked, tree.redact).text}\n` +
    'It may or may not have been done. Do it again?';
  const payload = { question, choices: ['again', 'leave it'] };
  const answer = await waitForAnswer(tree, node, `${step}/doubt`, { kind: 'question', payload }, { place });
  return answer.kind === 'approved' || (answer.kind === 'text' && answer.text.trim() === 'again');
}

function inDoubt(caller: Caller, call: Call): ToolResultPart {
  const text =
    `The outcome of this call is not known: the process stopped while ${call.tool.name} was running, and it was not run again. ` +
    'Look at the current state before you decide what to do.';
  return finish(caller, call.step, {
    id: call.asked.id,
    name: call.tool.name,
    content: [{ type: 'text', text }],
    isError: true,
    inDoubt: true,
    durationMs: 0,
  });
}

async function notMade(caller: Caller, call: Call, why: string): Promise<ToolResultPart> {
  const { step, tool, asked } = call;
  await askAboutGone(caller.tree, caller.node, call, why);
  const text = goneText(tool.name, why);
  const told = { id: asked.id, name: tool.name, content: [{ type: 'text' as const, text }] };
  return finish(caller, step, { ...told, isError: true, gone: true, durationMs: 0 });
}

async function askUser(caller: Caller, call: Call): Promise<ToolResultPart> {
  const { question, choices } = questionIn(call.asked.input);
  const asks = { kind: 'question', payload: { question, ...present({ choices }) } } as const;
  const answer = await waitForAnswer(caller.tree, caller.node, call.step, asks, { place: call.place });
  return finish(caller, call.step, {
    id: call.asked.id,
    name: call.tool.name,
    content: [{ type: 'text', text: answerText(answer) }],
    durationMs: 0,
  });
}

function refuse(caller: Caller, step: string, asked: ToolCallPart, text: string): ToolResultPart {
  return finish(caller, step, {
    id: asked.id,
    name: asked.name,
    content: [{ type: 'text', text }],
    isError: true,
    durationMs: 0,
  });
}

/** It was not made, and nobody was asked: what the tool would have said, and what the caller knows from it. */
function refusedBefore(caller: Caller, { step, turn, asked }: Call, { message, saw }: ToolRefusal): ToolResultPart {
  if (saw !== undefined) caller.files.note(turn, saw);
  const content = [{ type: 'text' as const, text: caller.tree.redact(message) }];
  const known = present({ saw: saw && [...saw] });
  return finish(caller, step, { id: asked.id, name: asked.name, content, isError: true, durationMs: 0, ...known });
}

type ResultPayload = Extract<NewEvent, { type: 'tool.result' }>['payload'];

function finish({ tree, node, stepIndex }: Caller, step: string, payload: ResultPayload): ToolResultPart {
  tree.writer.enqueue([node.journal.event('tool.result', payload, { step, tool: payload.name, actor: 'system' })]);
  return placed(stepIndex, step, resultPart(payload));
}

/** Writes what the tool observed and what it answered, the whole in the ledger and a bounded part for the model. */
function record(
  caller: Caller,
  call: Call,
  cause: Cause,
  outcome: ToolOutcome,
  kept: readonly NewEvent[],
  durationMs: number,
): ToolResultPart {
  const { tree, node, setup } = caller;
  const given = outcome.kind === 'ok' ? outcome.content : [{ type: 'text' as const, text: outcome.message }];
  const whole = given.map((part) => (part.type === 'text' ? { ...part, text: tree.redact(part.text) } : part));
  const { content, attachment, wholeBytes } = bounded(whole, resultBytes(setup.definition, call.beside, whole), (text) => text);
  const saw = wholeBytes === undefined ? outcome.saw : outcome.saw?.map((file) => seenOfCut(file, content));
  const payload: ResultPayload = {
    id: call.asked.id,
    name: call.tool.name,
    content,
    durationMs,
    ...(outcome.kind === 'error' ? { isError: true } : {}),
    ...present({ wholeBytes, saw: saw && [...saw] }),
  };
  if (saw !== undefined) caller.files.note(call.turn, saw);
  const evidence = (outcome.evidence ?? []).map((item) =>
    node.journal.event(item.type, item.payload, {
      step: call.step,
      tool: call.tool.name,
      actor: 'system',
      cause,
      ...present({ attachment: item.attachment }),
    }),
  );
  const options = {
    step: call.step,
    tool: call.tool.name,
    actor: 'system' as const,
    cause,
    ...present({ attachment }),
  };
  // The files and the result together: nobody goes on with one and without the other.
  tree.writer.enqueue([...kept, ...evidence, node.journal.event('tool.result', payload, options)]);
  return placed(caller.stepIndex, call.step, resultPart(payload));
}

interface Bounded {
  readonly content: (TextPart | ImagePart)[];
  readonly attachment?: string;
  readonly wholeBytes?: number;
}

/** What has to be cut is redacted first: half of a secret would not be recognised. */
function bounded(parts: readonly (TextPart | ImagePart)[], maxBytes: number, redact: (text: string) => string): Bounded {
  const given = parts.flatMap((part) => (part.type === 'text' ? [part.text] : [])).join('\n');
  if (boundResult(given, maxBytes).wholeBytes === undefined) return { content: [...parts] };
  const text = redact(given);
  const cut = { wholeBytes: Buffer.byteLength(text), ...boundResult(text, maxBytes) };
  const images = parts.filter((part) => part.type === 'image');
  return { content: [{ type: 'text', text: cut.text }, ...images], attachment: text, wholeBytes: cut.wholeBytes };
}

function placed(stepIndex: StepIndex, step: string, part: ToolResultPart): ToolResultPart {
  stepIndex.place(part, step);
  return part;
}

function questionIn(input: Json): { readonly question: string; readonly choices?: string[] } {
  const given = input as { readonly question?: Json; readonly choices?: Json } | null;
  const question =
    typeof given?.question === 'string' && given.question.trim() !== ''
      ? given.question
      : 'The agent has a question but did not say which.';
  const choices = Array.isArray(given?.choices) ? given.choices.filter((choice) => typeof choice === 'string') : [];
  return choices.length === 0 ? { question } : { question, choices };
}
