/**
 * The tasks of a caller, page by page, the one that changed last first. A page goes on behind the task that the last one ended
 * with, so that what happens in between neither repeats nor hides any that did not change.
 */
import { type ListTasksRequest, type ListTasksResponse, TaskState } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { RunState } from '../../events/catalogue.ts';
import type { RootTask } from '../../projections/tasks/tasks.ts';
import { artifactsOut } from './artifacts-out.ts';
import type { FoundTask, ListedTask } from './found-tasks.ts';
import type { Scope } from './needs.ts';
import type { PeerRoom } from './room.ts';
import { stateOut, taskOut } from './task-out.ts';

const PAGE = 50;

/** How a task stands, as far as a list has to know. */
interface Standing {
  readonly found: FoundTask;
  readonly state: TaskState;
  readonly at: number;
}

const ENDS: Partial<Record<RunState, TaskState>> = {
  completed: TaskState.TASK_STATE_COMPLETED,
  completed_unverified: TaskState.TASK_STATE_COMPLETED,
  failed: TaskState.TASK_STATE_FAILED,
  budget_exhausted: TaskState.TASK_STATE_FAILED,
  cancelled: TaskState.TASK_STATE_CANCELED,
};

/** Over gRPC a state is a number, and any number comes through. */
const STATES: ReadonlySet<unknown> = new Set(Object.values(TaskState).filter((state) => state !== TaskState.UNRECOGNIZED));

export async function listTasks(room: PeerRoom, scope: Scope, request: ListTasksRequest): Promise<ListTasksResponse> {
  const { pageSize = PAGE, pageToken, status, contextId, historyLength, includeArtifacts } = request;
  if (!Number.isInteger(pageSize) || pageSize < 1 || pageSize > limits.a2aPage)
    throw new RequestMalformedError(`pageSize must be between 1 and ${limits.a2aPage} (a2aPage).`);
  if (historyLength !== undefined && historyLength < 0) throw new RequestMalformedError('historyLength must not be negative.');
  if (!STATES.has(status)) throw new RequestMalformedError('There is no such status.');
  const since = sinceOf(request.statusTimestampAfter);
  const behind = pageToken === '' ? undefined : placeOf(pageToken);
  const all: Standing[] = [];
  for (const listed of await room.tasks.list(scope)) {
    if (contextId !== '' && listed.found.context !== contextId) continue;
    for (const standing of await standingsOf(room, scope, listed)) {
      if (status !== TaskState.TASK_STATE_UNSPECIFIED && standing.state !== status) continue;
      if (since === undefined || standing.at >= since) all.push(standing);
    }
  }
  all.sort(newestFirst);
  const rest =
    behind === undefined ? all : all.filter((one) => newestFirst({ at: behind.at, found: { id: behind.id } }, one) < 0);
  const page = rest.slice(0, pageSize);
  const last = page.at(-1);
  const tasks = [];
  for (const { found } of page) {
    const task = await room.folds.now(found);
    if (task === undefined) continue;
    const artifacts = includeArtifacts === true ? await artifactsOut(room.needs, task, found) : [];
    tasks.push(taskOut(task, found, scope, { historyLength, artifacts }));
  }
  const nextPageToken = last === undefined || rest.length <= pageSize ? '' : tokenOf(last);
  return { tasks, nextPageToken, pageSize, totalSize: all.length };
}

/** A row says how a run has ended; how one stands that has not, or that went on after an end, is folded. */
async function standingsOf({ folds }: PeerRoom, scope: Scope, { row, found, wentOn }: ListedTask): Promise<readonly Standing[]> {
  const state = row.endedAt === null || wentOn ? undefined : ENDS[row.state];
  if (state !== undefined && row.endedAt !== null) return [{ found, state, at: row.endedAt }];
  const lives: readonly RootTask[] = await folds.lives(found);
  if (lives.length === 0) return [{ found, state: TaskState.TASK_STATE_SUBMITTED, at: row.startedAt }];
  return lives.map((task) => ({ found: { ...found, id: task.id }, state: stateOut(task, scope), at: Date.parse(task.at) }));
}

type Placed = { readonly at: number; readonly found: { readonly id: string } };

function newestFirst(left: Placed, right: Placed): number {
  if (left.at !== right.at) return right.at - left.at;
  return left.found.id === right.found.id ? 0 : left.found.id < right.found.id ? 1 : -1;
}

function sinceOf(text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const at = Date.parse(text);
  if (Number.isNaN(at)) throw new RequestMalformedError('statusTimestampAfter is no time.');
  return at;
}

const tokenOf = ({ at, found }: Standing): string => Buffer.from(JSON.stringify([at, found.id])).toString('base64url');

function placeOf(token: string): { readonly at: number; readonly id: string } {
  const parsed = token.length > limits.a2aIdCharacters ? undefined : parseJson(Buffer.from(token, 'base64url').toString('utf8'));
  const [at, id] = parsed?.ok === true && Array.isArray(parsed.value) ? parsed.value : [];
  if (typeof at !== 'number' || typeof id !== 'string') throw new RequestMalformedError('pageToken is none of ours.');
  return { at, id };
}
