/**
 * Calls that spawn or cancel an assistant. A spawned assistant is a child run that works beside its parent: the call is over
 * when the assistant has begun (`async`) or has ended (`sync`). A parent that is taken up again takes its assistants up too.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { isBareExecutor } from '../../agents/definition/to-definition.ts';
import type { Json } from '../../base/json.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Cause, NewEvent } from '../../ledger/port.ts';
import { cancelInput, type SpawnInput, spawnInput } from '../../tools/assistants/schemas.ts';
import { spawnAnswer } from '../../tools/assistants/spawn-answer.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { Interruption, joinAll } from '../interruption.ts';
import type { AgentAccess, LedgerAccess, TimeAndIds } from '../options.ts';
import { childOf, type DrivenRun } from '../record/driven-run.ts';
import type { Remembers } from '../record/remembers.ts';
import type { Writes } from '../record/writes.ts';
import type { ChildRun, HasChildren } from './child-run.ts';
import { mayBeSpawned, rightsOf, startProblem } from './client-rights.ts';
import { reportMessage } from './report-message.ts';
import type { Assistant, HasAssistants } from './spawned.ts';

interface AssistantCall {
  readonly step: string;
  readonly input: Json;
  readonly cause: Cause;
}

export interface AssistantAnswer {
  /** What the model is told: one text after the other. */
  readonly texts: readonly string[];
  readonly isError?: boolean;
  /** Written together with the result. */
  readonly events?: readonly NewEvent[];
  readonly ended?: Cause | undefined;
}

/** What ending an assistant takes. */
type EndsAssistants = TimeAndIds & Writes & HearsOutside & HasChildren & HasAssistants;
/** And spawning one. */
export type CallsAssistants = EndsAssistants & LedgerAccess & AgentAccess & Remembers & HearsRuns;

export async function spawnAssistant(tree: CallsAssistants, node: DrivenRun, call: AssistantCall): Promise<AssistantAnswer> {
  const input = spawnInput.safeParse(call.input);
  if (!input.success) return refused({ code: 'invalid', message: input.error.message });
  const allowed = await maySpawn(tree, node, call.step, input.data);
  if (!allowed.ok) return refused(allowed.error);
  const run = childOf(node, call.step);
  const child = await begin(tree, node, call, input.data, allowed.value);
  if (input.data.run_mode === 'async') return { texts: [answerText(run, 'starting')] };
  const result = await tree.slots.released(node.run, node.abort.signal, () => child.result);
  // What it reported is in this answer: it need not be told again.
  const { payload } = reportMessage(tree, node, run, input.data.assistant_id, result);
  tree.messages.heard(payload.message);
  const read = { message: payload.message, thread: payload.thread, reader: payload.to };
  return {
    texts: succeeded(result)
      ? [answerText(run, 'finished', { verification: result.verification }), payload.content]
      : [answerText(run, 'failed'), payload.content],
    events: [node.journal.event('message.read', read, { actor: 'system', aside: true })],
    ended: child.ended(),
  };
}

/** The call was answered in an earlier life: its assistant goes on, unless it has ended. */
export async function takeUpAssistant(
  tree: HasChildren & HasAssistants,
  node: DrivenRun,
  step: string,
  asked: Json,
): Promise<void> {
  const input = spawnInput.safeParse(asked);
  if (input.success) await begin(tree, node, { step, cause: node.journal.newest() }, input.data);
}

export async function cancelAssistant(tree: EndsAssistants, node: DrivenRun, call: AssistantCall): Promise<AssistantAnswer> {
  const input = cancelInput.safeParse(call.input);
  if (!input.success) return refused({ code: 'invalid', message: input.error.message });
  const { process_id, reason = 'cancelled by its parent' } = input.data;
  const assistant = tree.spawned.of(node.run).find(({ run }) => run === process_id);
  if (assistant === undefined)
    return refused({ code: 'unknown_process', message: `You have spawned no assistant with the process_id ${process_id}.` });
  await cancelAndWait(tree, node, assistant, reason).catch((error: unknown) => {
    // It waits for a person: it will end as soon as it is taken up again, and that is before its parent ends.
    if (!(error instanceof Interruption) || error.kind !== 'waiting') throw error;
  });
  return { texts: [JSON.stringify({ success: true })] };
}

/** Assistants that are still at work when their parent is done end with it. */
export async function endAssistants(tree: EndsAssistants, node: DrivenRun): Promise<void> {
  await joinAll(tree.spawned.of(node.run).map((assistant) => cancelAndWait(tree, node, assistant, 'its parent has ended')));
}

/** One that waits for a person is not being driven: the signal in the ledger ends it when the session is taken up again. */
async function cancelAndWait(
  tree: TimeAndIds & Writes & HearsOutside & HasChildren,
  node: DrivenRun,
  { run, child, status }: Assistant,
  reason: string,
): Promise<void> {
  if (status() !== 'running') return;
  child.cancel(reason);
  try {
    await child.result;
  } catch (error) {
    if (
      error instanceof Interruption &&
      error.kind === 'waiting' &&
      tree.elsewhere === undefined &&
      tree.outside.cancelled(run) === undefined
    ) {
      const payload = { signal: 'cancel', reason } as const;
      const cause = node.journal.newest();
      const at = tree.clock.now();
      const written = await tree.writer.write([{ type: 'run.signalled', run, actor: 'system', cause, payload, at }]);
      if (!('kind' in written)) for (const event of written) tree.outside.apply(event);
    }
    throw error;
  }
}

/** Nothing goes on behind the back of a run that cannot: its assistants come to their end, or to where they wait, first. */
export async function settleAssistants(tree: HasAssistants, node: DrivenRun): Promise<void> {
  await Promise.allSettled(tree.spawned.of(node.run).map(({ child }) => child.result));
}

async function begin(
  tree: HasChildren & HasAssistants,
  node: DrivenRun,
  { step, cause }: Omit<AssistantCall, 'input'>,
  { assistant_id, query }: SpawnInput,
  found?: AgentDefinition,
): Promise<ChildRun> {
  const known = tree.spawned.of(node.run).find(({ run }) => run === childOf(node, step));
  if (known !== undefined) return known.child;
  const child = await tree.child(node, {
    key: step,
    agent: assistant_id,
    found,
    input: userText(query),
    as: { kind: 'assistant', by: node.started.agent },
    cause,
  });
  tree.spawned.note(node.run, childOf(node, step), assistant_id, child);
  return child;
}

/** The agent that is to begin; `undefined` for one that has. */
async function maySpawn(
  tree: AgentAccess & Remembers & HasAssistants,
  node: DrivenRun,
  step: string,
  input: SpawnInput,
): Promise<Result<AgentDefinition | undefined, Failure>> {
  // One that had begun before a crash is not one more.
  if (tree.begun(childOf(node, step))) return ok(undefined);
  const rights = rightsOf(node);
  const agent = mayBeSpawned(rights, input.assistant_id) ? await tree.agent(input.assistant_id) : undefined;
  // A model says this name, and no file.
  if (agent === undefined || isBareExecutor(agent))
    return fail({
      code: 'unknown_assistant',
      message: `There is no assistant with the id ${JSON.stringify(input.assistant_id)}.`,
      fix: 'Find one with search_assistant or list_assistant.',
    });
  const problem = tree.spawned.refusal(node) ?? (await startProblem(tree, agent, rights));
  return problem === undefined ? ok(agent) : fail(problem);
}

const answerText = (...answer: Parameters<typeof spawnAnswer>): string => JSON.stringify(spawnAnswer(...answer));

const refused = ({ message, fix }: Failure): AssistantAnswer => ({
  texts: [fix === undefined ? message : `${message} ${fix}`],
  isError: true,
});
