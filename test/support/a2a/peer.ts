/** What tests of A2A say and read, as a peer does. */
import { randomUUID } from 'node:crypto';
import { type Message, Role, type StreamResponse, type Task, type TaskPushNotificationConfig, type TaskState } from '@a2a-js/sdk';
import { wordsPart } from '../../../src/protocols/a2a/task-out.ts';

export const said = (text: string, more: Partial<Message> = {}): Message => ({
  ...{ messageId: randomUUID(), contextId: '', taskId: '', role: Role.ROLE_USER, parts: [wordsPart(text)] },
  ...{ metadata: undefined, extensions: [], referenceTaskIds: [] },
  ...more,
});

interface How {
  readonly returnImmediately?: boolean;
  readonly historyLength?: number;
  readonly taskPushNotificationConfig?: TaskPushNotificationConfig;
}

export const request = (message: Message, how: How = {}) => ({
  ...{ tenant: '', message, metadata: undefined },
  configuration: { acceptedOutputModes: [], taskPushNotificationConfig: undefined, returnImmediately: false, ...how },
});

export function taskIn(result: Message | Task): Task {
  if ('messageId' in result) throw new Error('a message and no task');
  return result;
}

export const answerOf = ({ artifacts }: Task): unknown => artifacts[0]?.parts[0]?.content?.value;
export const stateOf = (task: Task): TaskState | undefined => task.status?.state;

export async function collect(stream: AsyncGenerator<StreamResponse, void, undefined>): Promise<readonly StreamResponse[]> {
  const all: StreamResponse[] = [];
  for await (const one of stream) all.push(one);
  return all;
}

/** Polls until the look shows it. */
export async function eventually<Value>(look: () => Promise<Value | undefined> | Value | undefined): Promise<Value> {
  for (;;) {
    const found = await look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
