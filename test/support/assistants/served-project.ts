/** A project with agents of its own, a model that the test plays, and the real server with the official client in front of it. */
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'vitest';
import * as schemas from '../../../src/tools/assistants/schemas.ts';
import { createTestProject, type TestProject } from '../../e2e/support-project.ts';
import type { Era } from '../mcp/fixture-http.ts';
import type { ModelServer } from '../models/model-server.ts';
import type { Reply, SeenRequest } from '../models/script.ts';
import { runningProcesses } from '../process/marked-processes.ts';
import { type AssistantsClient, connectStdio, startHttp } from './client.ts';
import { only, sessionOf } from './ledger.ts';

/** Known to the server, and to nobody that it starts. */
const KEY = 'sk-test-0123456789abcdef';

export const transports = ['stdio', 'http'] as const;
export type TransportName = (typeof transports)[number];

export interface ServedProjectOptions {
  readonly transport?: TransportName;
  readonly era?: Era;
  /** By name: what comes after the name in the frontmatter. */
  readonly agents: Readonly<Record<string, string>>;
  /** The part of the model. */
  play(request: SeenRequest): Reply | Promise<Reply>;
}

export interface ServedProject extends AsyncDisposable {
  readonly project: TestProject;
  readonly model: ModelServer;
  readonly client: AssistantsClient;
}

export async function openServedProject({
  transport = 'stdio',
  era = '2026-07-28',
  agents,
  play,
}: ServedProjectOptions): Promise<ServedProject> {
  const { project, model } = await createAssistantsProject(agents, play);
  const server = transport === 'http' ? await startHttp(project) : undefined;
  const client = server === undefined ? await connectStdio(project, era) : await server.connect(era);
  return {
    ...{ project, model, client },
    async [Symbol.asyncDispose]() {
      await (server ?? client)[Symbol.asyncDispose]();
      await project[Symbol.asyncDispose]();
    },
  };
}

export async function createAssistantsProject(
  agents: ServedProjectOptions['agents'],
  play: ServedProjectOptions['play'],
  settings = '',
) {
  const project = await createTestProject(settings);
  for (const [name, frontmatter] of Object.entries(agents))
    await project.write(`agents/${name}.md`, `---\nname: ${name}\n${frontmatter}\n---\nYou work carefully.\n`);
  return { project, model: await project.serve(play) };
}

/** Calls of one client, with outputs that fit their schemas. */
export function toolsOf({ callTool }: AssistantsClient) {
  const poll = async (process_id: string, more: Partial<schemas.PollInput> = {}, key?: string) =>
    schemas.pollOutput.parse(await callTool('poll_assistant', { process_id, ...more }, key));
  return {
    poll,
    spawn: async (assistant_id: string, query: string) =>
      schemas.spawnOutput.parse(await callTool('spawn_assistant', { assistant_id, query })),
    receive: async (thread_id: string, more: Partial<schemas.ReceiveInput> = {}, key?: string) =>
      schemas.receiveOutput.parse(await callTool('recv_message', { thread_id, ...more }, key)),
    /** Messages end a wait too, so it may take several. */
    async untilEnded(process_id: string): Promise<schemas.PollOutput> {
      let status = await poll(process_id, { wait_ms: 20_000 });
      for (let look = 0; look < 100 && status.process.exit_code === undefined; look += 1)
        status = await poll(process_id, { wait_ms: 20_000 });
      return status;
    },
  };
}

/** The process that hosts a run, as soon as there is one. */
export async function runnerOf({ folder }: TestProject, run: string): Promise<number> {
  const newest = async (): Promise<number | undefined> =>
    only(await sessionOf(folder, run), 'process.started').at(-1)?.payload.pid;
  await expect.poll(newest).toBeGreaterThan(0);
  return (await newest()) ?? 0;
}

/** A real child of the server, alive, and without anything of the server's environment: no keys above all. */
export function expectConfinedChild(server: number, pid: number): void {
  expect(runningProcesses().find((one) => one.pid === pid)).toMatchObject({ parent: server });
  if (!existsSync('/proc/self/environ')) return;
  expect(readFileSync(`/proc/${server}/environ`, 'utf8')).not.toContain(KEY);
  expect(readFileSync(`/proc/${pid}/environ`, 'utf8')).toBe('');
}

export const isGone = (pid: number): boolean => runningProcesses().every((one) => one.pid !== pid);
