/**
 * What `troupe serve` is held against: the sample server of the A2A SDK (Express, `DefaultRequestHandler`, tasks in memory) with
 * an executor that does the same work: it asks the same model over HTTP and answers with what that says.
 * `node bench/a2a-sample.ts <base url of the model> [file]` prints the address. With a file its tasks survive, as little as that
 * takes: each is one row of SQLite, written whole at every change of its state, and the end is flushed to the disk.
 */
import type { AddressInfo } from 'node:net';
import { DatabaseSync } from 'node:sqlite';
import { type AgentCard, Task, TaskState, type TaskStatus } from '@a2a-js/sdk';
import { AgentEvent, type AgentExecutor, DefaultRequestHandler, InMemoryTaskStore, type TaskStore } from '@a2a-js/sdk/server';
import { agentCardHandler, jsonRpcHandler, UserBuilder } from '@a2a-js/sdk/server/express';
import express from 'express';
import { z } from 'zod';
import { SYSTEM_PROMPT } from './common.ts';

const [, , model = '', file = ''] = process.argv;
const answered = z.object({ choices: z.array(z.object({ message: z.object({ content: z.string() }) })) });

async function ask(text: string): Promise<string> {
  const messages = [
    { role: 'system', content: SYSTEM_PROMPT },
    { role: 'user', content: text },
  ];
  const response = await fetch(`${model}/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ model: text.startsWith('Wait.') ? 'bench-t1-s0' : 'bench-t1', messages }),
  });
  return answered.parse(await response.json()).choices[0]?.message.content ?? '';
}

const statusOf = (state: TaskState): TaskStatus => ({ state, message: undefined, timestamp: new Date().toISOString() });

const executor: AgentExecutor = {
  async execute({ userMessage, taskId, contextId }, bus) {
    const first: Task = {
      ...{ id: taskId, contextId, status: statusOf(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage] },
      metadata: undefined,
    };
    bus.publish(AgentEvent.task(first));
    const to = (state: TaskState): void =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: statusOf(state), metadata: undefined }));
    to(TaskState.TASK_STATE_WORKING);
    const [part] = userMessage.parts;
    const value = await ask(part?.content?.$case === 'text' ? part.content.value : '');
    const parts = [{ content: { $case: 'text' as const, value }, filename: '', mediaType: '', metadata: undefined }];
    const artifact = { artifactId: 'result', name: 'result', description: '', parts, metadata: undefined, extensions: [] };
    bus.publish(AgentEvent.artifactUpdate({ taskId, contextId, artifact, append: false, lastChunk: true, metadata: undefined }));
    to(TaskState.TASK_STATE_COMPLETED);
    bus.finished();
  },
  cancelTask: async () => undefined,
};

function inFile(path: string): TaskStore {
  const database = new DatabaseSync(path);
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE task (id TEXT PRIMARY KEY, body TEXT)');
  const save = database.prepare('INSERT INTO task VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET body = excluded.body');
  const load = database.prepare('SELECT body FROM task WHERE id = ?');
  return {
    save: async (task) => void save.run(task.id, JSON.stringify(Task.toJSON(task))),
    load: async (id) => {
      const row = load.get(id);
      return row === undefined ? undefined : Task.fromJSON(JSON.parse(String(row['body'])));
    },
    list: async () => ({ tasks: [], nextPageToken: '', pageSize: 0, totalSize: 0 }),
  };
}

const cardAt = (url: string): AgentCard => ({
  ...{ name: 'sample', description: 'Answers', version: '1', provider: undefined, signatures: [] },
  supportedInterfaces: [{ url, protocolBinding: 'JSONRPC', tenant: '', protocolVersion: '1.0' }],
  capabilities: { streaming: true, pushNotifications: false, extensions: [], extendedAgentCard: false },
  ...{ securitySchemes: {}, securityRequirements: [], defaultInputModes: ['text/plain'], defaultOutputModes: ['text/plain'] },
  skills: [],
});

const app = express();
const server = app.listen(0, '127.0.0.1', () => {
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const requestHandler = new DefaultRequestHandler(
    ...([cardAt(`${origin}/a2a`), file === '' ? new InMemoryTaskStore() : inFile(file), executor] as const),
  );
  app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
  app.use('/a2a', jsonRpcHandler({ requestHandler, userBuilder: UserBuilder.noAuthentication }));
  process.stdout.write(`${origin}\n`);
});
