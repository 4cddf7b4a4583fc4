/**
 * A task as peers see it, made of the fold that everything else is made of. Its ids follow from the ledger's, so that who comes
 * late sees the same as who was there. Who may answer a question depends on who looks: what only the owner can give is
 * `auth-required` for everybody else.
 */
import { type Artifact, type Message, type Part, Role, type Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { mayAnswer } from '../../assistants/clients/answers.ts';
import { parseJson } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { questionId } from '../../engine/hearing/waits.ts';
import type { PeerParts } from '../../events/messages.ts';
import { shortText } from '../../projections/tasks/short-message.ts';
import type { RootTask, SaidInTask } from '../../projections/tasks/tasks.ts';
import type { Wait } from '../../projections/waits.ts';
import type { FoundTask } from './found-tasks.ts';
import { clientOf, type Scope } from './needs.ts';

export interface Shown {
  /** How many of the last messages; all that there are without it. */
  readonly historyLength?: number | undefined;
  readonly artifacts: readonly Artifact[];
}

export function taskOut(task: RootTask, found: FoundTask, scope: Scope, { historyLength, artifacts }: Shown): Task {
  const history = task.history.map((said, index) => messageOut(said, found, task.historyLeftOut + index));
  return {
    id: task.id,
    contextId: found.context,
    status: statusOut(task, found, scope),
    artifacts: [...artifacts],
    history: historyLength === undefined ? history : historyLength === 0 ? [] : history.slice(-historyLength),
    metadata: metadataOf(task),
  };
}

function metadataOf(task: RootTask): Record<string, unknown> {
  const { agent, end, agentSelections, routingConfidence, continues, reopens, reopenedAs } = task;
  return {
    agent,
    ...(end === undefined ? {} : { verification: end.verification.state, finalAgent: end.finalAgent }),
    ...(agentSelections.length === 0 ? {} : { agentSelections: [...agentSelections] }),
    ...present({ routingConfidence, continues, reopens, reopenedAs }),
  };
}

const ENDS = {
  completed: TaskState.TASK_STATE_COMPLETED,
  canceled: TaskState.TASK_STATE_CANCELED,
  failed: TaskState.TASK_STATE_FAILED,
};

/** In which of the protocol's states the task is for this caller. */
export function stateOut({ state, waits }: Pick<RootTask, 'state' | 'waits'>, scope: Scope): TaskState {
  switch (state) {
    case 'completed':
    case 'canceled':
    case 'failed':
      return ENDS[state];
    case 'submitted':
      return TaskState.TASK_STATE_SUBMITTED;
    case 'input-required':
      // One that is paused or parked asks nothing that a caller could answer: its owner lets it go on.
      return askedOf(waits, scope) === undefined ? TaskState.TASK_STATE_AUTH_REQUIRED : TaskState.TASK_STATE_INPUT_REQUIRED;
    default:
      return TaskState.TASK_STATE_WORKING;
  }
}

/** The first question that this caller may answer. */
const askedOf = (waits: readonly Wait[], { caller }: Scope): Wait | undefined =>
  waits.find((wait) => mayAnswer(clientOf(caller), wait));

export function statusOut(task: RootTask, found: FoundTask, scope: Scope): TaskStatus {
  const state = stateOut(task, scope);
  return { state, message: statusMessage(task, found, scope, state), timestamp: task.at };
}

function statusMessage(task: RootTask, found: FoundTask, scope: Scope, state: TaskState): Message | undefined {
  const wait = askedOf(task.waits, scope) ?? task.waits[0];
  if (wait !== undefined) {
    const choices = wait.choices.length === 0 ? {} : { choices: [...wait.choices] };
    const about = { question: questionId(wait.run, wait.wait), kind: wait.kind, ...choices };
    const words =
      state === TaskState.TASK_STATE_AUTH_REQUIRED ? `The owner of this server has to answer: ${wait.question}` : wait.question;
    return agentMessage(`${task.id}.${about.question}`, found, words, about);
  }
  // The answer of a task that is completed is its artifact.
  if (task.message === undefined || state === TaskState.TASK_STATE_COMPLETED) return undefined;
  return agentMessage(`${task.id}.status-${task.since}`, found, task.message.content, {});
}

function agentMessage(messageId: string, found: FoundTask, text: string, metadata: Record<string, unknown>): Message {
  return { ...emptyMessage(messageId, found), role: Role.ROLE_AGENT, parts: [wordsPart(text)], metadata };
}

const emptyMessage = (messageId: string, { context, id }: FoundTask): Omit<Message, 'role' | 'parts'> => ({
  ...{ messageId, contextId: context, taskId: id },
  ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
});

function messageOut({ role, content, id, parts }: SaidInTask, found: FoundTask, index: number): Message {
  // What the peer said has the ids that it gave to it: by them it knows what was heard.
  const messageId = index === 0 ? found.asked.message : (id ?? `${found.id}.${index}`);
  return {
    ...emptyMessage(messageId, found),
    role: role === 'user' ? Role.ROLE_USER : Role.ROLE_AGENT,
    parts: parts?.map(partOut) ?? [wordsPart(content)],
  };
}

/** As it came. */
function partOut({ kind, value, filename = '', mediaType = '' }: PeerParts[number]): Part {
  const about = { metadata: undefined, filename, mediaType };
  if (kind === 'data') return { content: { $case: kind, value }, ...about };
  const text = String(value);
  return kind === 'raw'
    ? { content: { $case: kind, value: Buffer.from(text, 'base64') }, ...about }
    : { content: { $case: kind, value: text }, ...about };
}

export const wordsPart = (value: string, mediaType = 'text/plain'): Part => ({
  content: { $case: 'text', value },
  metadata: undefined,
  filename: '',
  mediaType,
});

export const ANSWER = 'result';

/** What the task came to. A task that failed says why in its status. */
export function answerOut({ end, state }: RootTask): readonly Artifact[] {
  if (end === undefined || state !== 'completed') return [];
  const { format, body } = end.report;
  const json = format === 'json' ? parseJson(body) : undefined;
  const words = shortText(body, 'taskResultCharacters');
  const part: Part =
    json?.ok === true
      ? { content: { $case: 'data', value: json.value }, metadata: undefined, filename: '', mediaType: 'application/json' }
      : wordsPart(words, format === 'markdown' ? 'text/markdown' : 'text/plain');
  return [{ ...emptyArtifact(ANSWER), name: ANSWER, parts: [part] }];
}

export const emptyArtifact = (artifactId: string): Omit<Artifact, 'name' | 'parts'> => ({
  ...{ artifactId, description: '', metadata: undefined, extensions: [] },
});

export const isOver = (state: TaskState): boolean =>
  state === TaskState.TASK_STATE_COMPLETED ||
  state === TaskState.TASK_STATE_CANCELED ||
  state === TaskState.TASK_STATE_FAILED ||
  state === TaskState.TASK_STATE_REJECTED;

/** Nothing goes on until somebody says something. */
export const isInterrupted = (state: TaskState): boolean =>
  state === TaskState.TASK_STATE_INPUT_REQUIRED || state === TaskState.TASK_STATE_AUTH_REQUIRED;
