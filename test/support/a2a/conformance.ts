/**
 * What the A2A conformance kit wants of a system under test, on top of the real server. The kit chooses a behaviour by how the id
 * of a message begins, and uses an id again and again: so each message gets an id of its own, and its words tell the model which
 * behaviour is meant. Tasks, streams, waits and ends are real; what no run of ours brings about (a bare message, a rejected task,
 * files that nobody wrote) is put in their place on the way out.
 */
import { randomUUID } from 'node:crypto';
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type SendMessageRequest,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { wordsPart } from '../../../src/protocols/a2a/task-out.ts';
import type { Reply, SeenRequest } from '../models/script.ts';

const MARK = 'conformance:';

/** The extension that the kit names where one is demanded. */
export const KIT_EXTENSION = 'urn:a2a:tck:required-extension';

export interface KitSwitches {
  readonly streaming?: boolean;
  readonly push?: boolean;
  readonly demands?: readonly string[] | undefined;
}

/** The kit's own receiver of notifications is on this machine. */
export const conformanceSettings = ({ streaming = true, push = true, demands = [] }: KitSwitches = {}): string =>
  `${JSON.stringify({ a2a: { streaming, push, demands, privatePush: true } })}\n`;

const WORDS: Readonly<Record<string, string>> = {
  'tck-artifact-text': 'Generated text content',
  'tck-stream-001': 'Stream hello from TCK',
  'tck-stream-003': 'Stream task lifecycle',
  'tck-stream-ordering-001': 'Ordered output',
  'tck-stream-artifact-text': 'Streamed text content',
  'tck-stream-artifact-chunked': 'chunk-1 chunk-2',
};

/** Longer than twice the time that the kit waits for an event. */
const HELD_MS = 4_500;

/** The model: what it says depends on the last message that says which behaviour it wants. */
export function playConformance({ body }: SeenRequest): Reply {
  const wanted = [...JSON.stringify(body).matchAll(new RegExp(`${MARK} ([\\w-]+)`, 'g'))].map(([, id = '']) => id);
  const id = wanted.at(-1) ?? '';
  if (id.startsWith('tck-input-required') && wanted.filter((one) => one.startsWith('tck-input-required')).length % 2 === 1)
    return { calls: [{ name: 'ask', input: { question: 'Please provide input' } }] };
  if (id.startsWith('test-resubscribe-message-id')) return { text: 'Here at last.', delayMs: HELD_MS };
  const text = Object.entries(WORDS).find(([prefix]) => id.startsWith(prefix))?.[1] ?? 'Hello from TCK';
  return id.startsWith('tck-stream-artifact-chunked') ? { text, chunkBytes: 120, dripMs: 100 } : { text };
}

const part = (content: NonNullable<Part['content']>, filename = '', mediaType = ''): Part => ({
  content,
  filename,
  mediaType,
  metadata: undefined,
});
const FILE = part({ $case: 'raw', value: Buffer.from('tck') }, 'output.txt', 'text/plain');
const PARTS: readonly (readonly [prefix: string, part: Part])[] = [
  ['tck-artifact-file-url', part({ $case: 'url', value: 'https://example.com/output.txt' }, 'output.txt', 'text/plain')],
  ['tck-artifact-file', FILE],
  ['tck-stream-artifact-file', FILE],
  ['tck-artifact-data', part({ $case: 'data', value: { key: 'value', count: 42 } })],
];

export function conforming(handler: A2ARequestHandler): A2ARequestHandler {
  const shown =
    <Value>(work: (value: Value) => Value) =>
    async (value: Promise<Value>): Promise<Value> =>
      work(await value);
  const asTask = shown(disguised);
  async function* followed(
    stream: AsyncGenerator<StreamResponse, void, undefined>,
  ): AsyncGenerator<StreamResponse, void, undefined> {
    for await (const update of stream) yield disguisedUpdate(update);
  }
  return {
    ...handler,
    async sendMessage(params, context) {
      if (wantsMessage(params)) return bareMessage(params);
      const sent = await handler.sendMessage(marked(params), context);
      return 'messageId' in sent ? sent : disguised(sent);
    },
    async *sendMessageStream(params, context) {
      if (wantsMessage(params)) yield { payload: { $case: 'message', value: bareMessage(params) } };
      else yield* followed(handler.sendMessageStream(marked(params), context));
    },
    resubscribe: (params, context) => followed(handler.resubscribe(params, context)),
    getTask: (params, context) => asTask(handler.getTask(params, context)),
    cancelTask: (params, context) => asTask(handler.cancelTask(params, context)),
    async listTasks(params, context) {
      const listed = await handler.listTasks(params, context);
      return { ...listed, tasks: listed.tasks.map(disguised) };
    },
  };
}

const wantsMessage = ({ message }: SendMessageRequest): boolean => message?.messageId.startsWith('tck-message-response') === true;

const bareMessage = ({ message }: SendMessageRequest): Message => ({
  ...{ messageId: randomUUID(), contextId: message?.contextId || randomUUID(), taskId: '', role: Role.ROLE_AGENT },
  ...{ parts: [wordsPart('Direct message response')], metadata: undefined, extensions: [], referenceTaskIds: [] },
});

/** The kit's id, and what makes it one of a kind. */
const SEPARATOR = '--';

function marked(params: SendMessageRequest): SendMessageRequest {
  const { message } = params;
  if (message === undefined || message.messageId === '' || message.parts.length === 0) return params;
  const { messageId, parts } = message;
  const words = wordsPart(`${MARK} ${messageId}`);
  return { ...params, message: { ...message, messageId: `${messageId}${SEPARATOR}${randomUUID()}`, parts: [...parts, words] } };
}

/** Which behaviour each task was begun with. */
const begun = new Map<string, string>();

function disguised(task: Task): Task {
  const [first] = task.history;
  const id = begun.get(task.id) ?? first?.messageId.split(SEPARATOR)[0] ?? '';
  if (first !== undefined) begun.set(task.id, id);
  const history = task.history.map((message) => ({ ...message, messageId: message.messageId.split(SEPARATOR)[0] ?? '' }));
  return {
    ...task,
    history,
    status: rejected(task.status, id),
    artifacts: task.artifacts.map((artifact) => replaced(artifact, id)),
  };
}

function rejected(status: TaskStatus | undefined, id: string): TaskStatus | undefined {
  if (!id.startsWith('tck-reject-task') || status?.state !== TaskState.TASK_STATE_COMPLETED) return status;
  return { ...status, state: TaskState.TASK_STATE_REJECTED };
}

function replaced(artifact: Artifact, id: string): Artifact {
  const other = PARTS.find(([prefix]) => id.startsWith(prefix))?.[1];
  return other === undefined ? artifact : { ...artifact, parts: [other] };
}

function disguisedUpdate(update: StreamResponse): StreamResponse {
  const { payload } = update;
  if (payload?.$case === 'task') return { payload: { $case: 'task', value: disguised(payload.value) } };
  if (payload?.$case === 'statusUpdate') {
    const status = rejected(payload.value.status, begun.get(payload.value.taskId) ?? '');
    return { payload: { $case: 'statusUpdate', value: { ...payload.value, status } } };
  }
  if (payload?.$case !== 'artifactUpdate' || payload.value.artifact === undefined) return update;
  const artifact = replaced(payload.value.artifact, begun.get(payload.value.taskId) ?? '');
  return { payload: { $case: 'artifactUpdate', value: { ...payload.value, artifact } } };
}
