/**
 * Peers that get their tasks done whatever happens on the way: whoever had no answer does the same again, under the same ids.
 * What they see of a task is held against what may follow on what.
 */
import { type StreamResponse, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { expect } from 'vitest';
import { messageOf } from '../../../src/base/errors.ts';
import type { Random } from '../../../src/base/random.ts';
import { isTerminalTask, mayFollow, type TaskState as StateWord } from '../../../src/projections/tasks/task-states.ts';
import { foldTasks, initialTasks } from '../../../src/projections/tasks/tasks.ts';
import { only, rootsIn, sessionOf, withLedger } from '../assistants/ledger.ts';
import type { ModelServer } from '../models/model-server.ts';
import type { Reply, SeenRequest } from '../models/script.ts';
import { answerOf, request, said, taskIn } from './peer.ts';

export const JOBS_AGENT = '---\nname: helper\ndescription: Helps\ntools: [ask]\nisolation: inline\na2a: true\n---\nYou help.\n';

const kinds = ['plain', 'ask', 'cancel'] as const;
export type JobKind = (typeof kinds)[number];

/** One task that a peer wants done. The ids of its messages are what it never forgets. */
export interface Job {
  readonly kind: JobKind;
  readonly words: string;
  readonly messageId: string;
  readonly answerId: string;
  /** What the peer knows of it. */
  known: { readonly id: string; readonly state: StateWord } | undefined;
  /** What was ever seen of it, in order, for the test. */
  readonly seen: StateWord[];
  id: string | undefined;
}

/** How a peer reaches the server, and who counts what it hears. */
export interface Reach {
  readonly client: Client;
  readonly signal: AbortSignal;
  heard(): void;
}

export const pick = <Value>(random: Random, among: readonly Value[]): Value => {
  const one = among[Math.floor(random.fraction() * among.length)];
  if (one === undefined) throw new Error('nothing to choose from');
  return one;
};

export function newJob(index: number): Job {
  const kind = kinds[index % kinds.length] ?? 'plain';
  const words = `${kind} ${index}.`;
  return { kind, words, messageId: `job-${index}`, answerId: `job-${index}-answer`, known: undefined, seen: [], id: undefined };
}

/** The model of such jobs. It answers in pieces, so that there is something between the beginning and the end. */
export function playJobs({ toolResults, body }: SeenRequest): Reply {
  const text = JSON.stringify(body);
  const [, kind, index] = /(plain|ask|cancel) (\d+)\./.exec(text) ?? [];
  if (kind === 'cancel') return { fault: 'hang' };
  if (kind === 'ask' && toolResults === 0) return { calls: [{ name: 'ask', input: { question: `Which one, ${index}?` } }] };
  return { text: `${text.includes('The second.') ? 'Took the second' : 'Done'}, ${kind} ${index}.`, chunkBytes: 200 };
}

const ends: Readonly<Record<JobKind, StateWord>> = { plain: 'completed', ask: 'completed', cancel: 'canceled' };
export const isDone = ({ known }: Job): boolean => known !== undefined && isTerminalTask(known.state);

const stateWords: Partial<Record<TaskState, StateWord>> = {
  [TaskState.TASK_STATE_SUBMITTED]: 'submitted',
  [TaskState.TASK_STATE_WORKING]: 'working',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'input-required',
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_CANCELED]: 'canceled',
  [TaskState.TASK_STATE_FAILED]: 'failed',
};

function note(job: Job, id: string, state: TaskState | undefined): void {
  const word = state === undefined ? undefined : stateWords[state];
  if (word === undefined) throw new Error(`${job.words} is in no state of ours: ${state}`);
  expect(job.id ?? id, `${job.words} is one task`).toBe(id);
  const before = job.seen.at(-1);
  if (before !== undefined && !mayFollow(before, word)) throw new Error(`${job.words} went from ${before} to ${word}`);
  if (before !== word) job.seen.push(word);
  job.id = id;
  job.known = { id, state: word };
}

async function follow(job: Job, { heard }: Reach, stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<void> {
  for await (const { payload } of stream) {
    if (payload?.$case === 'task') note(job, payload.value.id, payload.value.status?.state);
    if (payload?.$case === 'statusUpdate') note(job, payload.value.taskId, payload.value.status?.state);
    heard();
    // Whoever subscribes at a question is told when somebody has answered it: that is what the peer does next.
    if (job.known?.state === 'input-required') return;
  }
}

/** The next thing that the peer does for its job, given what it knows. */
export async function advance(job: Job, reach: Reach, random: Random): Promise<void> {
  const { client, signal, heard } = reach;
  const options = { signal };
  const { known, kind } = job;
  const read = async (): Promise<void> => {
    const task = await client.getTask({ tenant: '', id: known?.id ?? '' }, options);
    note(job, task.id, task.status?.state);
    heard();
  };
  /** Somebody may have been quicker, in the end ourselves before the last kill. */
  const unlessEnded = async (work: Promise<void>): Promise<void> => {
    try {
      await work;
    } catch (error) {
      if (!/has ended|ended before/.test(messageOf(error))) throw error;
      await read();
    }
  };
  const send = async (message: ReturnType<typeof said>): Promise<void> => {
    const how = pick(random, kind === 'cancel' ? (['leave'] as const) : (['stream', 'wait', 'leave'] as const));
    if (how === 'stream') return await follow(job, reach, client.sendMessageStream(request(message), options));
    const task = taskIn(await client.sendMessage(request(message, { returnImmediately: how === 'leave' }), options));
    note(job, task.id, task.status?.state);
    heard();
  };
  if (known === undefined) return await send(said(job.words, { messageId: job.messageId }));
  if (known.state === 'input-required') return await send(said('The second.', { messageId: job.answerId, taskId: known.id }));
  if (kind === 'cancel') {
    const cancelled = async (): Promise<void> => {
      const task = await client.cancelTask({ tenant: '', id: known.id, metadata: undefined }, options);
      note(job, task.id, task.status?.state);
      heard();
    };
    return await unlessEnded(cancelled());
  }
  if (pick(random, [true, false])) return await read();
  await unlessEnded(follow(job, reach, client.resubscribeTask({ tenant: '', id: known.id }, options)));
}

/** Every job is one task, ended as it should, read alike from the server and from the ledger, where no transition was illegal. */
export async function checkJobs(jobs: readonly Job[], client: Client, folder: string): Promise<void> {
  expect((await rootsIn(folder)).toSorted()).toEqual(jobs.map(({ id }) => id).toSorted());
  expect(await withLedger(folder, (ledger) => ledger.verify())).toMatchObject({ kind: 'sound' });
  for (const { id = '', kind, words } of jobs) {
    const task = await client.getTask({ tenant: '', id });
    expect(task.status?.state === undefined ? undefined : stateWords[task.status.state], words).toBe(ends[kind]);
    if (kind === 'plain') expect(answerOf(task)).toBe(`Done, ${words}`);
    if (kind === 'ask') expect(answerOf(task)).toBe(`Took the second, ${words}`);
    const fold = initialTasks();
    let before: StateWord | undefined;
    const events = await sessionOf(folder, id);
    for (const event of events) {
      foldTasks(fold, event);
      const state = fold.tasks.get(id)?.state;
      if (before !== undefined && state !== undefined) expect(mayFollow(before, state), `${before} to ${state}`).toBe(true);
      before = state ?? before;
    }
    expect([...fold.tasks.keys()], words).toEqual([id]);
    expect(before, words).toBe(ends[kind]);
    expect(only(events, 'run.ended').length, words).toBe(1);
    expect(only(events, 'approval.answered').length, words).toBe(kind === 'ask' ? 1 : 0);
  }
}

/** Which model calls had a recorded answer at some moment, and how many had been made until then. */
export interface Moment {
  readonly answered: ReadonlySet<string>;
  readonly made: number;
}

export async function momentOf(jobs: readonly Job[], model: ModelServer, folder: string): Promise<Moment> {
  const made = model.requests.length;
  const sessions = await Promise.all(jobs.flatMap(({ id }) => (id === undefined ? [] : [sessionOf(folder, id)])));
  const answers = only(sessions.flat(), 'model.response').map(({ run_id, step }) => `${run_id}/${step}`);
  return { answered: new Set(answers), made };
}

/** Model calls that were made although their answer was in the ledger. */
export const askedAgain = (moments: readonly Moment[], model: ModelServer): readonly string[] =>
  moments.flatMap(({ answered, made }) =>
    model.requests
      .slice(made)
      .map(({ headers }) => String(headers['idempotency-key']))
      .filter((call) => answered.has(call)),
  );
