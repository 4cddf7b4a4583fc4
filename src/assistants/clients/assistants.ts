/**
 * Assistants as a client outside of Troupe has them: found in the registry, spawned as runs of their own, watched and written to
 * through the ledger. A run that was left behind by a process that died is taken up again when its client asks for it, or before.
 */

import { isDeepStrictEqual } from 'node:util';
import type { Registry } from '../../agents/registry/registry.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids, RunId } from '../../base/ids.ts';
import { runIdFrom } from '../../base/ids.ts';
import { oneAtATime } from '../../base/one-at-a-time.ts';
import { present } from '../../base/present.ts';
import { fail, ok } from '../../base/result.ts';
import type { AssistantLimits } from '../../engine/options.ts';
import type { Engine, ResumeOutcome, RunEnd, RunHandle } from '../../engine/port.ts';
import { noAgent } from '../../engine/run/prepare.ts';
import { assistantLimits, type Counted, spawnRefusal } from '../../engine/spawning/bounds.ts';
import { mayBeSpawned } from '../../engine/spawning/client-rights.ts';
import type { Failure } from '../../events/catalogue.ts';
import { userText } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { SpawnInput, SpawnOutput } from '../../tools/assistants/schemas.ts';
import { spawnAnswer } from '../../tools/assistants/spawn-answer.ts';
import type { AssistantCallOptions, Assistants, Caller, Client, Outcome } from '../port.ts';
import { createMessageService } from '../threads/message-service.ts';
import { answerFailure, answeringAs, chosenAnswer, mayAnswer, nothingOpen } from './answers.ts';
import { createFinding, spawnedRoot } from './findable-agents.ts';

export interface AssistantNeeds {
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  readonly workspace: string;
  /** How many assistants one client may have, among others. */
  readonly limits?: Partial<AssistantLimits> | undefined;
  /** Takes secrets out of what an assistant answered: a client sees what the ledger keeps, not more. */
  redact(text: string): string;
  /** Opened with the first question about agents. */
  registry(): Promise<Registry>;
}

export interface ProjectAssistants extends Assistants {
  /** Goes on with a root run that nobody drives any more. What a client has spawned counts among its own. */
  goOn(run: RunId, by: string | undefined): Promise<ResumeOutcome>;
}

const PROGRESS_MS = 1_000;

export function createAssistants(needs: AssistantNeeds): ProjectAssistants {
  const { engine, ledger } = needs;
  const theirs = createClientRuns(needs);
  const inTurn = oneAtATime();
  const resume = async (run: RunId): Promise<void> => {
    const [row] = await ledger.runs({ run });
    // One that waits for a person has nothing to go on with.
    if (row?.state === 'running' && row.owner === null) await engine.resume(run);
  };
  const messages = createMessageService({ ...needs, onIdle: (run) => void resume(run).catch(() => undefined) });
  const reachable = (caller: Caller, process_id: string, options: AssistantCallOptions) =>
    messages.poll(caller, { process_id, include_summary: false, wait_ms: 0 }, options);

  /** The owner answers as if it were the client that spawned the run. */
  const answering = async (caller: Caller, process: string): Promise<Caller> => {
    if (caller.kind !== 'client' || caller.answersForAll !== true) return caller;
    const spawned = await spawnedRoot(ledger, process as RunId);
    return spawned === undefined ? caller : { kind: 'client', name: spawned.by };
  };

  /** One after the other for each client: what has been started counts before the next is looked at. */
  const begin = async (caller: Client, input: SpawnInput, { idempotencyKey: key }: AssistantCallOptions): Outcome<RunHandle> => {
    const run = key === undefined ? undefined : runIdFrom(JSON.stringify([caller.name, key]));
    const before = run === undefined ? undefined : (await ledger.runs({ run }))[0];
    if (before !== undefined && !(await isTask(ledger, before, input))) return fail(keyReused(before.run));
    const one = { kind: 'client', own: before === undefined ? await theirs.of(caller.name) : [] } as const;
    const refused = spawnRefusal(assistantLimits({ assistants: needs.limits }), one);
    if (refused !== undefined) return fail(refused);
    const started = await engine.start({
      agent: input.assistant_id,
      input: userText(input.query),
      workspace: caller.workspace ?? needs.workspace,
      origin: { kind: 'client', by: caller.name, ...present({ rights: caller.rights }) },
      run,
    });
    if (started.kind === 'refused') return fail(forClient(started.error));
    const { handle } = started;
    theirs.note(handle.run, caller.name);
    return ok(handle);
  };

  return {
    ...messages,
    ...createFinding(needs),
    async spawn(caller, input, options) {
      if (caller.kind !== 'client') return fail({ code: 'bug', message: 'A run spawns through its engine.' });
      if (input.assistant_id === caller.name) return fail(ownName(caller.name));
      if (!mayBeSpawned(caller.rights, input.assistant_id)) return fail(forClient(noAgent(input.assistant_id)));
      const started = await inTurn(caller.name, () => begin(caller, input, options));
      if (!started.ok) return started;
      const handle = started.value;
      return input.run_mode === 'async' ? ok(spawnAnswer(handle.run, 'starting')) : await ended(needs, handle, caller, options);
    },
    async cancel(caller, { process_id, reason = 'cancelled by its client' }, options) {
      const process = await reachable(caller, process_id, options);
      if (!process.ok) return process;
      const outcome = await engine.cancel(process_id as RunId, reason);
      if (outcome.kind === 'accepted') return ok({ success: true });
      return fail({ code: 'ended', message: `${process_id} has ended already.`, fix: 'Nothing is left to cancel.' });
    },
    async answer(caller, input, options) {
      const process = await reachable(await answering(caller, input.process_id), input.process_id, options);
      if (!process.ok) return process;
      const given = chosenAnswer(await engine.waits(input.process_id as RunId), caller, input);
      if (!given.ok) return fail(await nothingOpen(ledger, input, given.error));
      const { wait, answer } = given.value;
      const outcome = await engine.answer(wait.run, wait.wait, answer, answeringAs(caller, input, wait));
      const failure = answerFailure(outcome, wait, input.process_id);
      if (failure !== undefined) return fail(failure);
      await engine.resume(input.process_id as RunId);
      return ok({ success: true });
    },
    async goOn(run, by) {
      if (by !== undefined) theirs.note(run, by);
      return await engine.resume(run);
    },
  };
}

/** Whether a run was given this task. What cannot be read exactly any more is taken for the same. */
async function isTask(ledger: Ledger, { session, run }: RunRow, { assistant_id, query }: SpawnInput): Promise<boolean> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1, exact: true });
  if (started?.event_type !== 'run.started' || started.inexact !== undefined) return true;
  const { agent, input } = started.payload;
  return agent === assistant_id && isDeepStrictEqual(input, userText(query));
}

const keyReused = (run: RunId): Failure => ({
  code: 'key_reused',
  message: `The idempotency key of this call was used before, for another task (${run}).`,
  fix: 'Give every new task a key of its own; the same key is for a call that is repeated as it was.',
});

/** What each client has spawned and what has not ended yet, as far as is known. */
function createClientRuns({ ledger, engine }: Pick<AssistantNeeds, 'ledger' | 'engine'>) {
  const spawnedBy = new Map<RunId, string>();
  return {
    note: (run: RunId, client: string): void => void spawnedBy.set(run, client),
    async of(client: string): Promise<readonly Counted[]> {
      const mine = [...spawnedBy].flatMap(([run, name]) => (name === client ? [run] : []));
      // Whoever drove it to its end, after however many waits, and in whichever process: the ledger knows.
      return await Promise.all(
        mine.map(async (run): Promise<Counted> => {
          const [row] = await ledger.runs({ run });
          const hasEnded = row?.endedAt !== null;
          if (hasEnded) spawnedBy.delete(run);
          const waits = !hasEnded && (await standsStill(engine, row));
          return { atWork: !hasEnded && !waits, waits };
        }),
      );
    },
  };
}

/** Nobody drives it, and that is as it should be: it was paused, or somebody has to answer first. */
async function standsStill(engine: Engine, { run, owner, state }: RunRow): Promise<boolean> {
  if (owner !== null) return false;
  return state !== 'running' || (await engine.waits(run)).length > 0;
}

/** Waits for the end. Whoever stops waiting does not stop the assistant. */
async function ended(
  needs: AssistantNeeds,
  handle: RunHandle,
  caller: Caller,
  options: AssistantCallOptions,
): Outcome<SpawnOutput> {
  const { clock, redact } = needs;
  const stopped = Promise.withResolvers<'stopped'>();
  const onAbort = (): void => stopped.resolve('stopped');
  options.signal.addEventListener('abort', onAbort, { once: true });
  if (options.signal.aborted) onAbort();
  let seconds = 0;
  let cancelTick = (): void => undefined;
  const tick = (): void => {
    cancelTick = clock.after(PROGRESS_MS, () => {
      seconds += 1;
      options.onProgress?.({ done: seconds, message: `working for ${seconds} s` });
      tick();
    });
  };
  tick();
  try {
    const end = await Promise.race([handle.done, stopped.promise]);
    // It goes on: whoever called off the call can cancel the process by its id.
    if (end === 'stopped') return ok(spawnAnswer(handle.run, 'running'));
    return outcomeOf(handle, caller, end, redact);
  } finally {
    cancelTick();
    options.signal.removeEventListener('abort', onAbort);
  }
}

async function outcomeOf(handle: RunHandle, caller: Caller, end: RunEnd, redact: AssistantNeeds['redact']): Outcome<SpawnOutput> {
  if (end.kind === 'ended') {
    const { status, report, verification } = end.result;
    const finished = succeeded({ status });
    const answer = redact(reportText(report));
    return ok(spawnAnswer(handle.run, finished ? 'finished' : 'failed', finished ? { answer, verification } : { answer }));
  }
  if (end.kind === 'waiting') {
    const how = end.waits.some((wait) => mayAnswer(caller, wait))
      ? 'It waits for an answer: read its question with recv_message, then use answer_assistant.'
      : 'It waits for the owner of the project, who alone can answer what it asks; poll_assistant tells when it has ended.';
    return ok(spawnAnswer(handle.run, 'running', { answer: how }));
  }
  const why = end.kind === 'lost' ? 'another process drives it now' : end.reason;
  return ok(spawnAnswer(handle.run, 'running', { answer: `It was interrupted (${why}) and can be polled.` }));
}

/**
 * What to do, said to somebody who has only these tools. Another id is in the client's hands; whatever else keeps an agent from
 * starting (its file, a key, a setting) is in those of whoever runs the server.
 */
function forClient({ code, message, fix }: Failure): Failure {
  if (code === 'no_agent') return { code, message, fix: 'Use an id from list_assistant or search_assistant.' };
  return { code, message, ...(fix === undefined ? {} : { fix: `For whoever runs the server: ${fix}` }) };
}

/** In a thread both would be called the same, and nobody could tell whose words are whose. */
const ownName = (name: string): Failure => ({
  code: 'own_name',
  message: `Not spawned: the assistant has your own name, ${name}.`,
  fix: 'For whoever runs the server: give the agent or the caller another name.',
});
