/** A real project with a model that is a function, behind the real API on a free port. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { exportPieces } from '../../../src/cli/export/pieces.ts';
import { createServedEdges } from '../../../src/cli/serving/edges.ts';
import { createTakeBundle } from '../../../src/cli/serving/served-bundles.ts';
import { createExamples } from '../../../src/front/project/examples.ts';
import type { ConsoleFiles } from '../../../src/http/console/files.ts';
import type { Model } from '../../../src/models/port.ts';
import { openProject } from '../../../src/project/open.ts';
import type { Project } from '../../../src/project/project.ts';
import type { McpCaller } from '../../../src/protocols/mcp/needs.ts';
import type { Brain } from '../world.ts';
import { type ApiServer, startApi } from './api-server.ts';

export interface ServedWorld extends ApiServer {
  readonly project: Project;
  readonly folder: string;
  /** Another server over the same project, as after a restart of the first. */
  again(): Promise<ApiServer>;
}

export interface ServedOptions {
  readonly brain: Brain;
  readonly agents: readonly AgentDefinition[];
  readonly callers?: Readonly<Record<string, McpCaller>>;
  /** What troupe.yaml says of the server. */
  readonly serve?: Project['config']['serve'];
  readonly clock?: Clock;
  readonly pages?: ConsoleFiles | undefined;
}

export async function serveWorld({
  brain,
  agents,
  callers = {},
  serve = {},
  clock = systemClock,
  pages,
}: ServedOptions): Promise<ServedWorld> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-api-'));
  let asked = 0;
  const model: Model = {
    id: 'test/model',
    account: 'test',
    async ask(request) {
      asked += 1;
      return await brain(request, asked);
    },
  };
  const opening = { cwd: folder, root: folder, env: { HOME: folder }, lasting: true };
  const project = await openProject(opening, { agents, models: [model] });
  const { ledger } = project;
  // Closed with the project.
  const kept = { ...ledger, close: async () => undefined };
  const served = { ...project, config: { ...project.config, serve } };
  const edges = (onError: (error: Error) => void) =>
    createServedEdges({ project: served, clock, options: {}, agents: { list: async () => agents }, onError });
  const examples = createExamples({
    env: { PATH: process.env['PATH'], HOME: folder },
    ledger: project.config.ledgerAddress,
    onError: () => undefined,
  });
  const takeBundle = createTakeBundle({ project, env: { HOME: folder }, clock });
  const start = (): Promise<ApiServer> =>
    startApi({ ledger: kept, callers, pages, more: { project, examples, documents: exportPieces, takeBundle }, edges });
  const server = await start();
  return {
    ...server,
    project,
    folder,
    again: start,
    async [Symbol.asyncDispose]() {
      await server[Symbol.asyncDispose]();
      await examples.close();
      await project.close();
      await rm(folder, { recursive: true, force: true });
    },
  };
}
