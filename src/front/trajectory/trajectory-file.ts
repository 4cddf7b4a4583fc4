/**
 * A run or a session as one document of ATIF, written as it is read: of each run the steps, of the whole only the outline is
 * held. What is in it comes from the ledger as everybody reads it, so secrets are redacted.
 */
import { eventId, type RunId, type SessionId } from '../../base/ids.ts';
import type { JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { programNames } from '../../events/going-on.ts';
import { readPages } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { addSpending, type CallCosts, noSpending, spendingIn } from '../../projections/costs.ts';
import { messageText } from '../../projections/message-text.ts';
import { broadcastText, isBroadcast } from '../../projections/patterns/broadcast-text.ts';
import { inUsd, spokenIn, toolDefinitions } from './content.ts';
import { type Outline, type OutlineNode, type OutlineRun, readOutline } from './outline.ts';
import { ATIF_VERSION, type AtifAgent, type AtifStep, type TrajectoryRef } from './shapes.ts';
import { type BegunBelow, type HeardThere, stepTypes, TrajectorySteps } from './steps.ts';

export interface TrajectoryWanted {
  readonly session: SessionId;
  /** Only this run and those below it. */
  readonly run?: RunId | undefined;
  /** Ours, for whoever wants to know what wrote it. */
  readonly version: string;
}

type Reading = Pick<Ledger, 'read'>;

interface Writing {
  readonly ledger: Reading;
  readonly outline: Outline;
  readonly version: string;
}

/** One JSON text, in parts, none much larger than a page of the ledger; a step stands on a line of its own. */
export async function* trajectoryFile(ledger: Reading, wanted: TrajectoryWanted): AsyncGenerator<string, void> {
  const outline = await readOutline(ledger, wanted.session, wanted.run);
  const writing = { ledger, outline, version: wanted.version };
  const [only, ...others] = outline.nodes;
  if (only !== undefined && others.length === 0) yield* trajectory(writing, only);
  else yield* wholeSession(writing);
  yield '\n';
}

/** Fields of an object whose end is still to come. */
const opened = (fields: object): string => JSON.stringify(fields).slice(0, -1);

/** What was spent in it and below it. */
async function* trajectory(writing: Writing, node: OutlineNode): AsyncGenerator<string, CallCosts> {
  const { outline } = writing;
  const [{ run, agent }] = node.runs;
  const setup = await firstOf(writing, run, 'session.config');
  const head = { schema_version: ATIF_VERSION, session_id: outline.session, trajectory_id: run };
  yield `${opened({ ...head, agent: await agentOf(writing, agent, run, setup?.payload) })},"steps":[`;
  const steps = new TrajectorySteps(outline);
  let spent = noSpending();
  let isFirst = true;
  const lines = (told: readonly AtifStep[]): string => {
    const text = told.map((step, index) => `${isFirst && index === 0 ? '' : ','}\n${JSON.stringify(step)}`).join('');
    isFirst &&= told.length === 0;
    return text;
  };
  // The prompt comes first, though it is written behind what the run was asked.
  if (setup !== undefined) yield lines(steps.apply(setup, NOTHING_HEARD));
  const spend = (more: CallCosts): void => {
    spent = addSpending(spent, more);
  };
  for await (const told of stepsOf(writing, node, steps, spend)) yield lines(told);
  yield '\n]';
  const below = yield* trajectoriesBelow(writing, node.below);
  const all = addSpending(spent, below);
  const metrics = finalMetrics(steps.count, spent, node.below.length === 0 ? undefined : all);
  yield `,"final_metrics":${JSON.stringify(metrics)},"extra":${JSON.stringify(factsOf(outline, node))}}`;
  return all;
}

const NOTHING_HEARD: ReadonlyMap<string, HeardThere> = new Map();

async function* trajectoriesBelow(writing: Writing, nodes: readonly OutlineNode[]): AsyncGenerator<string, CallCosts> {
  let spent = noSpending();
  if (nodes.length === 0) return spent;
  yield ',"subagent_trajectories":[\n';
  for (const [index, node] of nodes.entries()) {
    if (index > 0) yield ',\n';
    spent = addSpending(spent, yield* trajectory(writing, node));
  }
  yield '\n]';
  return spent;
}

/** Page by page the steps of its runs, with those that begin below them at their places. */
async function* stepsOf(
  { ledger, outline }: Writing,
  node: OutlineNode,
  steps: TrajectorySteps,
  spend: (spent: CallCosts) => void,
): AsyncGenerator<readonly AtifStep[], void> {
  const begins = node.below.flatMap((below) => below.runs.map((run) => begunOf(outline, below, run)));
  begins.sort((left, right) => right.position - left.position);
  const until = (position: number): readonly AtifStep[] => {
    const told: AtifStep[] = [];
    for (let next = begins.at(-1); next !== undefined && next.position < position; next = begins.at(-1)) {
      begins.pop();
      told.push(...steps.began(next));
    }
    return told;
  };
  for (const { run } of node.runs)
    for await (const page of readPages(ledger, { session: outline.session, run, types: stepTypes })) {
      const told: AtifStep[] = [];
      for (const event of page) {
        const spent = spendingIn(event);
        if (spent !== undefined) spend(spent);
        told.push(...until(event.position), ...steps.apply(event, await heardIn(ledger, outline, event)));
      }
      yield told;
    }
  yield [...until(Number.POSITIVE_INFINITY), ...steps.end()];
}

function begunOf({ session }: Outline, node: OutlineNode, run: OutlineRun): BegunBelow {
  const { position, timestamp, cause, role, agent } = run;
  return {
    ...{ event_id: eventId(session, position), position, timestamp, cause, ref: refTo(session, node, run) },
    text: `${agent} begins${role === undefined ? '' : ` as ${role}`}.`,
  };
}

const refTo = (session: SessionId, { runs: [first] }: OutlineNode, { run, agent, role, end }: OutlineRun): TrajectoryRef => ({
  ...{ trajectory_id: first.run, session_id: session },
  extra: { run, agent, ...present({ role, status: end?.status, verification: end?.verification.state }) },
});

/** What others said, as the reader of the request saw it. */
async function heardIn(
  ledger: Reading,
  { session, said }: Outline,
  event: LedgerEvent,
): Promise<ReadonlyMap<string, HeardThere>> {
  if (event.event_type !== 'model.request') return NOTHING_HEARD;
  const heard = new Map<string, HeardThere>();
  for (const item of event.payload.added) {
    if ('message' in item || item.run === undefined) continue;
    const key = `${item.run} ${item.step}`;
    const position = said.get(key);
    if (position === undefined) continue;
    const [words] = await ledger.read({ session, after: position - 1, limit: 1 });
    if (words === undefined) continue;
    if (isBroadcast(words)) heard.set(key, { text: broadcastText(words.payload, event.run_id), byPerson: false });
    else if (words.event_type === 'message.sent') {
      const byPerson = words.payload.person !== undefined;
      heard.set(key, { text: messageText(words.payload, words.timestamp), byPerson });
    }
  }
  return heard;
}

async function firstOf<Type extends 'session.config' | 'model.response' | 'run.started'>(
  { ledger, outline }: Writing,
  run: RunId,
  type: Type,
): Promise<EventOf<Type> | undefined> {
  const [event] = await ledger.read({ session: outline.session, run, types: [type], limit: 1 });
  return event as EventOf<Type> | undefined;
}

async function agentOf(
  writing: Writing,
  name: string,
  run: RunId,
  setup: Payloads['session.config'] | undefined,
): Promise<AtifAgent> {
  const { imported } = writing.outline.started ?? {};
  const answer = await firstOf(writing, run, 'model.response');
  const tools = setup === undefined ? [] : toolDefinitions(setup);
  return {
    ...{ name, version: imported === undefined ? writing.version : (imported.version ?? 'unknown') },
    ...present({ model_name: answer?.payload.served, tool_definitions: tools.length === 0 ? undefined : tools }),
  };
}

/** Sums of what is counted; what nobody has counted, or has no price, is said beside it. */
function finalMetrics(steps: number, spent: CallCosts, all: CallCosts | undefined): JsonObject {
  const { calls, inputTokens, outputTokens, cacheReadTokens, nanoUsd, unknownCalls, uncountedCalls } = spent;
  const isKnown = (of: CallCosts): boolean => of.unknownCalls < of.calls || of.calls === 0;
  return {
    ...{ total_prompt_tokens: inputTokens, total_completion_tokens: outputTokens, total_cached_tokens: cacheReadTokens },
    ...present({ total_cost_usd: isKnown(spent) ? inUsd(nanoUsd) : undefined, total_steps: steps }),
    extra: {
      model_calls: calls,
      ...present({ calls_without_price: unknownCalls === 0 ? undefined : unknownCalls }),
      ...present({ calls_not_counted: uncountedCalls === 0 ? undefined : uncountedCalls }),
      ...present({ with_subagents: all && totals(all) }),
    },
  };
}

const totals = (all: CallCosts): JsonObject => ({
  ...{ model_calls: all.calls, total_prompt_tokens: all.inputTokens, total_completion_tokens: all.outputTokens },
  ...{ total_cost_usd: inUsd(all.nanoUsd), calls_without_price: all.unknownCalls },
});

/** Of the runs of a trajectory how they stand, and of where the session comes from. */
function factsOf({ started }: Outline, { runs }: OutlineNode): JsonObject {
  const { forked, imported } = started ?? {};
  const [{ role, continues }] = runs;
  return {
    runs: runs.map(({ run, end }) => ({
      run,
      ...present({ status: end?.status, verification: end?.verification.state, error: end?.error?.code }),
    })),
    ...present({ role, continues }),
    ...present({ forked_from: forked === undefined ? undefined : { ...forked } }),
    ...present({ transcript_of: imported === undefined ? undefined : programNames[imported.program] }),
  };
}

/** Several conversations in one session: each is a trajectory of its own, below one that only says when each was asked for. */
async function* wholeSession(writing: Writing): AsyncGenerator<string, void> {
  const { outline, version } = writing;
  const { session, nodes } = outline;
  const agent = { name: 'troupe', version };
  yield `${opened({ schema_version: ATIF_VERSION, session_id: session, trajectory_id: session, agent })},"steps":[`;
  const begun = nodes.flatMap((node) => node.runs.map((run) => ({ node, run })));
  begun.sort((left, right) => left.run.position - right.run.position);
  let count = 0;
  for (const { node, run } of begun) {
    const { position, timestamp, agent: name } = run;
    const asked = await firstOf(writing, run.run, 'run.started');
    const placed = {
      timestamp,
      ...present({ is_copied_context: position <= outline.copiedTo ? (true as const) : undefined }),
      extra: { event: eventId(session, position) },
    };
    const results = [{ subagent_trajectory_ref: [refTo(session, node, run)] }];
    const steps: readonly AtifStep[] = [
      { step_id: count + 1, source: 'user', message: asked === undefined ? '' : spokenIn(asked.payload.input), ...placed },
      { step_id: count + 2, source: 'agent', message: `${name} begins.`, llm_call_count: 0, observation: { results }, ...placed },
    ];
    yield `${count === 0 ? '' : ','}${steps.map((step) => `\n${JSON.stringify(step)}`).join(',')}`;
    count += steps.length;
  }
  yield '\n]';
  const spent = yield* trajectoriesBelow(writing, nodes);
  yield `,"final_metrics":${JSON.stringify(finalMetrics(count, noSpending(), spent))}}`;
}
