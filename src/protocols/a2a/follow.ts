/**
 * A task as it goes on: first as it stands, then every change, read from the ledger. Whoever follows keeps a position and nothing
 * else, so that any number can, in any process, from any moment on. The words of the answering agent are shown as they come; they
 * are not in the ledger, and the whole answer takes their place in the end.
 */
import { type Artifact, type StreamResponse, TaskState } from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import type { LivePiece } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { foldTasks, type RootTask, type Tasks } from '../../projections/tasks/tasks.ts';
import { artifactsOut } from './artifacts-out.ts';
import type { FoundTask } from './found-tasks.ts';
import type { A2aNeeds, Scope } from './needs.ts';
import { foldedTasks } from './task-folds.ts';
import { ANSWER, emptyArtifact, isOver, stateOut, statusOut, taskOut, wordsPart } from './task-out.ts';

export interface Following {
  readonly found: FoundTask;
  readonly scope: Scope;
  readonly signal: AbortSignal;
  /** Also the words as they come, while this process works on the task. */
  readonly words?: boolean | undefined;
  readonly historyLength?: number | undefined;
  /** Whoever sent a message ends with the question that stands already: there is nothing more before it is answered. */
  readonly sent?: boolean | undefined;
  /** What was said while the task began: a model speaks piece by piece only if somebody listened before it was asked. */
  readonly early?: EarlyWords | undefined;
}

export interface EarlyWords extends Disposable {
  /** Listens no more, and tells what it has heard. */
  take(): readonly LivePiece[];
}

/** Listens before it is known whom to listen to. */
export function listenEarly({ engine }: Pick<A2aNeeds, 'engine'>): EarlyWords {
  const pieces: LivePiece[] = [];
  const stop = engine.watch((piece) => {
    if (pieces.length < limits.a2aEarlyPieces) pieces.push(piece);
  });
  return {
    take() {
      stop();
      return pieces.splice(0);
    },
    [Symbol.dispose]: stop,
  };
}

type Update = StreamResponse;

/** Ends with the task, and when it needs something from whoever follows. */
export async function* followTask(needs: A2aNeeds, following: Following): AsyncGenerator<Update, void, undefined> {
  const { found, scope, sent } = following;
  const tasks = await foldedTasks(needs, found.session);
  const first = tasks.tasks.get(found.id);
  if (first === undefined) return;
  yield await taskUpdate(needs, following, first);
  let before = stateOut(first, scope);
  if (isOver(before) || (sent === true && before === TaskState.TASK_STATE_INPUT_REQUIRED)) return;
  for await (const { update, task } of updatesOf(needs, following, tasks)) {
    yield update;
    const state = task === undefined ? before : stateOut(task, scope);
    if (state === TaskState.TASK_STATE_INPUT_REQUIRED && state !== before) return;
    before = state;
  }
}

/** The task as it stands. */
export async function taskUpdate(needs: A2aNeeds, { found, scope, historyLength }: Following, task: RootTask): Promise<Update> {
  const artifacts = await artifactsOut(needs, task, found);
  return { payload: { $case: 'task', value: taskOut(task, found, scope, { historyLength, artifacts }) } };
}

/** One thing to tell. Words on the way are of no task and of no position: they are not in the ledger. */
export interface TaskNews {
  readonly update: Update;
  readonly task?: RootTask;
  /** Set with the last update of an event: everything up to here was told. */
  readonly position?: number;
}

/** Every change after what was folded, until the task is over. */
export async function* updatesOf(needs: A2aNeeds, following: Following, tasks: Tasks): AsyncGenerator<TaskNews, void, undefined> {
  const { found, scope } = following;
  using words = liveWords(needs, following, tasks);
  let before = tasks.tasks.get(found.id);
  for await (const one of newsOf(needs, following, tasks.position, words)) {
    if (one === 'words') {
      const piece = words.take();
      if (piece !== undefined) yield { update: artifactUpdate(found, piece.artifact, piece.append, false) };
      continue;
    }
    foldTasks(tasks, one);
    const task = tasks.tasks.get(found.id);
    if (task === undefined || !isNews(before, task)) continue;
    before = task;
    const updates: Update[] = [];
    for await (const update of changes(needs, following, task)) updates.push(update);
    const last = updates.pop();
    for (const update of updates) yield { update };
    if (last !== undefined) yield { update: last, task, position: one.position };
    if (isOver(stateOut(task, scope))) return;
  }
}

const isNews = (before: RootTask | undefined, now: RootTask): boolean =>
  now.state !== before?.state || now.message?.content !== before.message?.content || now.waits !== before.waits;

async function* changes(needs: A2aNeeds, { found, scope }: Following, now: RootTask): AsyncGenerator<Update, void, undefined> {
  const { id: taskId, context: contextId } = found;
  for (const artifact of await artifactsOut(needs, now, found)) yield artifactUpdate(found, artifact, false, true);
  yield {
    payload: { $case: 'statusUpdate', value: { taskId, contextId, status: statusOut(now, found, scope), metadata: undefined } },
  };
}

function artifactUpdate(
  { id: taskId, context: contextId }: FoundTask,
  artifact: Artifact,
  append: boolean,
  lastChunk: boolean,
): Update {
  return { payload: { $case: 'artifactUpdate', value: { taskId, contextId, artifact, append, lastChunk, metadata: undefined } } };
}

interface Words extends Disposable {
  /** What was said since the last time; the pieces wait as one text, and no longer than it may be. */
  take(): { readonly artifact: Artifact; readonly append: boolean } | undefined;
  /** Resolves when there is something to take. */
  said(): Promise<void>;
}

function liveWords({ engine }: A2aNeeds, { words, found, early }: Following, tasks: Tasks): Words {
  let text = '';
  let begins = true;
  let source = '';
  let isWhole = true;
  let news = Promise.withResolvers<void>();
  const hear = ({ session, run, turn, terminal, offset, delta }: LivePiece): void => {
    if (session !== found.session || !terminal || delta.type !== 'text' || tasks.above.get(run) !== found.run) return;
    const from = `${run} ${turn}`;
    if (from !== source || offset === 0) {
      // Another turn, or the same asked again: what was said before is not the answer.
      [source, text, begins] = [from, '', true];
      // Whoever comes in the middle is shown the whole in the end, and no half of it for the whole before.
      isWhole = offset === 0;
    }
    if (!isWhole) return;
    if (text.length + delta.text.length > limits.a2aStreamTextCharacters) return;
    text += delta.text;
    news.resolve();
  };
  for (const piece of early?.take() ?? []) hear(piece);
  const stop = words === true ? engine.watch(hear) : () => undefined;
  return {
    take() {
      news = Promise.withResolvers();
      if (text === '') return undefined;
      const piece = {
        artifact: { ...emptyArtifact(ANSWER), name: ANSWER, parts: [wordsPart(text, 'text/markdown')] },
        append: !begins,
      };
      [text, begins] = ['', false];
      return piece;
    },
    said: () => news.promise,
    [Symbol.dispose]: stop,
  };
}

/** Events as they come, and `words` in between when there are some. */
async function* newsOf(
  { ledger, stopping }: A2aNeeds,
  { found, signal, words: wanted }: Following,
  after: number,
  words: Words,
): AsyncGenerator<LedgerEvent | 'words', void, undefined> {
  const ended = new AbortController();
  const ending = AbortSignal.any([signal, stopping, ended.signal]);
  const events = ledger.tail(found.session, after, ending)[Symbol.asyncIterator]();
  let next = events.next();
  try {
    while (!ending.aborted) {
      const come = wanted === true ? await Promise.race([next, words.said().then(() => 'words' as const)]) : await next;
      if (come === 'words') {
        yield come;
        continue;
      }
      if (come.done === true) return;
      next = events.next();
      // Whoever leaves early does not wait for it any more.
      next.catch(() => undefined);
      yield come.value;
    }
  } finally {
    // With a reason: Node makes an error with its stack of one without.
    ended.abort('over');
    await events.return?.().catch(() => undefined);
  }
}
