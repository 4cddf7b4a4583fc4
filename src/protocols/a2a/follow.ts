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
}

type Update = StreamResponse;

/** Ends with the task, and when it needs something from whoever follows. */
export async function* followTask(needs: A2aNeeds, following: Following): AsyncGenerator<Update, void, undefined> {
  const { found, scope, signal, historyLength } = following;
  const tasks = await foldedTasks(needs, found.session);
  const first = tasks.tasks.get(found.id);
  if (first === undefined) return;
  const artifacts = await artifactsOut(needs, first, found);
  yield { payload: { $case: 'task', value: taskOut(first, found, scope, { historyLength, artifacts }) } };
  if (isOver(stateOut(first, scope))) return;
  using words = liveWords(needs, following, tasks);
  let before = first;
  for await (const one of newsOf(needs, following, tasks.position, words)) {
    if (one === 'words') {
      const piece = words.take();
      if (piece !== undefined) yield artifactUpdate(found, piece.artifact, piece.append, false);
      continue;
    }
    foldTasks(tasks, one);
    const now = tasks.tasks.get(found.id) ?? before;
    if (now.state !== before.state || now.message?.content !== before.message?.content || now.waits !== before.waits)
      yield* changes(needs, following, now);
    const state = stateOut(now, scope);
    if (isOver(state) || (state === TaskState.TASK_STATE_INPUT_REQUIRED && state !== stateOut(before, scope))) return;
    before = now;
  }
  if (signal.aborted) return;
}

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

function liveWords({ engine }: A2aNeeds, { words, found }: Following, tasks: Tasks): Words {
  let text = '';
  let begins = true;
  let source = '';
  let news = Promise.withResolvers<void>();
  const hear = ({ session, run, turn, terminal, delta }: LivePiece): void => {
    if (session !== found.session || !terminal || delta.type !== 'text' || tasks.above.get(run) !== found.run) return;
    const from = `${run} ${turn}`;
    if (from !== source) {
      // Another turn, or the same asked again: what was said before is not the answer.
      [source, text, begins] = [from, '', true];
    }
    if (text.length + delta.text.length > limits.a2aStreamTextCharacters) return;
    text += delta.text;
    news.resolve();
  };
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
    ended.abort();
    await events.return?.().catch(() => undefined);
  }
}
