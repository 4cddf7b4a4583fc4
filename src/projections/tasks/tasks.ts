/**
 * Tasks, as A2A has them: a task is a root run, its id is the run's and its context the session. Folded event by event, so that
 * what is new costs and nothing else.
 *
 * The accumulator belongs to the fold, which updates and returns it; the tasks in it are replaced, never changed.
 */
import { unreachable } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { sentence } from '../../base/wording.ts';
import { type EventType, inboundTypes, type Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { PeerParts } from '../../events/messages.ts';
import { type Message, textOf, toolCallsOf } from '../../events/messages.ts';
import { parentRun } from '../../events/run-origin.ts';
import {
  type AgentChoice,
  choosingTypes,
  chosenAgents,
  type DispatchedSoFar,
  endsInOwnWords,
  withDispatched,
} from '../patterns/chosen-agents.ts';
import { foldWaits, initialWaits, type Wait, type Waits, waitKey } from '../waits.ts';
import { shortMessage, shortText } from './short-message.ts';
import type { TaskMessage } from './task-json.ts';
import { isTerminalTask, type TaskState } from './task-states.ts';

/** A file that a run of the task changed; `null` when it removed it. */
export interface TaskFile {
  readonly path: string;
  readonly sha256: string | null;
  readonly run: RunId;
}

/** A file that an agent elsewhere made for the task, stored here under a reference. */
export interface ReceivedFile {
  readonly ref: string;
  readonly checksum: string;
  readonly bytes: number;
  readonly run: RunId;
  readonly from: NonNullable<Payloads['artifact.stored']['from']>;
}

/** Nothing goes on until somebody sees to it, though nobody was asked anything. */
export type StandsStill =
  | ({ readonly kind: 'parked' } & Payloads['run.parked'])
  | ({ readonly kind: 'paused' } & Payloads['run.paused']);

/** With the id that whoever said it gave to it, where it came with one, and what it was made of besides words. */
export interface SaidInTask extends TaskMessage {
  readonly id?: string;
  readonly parts?: PeerParts;
}

export interface RootTask {
  /** The id of the run; of a run that went on after its end `<run>.2`, and so on. */
  readonly id: string;
  readonly run: RunId;
  readonly session: SessionId;
  readonly agent: string;
  /** Where the event stands that changed the task last: of two versions, the one with the larger position is newer. */
  readonly position: number;
  readonly state: TaskState;
  /** What the state is about: a question, the latest words, the answer, what went wrong. */
  readonly message: TaskMessage | undefined;
  /** When it came to stand so, and the position of the event that made it so. */
  readonly at: string;
  readonly since: number;
  readonly startedAt: string;
  /** The last of what was said, oldest first; the ledger has the rest. */
  readonly history: readonly SaidInTask[];
  readonly historyLeftOut: number;
  readonly files: readonly TaskFile[];
  readonly filesLeftOut: number;
  readonly received: readonly ReceivedFile[];
  /** Whom a router chose, in order, and how sure it was the last time. */
  readonly agentSelections: readonly string[];
  readonly routingConfidence: number | undefined;
  /** That choice, where it is known what it rests on, and what those who were chosen answered. */
  readonly routing: AgentChoice | undefined;
  readonly agentResponses: readonly DispatchedSoFar[];
  /** Open questions and requests for permission, of the run and of those below it. */
  readonly waits: readonly Wait[];
  readonly still: StandsStill | undefined;
  readonly end: Payloads['run.ended'] | undefined;
  /** The earlier task of the session whose conversation it goes on with, or whose work it does again. */
  readonly continues: string | undefined;
  readonly retries: string | undefined;
  /** The task that this run was before it ended and went on; and the other way round. */
  readonly reopens: string | undefined;
  readonly reopenedAs: string | undefined;
}

export interface Tasks {
  /** By id, in the order in which they began. */
  readonly tasks: Map<string, RootTask>;
  /** What the fold has to know of each root run besides. */
  readonly roots: Map<RunId, Root>;
  /** The root above each run. */
  readonly above: Map<RunId, RunId>;
  /** Position of the last event that was folded. */
  position: number;
}

interface Root {
  readonly request: SaidInTask;
  readonly waits: Waits;
  /** The task that the run is now. */
  task: string;
  lives: number;
  /** The agent's latest words on the way. */
  words: TaskMessage | undefined;
}

/** What can change a task. Whoever folds may read these alone, and comes to the same. */
export const taskTypes: readonly EventType[] = [
  ...(['run.started', 'run.resumed', 'run.paused', 'run.parked', 'run.reopened', 'run.ended'] as const),
  ...(['model.request', 'model.response', 'approval.asked', 'approval.answered', 'task.clarify', 'message.sent'] as const),
  ...(['artifact.manifest', 'artifact.stored', ...choosingTypes] as const),
];

const counts = new Set<string>(taskTypes);

export const initialTasks = (): Tasks => ({ tasks: new Map(), roots: new Map(), above: new Map(), position: 0 });

export function foldTasks(tasks: Tasks, event: LedgerEvent): Tasks {
  tasks.position = event.position;
  if (!counts.has(event.event_type)) return tasks;
  if (event.event_type === 'run.started' && !tasks.above.has(event.run_id)) {
    const parent = parentRun(event.payload) as RunId | undefined;
    if (parent === undefined) {
      begin(tasks, event);
      return tasks;
    }
    const root = tasks.above.get(parent);
    if (root !== undefined) tasks.above.set(event.run_id, root);
  }
  const name = tasks.above.get(event.run_id);
  const root = name === undefined ? undefined : tasks.roots.get(name);
  const task = root === undefined ? undefined : tasks.tasks.get(root.task);
  if (root === undefined || task === undefined) return tasks;
  if (isTerminalTask(task.state)) {
    if (event.event_type === 'run.reopened' && event.run_id === task.run) reopen(tasks, root, task, event);
    return tasks;
  }
  const next = settled(task, nextTask(root, task, event), root, event);
  if (next !== task) tasks.tasks.set(task.id, next);
  return tasks;
}

/** The task that a root run is now: the latest, when it ended and went on. */
export function taskOfRun(tasks: Tasks, run: RunId): RootTask | undefined {
  return tasks.tasks.get(tasks.roots.get(run)?.task ?? '');
}

function begin(tasks: Tasks, event: EventOf<'run.started'>): void {
  const { payload, run_id: run, timestamp } = event;
  const { origin } = payload;
  const parts = origin.kind === 'client' ? origin.a2a?.parts : undefined;
  const request: SaidInTask = { ...shortMessage('user', wordsOf(payload.input)), timestamp, ...present({ parts }) };
  tasks.above.set(run, run);
  tasks.roots.set(run, { request, waits: initialWaits(), task: run, lives: 1, words: undefined });
  tasks.tasks.set(run, {
    ...newTask(event, payload.agent, request),
    id: run,
    continues: payload.continues,
    retries: payload.retries,
  });
}

/** The task that ended stays as it ended; what goes on is another. */
function reopen(tasks: Tasks, root: Root, task: RootTask, event: EventOf<'run.reopened'>): void {
  root.lives += 1;
  root.task = `${task.run}.${root.lives}`;
  root.words = undefined;
  const { continues, retries, agentSelections, routingConfidence, routing, files, filesLeftOut, received } = task;
  const agentResponses = task.agentResponses.filter(({ success }) => success);
  const left = { files, filesLeftOut, received };
  const kept = { continues, retries, agentSelections, routingConfidence, routing, agentResponses, ...left };
  tasks.tasks.set(task.id, { ...task, position: event.position, reopenedAs: root.task });
  tasks.tasks.set(root.task, { ...newTask(event, task.agent, root.request), ...kept, id: root.task, reopens: task.id });
}

function newTask(event: LedgerEvent, agent: string, request: SaidInTask): RootTask {
  const { run_id: run, session_id: session, position, timestamp } = event;
  return {
    ...{ id: run, run, session, agent, position, state: 'submitted', message: undefined, at: timestamp, startedAt: timestamp },
    since: position,
    ...{ history: [request], historyLeftOut: 0, files: [], filesLeftOut: 0, received: [] },
    ...{ agentSelections: [], routingConfidence: undefined, routing: undefined, agentResponses: [] },
    ...{ waits: [], still: undefined, end: undefined },
    ...{ continues: undefined, retries: undefined, reopens: undefined, reopenedAs: undefined },
  };
}

/** What is in a message, as text: of an image only that it is there. */
function wordsOf({ content }: Message): string {
  return content
    .flatMap((part) => (part.type === 'text' ? [part.text] : part.type === 'image' ? [`(image, ${part.mediaType})`] : []))
    .join('\n');
}

function nextTask(root: Root, task: RootTask, event: LedgerEvent): RootTask {
  const own = event.run_id === task.run;
  switch (event.event_type) {
    case 'approval.asked':
    case 'task.clarify':
      return withWaits(root, event, (opened) => said(task, event, 'assistant', opened?.question ?? ''));
    case 'approval.answered':
      return withWaits(root, event, (answered) => (answered === undefined ? task : withAnswer(task, event)));
    case 'message.sent':
      return own ? withMessage(task, event) : task;
    case 'model.response':
      return own ? withWords(root, task, event) : task;
    case 'artifact.manifest':
      return withFiles(task, event);
    case 'artifact.stored':
      return withReceived(task, event);
    case 'run.parked':
      return own ? { ...task, still: { kind: 'parked', ...event.payload } } : task;
    case 'run.paused':
      return own ? { ...task, still: { kind: 'paused', ...event.payload } } : task;
    case 'run.resumed':
    case 'run.reopened':
      return own && task.still !== undefined ? { ...task, still: undefined } : task;
    case 'run.ended':
      return withWaits(root, event, () => (own ? withEnd(root, task, event) : task));
    default:
      return withChosen(task, event);
  }
}

type Waiting = Extract<LedgerEvent, { event_type: 'approval.asked' | 'task.clarify' | 'approval.answered' | 'run.ended' }>;

/** Folds the waits; `then` gets the one that the event is about, if it was open or is now. */
function withWaits(root: Root, event: Waiting, then: (about: Wait | undefined) => RootTask): RootTask {
  const key = 'wait' in event.payload ? waitKey(event.run_id, event.payload.wait) : '';
  const before = root.waits.get(key);
  const size = root.waits.size;
  foldWaits(root.waits, event);
  const about = root.waits.get(key) ?? before;
  const next = then(about);
  return about === undefined && root.waits.size === size ? next : { ...next, waits: [...root.waits.values()] };
}

type AsSent = { readonly id?: string | undefined; readonly parts?: PeerParts | undefined };

function said(task: RootTask, event: LedgerEvent, role: TaskMessage['role'], text: string, asSent: AsSent = {}): RootTask {
  const message: SaidInTask = { ...shortMessage(role, text), timestamp: event.timestamp, ...present(asSent) };
  const left = Math.max(0, task.history.length + 1 - limits.taskHistory);
  return { ...task, history: [...task.history.slice(left), message], historyLeftOut: task.historyLeftOut + left };
}

function withAnswer(task: RootTask, event: EventOf<'approval.answered'>): RootTask {
  const { answer, message: id, parts } = event.payload;
  switch (answer.kind) {
    case 'text':
      return said(task, event, 'user', answer.text, { id, parts });
    case 'approved':
      return said(task, event, 'user', 'Approved.', { id, parts });
    case 'denied':
      return said(task, event, 'user', answer.note === undefined ? 'Denied.' : `Denied: ${answer.note}`, { id, parts });
    case 'expired':
      return task;
    default:
      return unreachable(answer);
  }
}

/** What goes between the run and somebody outside of all runs. Reports and questions are told by events of their own. */
function withMessage(task: RootTask, event: EventOf<'message.sent'>): RootTask {
  const { from, to, content, kind, clientMessage: id, parts } = event.payload;
  if (kind !== undefined) return task;
  if (from.run === undefined) return said(task, event, 'user', content, { id, parts });
  return from.run === task.run && to.run === undefined ? said(task, event, 'assistant', content) : task;
}

/** Words beside calls are words on the way. Words alone are the answer, which the end tells. */
function withWords(root: Root, task: RootTask, event: EventOf<'model.response'>): RootTask {
  const { message } = event.payload;
  const text = textOf(message.content).trim();
  if (text === '' || toolCallsOf(message).length === 0) return task;
  root.words = shortMessage('assistant', text);
  return said(task, event, 'assistant', text);
}

/** Of a file that was changed twice, the last change. */
function withFiles(task: RootTask, { payload, run_id: run }: EventOf<'artifact.manifest'>): RootTask {
  const files = new Map(task.files.map((file) => [file.path, file]));
  for (const { path, sha256 } of payload.items) files.set(path, { path, sha256, run });
  const left = Math.max(0, files.size - limits.taskFiles);
  return { ...task, files: [...files.values()].slice(left), filesLeftOut: task.filesLeftOut + left };
}

/** What the runtime stores of its own work is in the manifest. */
function withReceived(task: RootTask, { payload, run_id: run }: EventOf<'artifact.stored'>): RootTask {
  const { ref, checksum, bytes, from } = payload;
  if (from === undefined) return task;
  const received = [...task.received, { ref, checksum, bytes, run, from }];
  const left = Math.max(0, received.length - limits.taskFiles);
  return { ...task, received: received.slice(left), filesLeftOut: task.filesLeftOut + left };
}

function withChosen(task: RootTask, event: LedgerEvent): RootTask {
  const answers = withDispatched(task.agentResponses, event, (content) => shortText(content, 'taskAnswerCharacters'));
  if (answers !== undefined) return { ...task, agentResponses: answers.slice(-limits.taskSelections) };
  const chosen = chosenAgents(event);
  if (chosen === undefined) return task;
  const agentSelections = [...new Set([...task.agentSelections, ...chosen.agents])].slice(-limits.taskSelections);
  const { choice: routing = task.routing } = chosen;
  return { ...task, agentSelections, routing, routingConfidence: routing?.confidence };
}

function withEnd(root: Root, task: RootTask, event: EventOf<'run.ended'>): RootTask {
  const { report } = event.payload;
  root.waits.clear();
  const over = { ...task, waits: [], still: undefined, end: event.payload };
  const isNew = report.synthetic !== true && report.body !== '' && task.history.at(-1)?.content !== report.body;
  return isNew ? said(over, event, 'assistant', report.body) : over;
}

/** How the task stands after the event, and since when. */
function settled(before: RootTask, next: RootTask, root: Root, event: LedgerEvent): RootTask {
  const [state, message] = standing(before, next, root, event);
  const moved = state !== next.state || message?.content !== next.message?.content;
  if (next === before && !moved) return before;
  const since = moved ? { state, message, at: event.timestamp, since: event.position } : {};
  return { ...next, ...since, position: event.position };
}

/** What comes from outside of a run is no work on it. */
const NO_WORK: readonly string[] = inboundTypes;

function standing(
  before: RootTask,
  { run, end, still, waits }: RootTask,
  root: Root,
  event: LedgerEvent,
): readonly [TaskState, TaskMessage | undefined] {
  if (end !== undefined) return [stateAtEnd(end.status), shortMessage('assistant', wordsAtEnd(end))];
  const [wait] = waits;
  if (wait !== undefined) return ['input-required', shortMessage('assistant', wait.question)];
  if (still !== undefined) return ['input-required', shortMessage('assistant', stillWords(still))];
  const begun = before.state !== 'submitted' || event.run_id !== run || !NO_WORK.includes(event.event_type);
  return begun ? ['working', root.words] : ['submitted', undefined];
}

function stateAtEnd(status: Payloads['run.ended']['status']): TaskState {
  switch (status) {
    case 'completed':
    case 'completed_unverified':
      return 'completed';
    case 'cancelled':
      return 'canceled';
    case 'failed':
    case 'budget_exhausted':
      return 'failed';
    default:
      return unreachable(status);
  }
}

function wordsAtEnd({ status, report, error }: Payloads['run.ended']): string {
  const isOwn = stateAtEnd(status) === 'completed' || endsInOwnWords.has(error?.code ?? '');
  return isOwn ? report.body : (error?.message ?? report.body);
}

function stillWords(still: StandsStill): string {
  if (still.kind === 'paused') return `Paused: ${still.reason}`;
  const { message, fix } = still.error;
  return fix === undefined ? message : `${sentence(message)} ${fix}`;
}
