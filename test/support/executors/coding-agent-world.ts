/**
 * A project in which a coding agent works: its home and settings, a model server that plays its model, and a proxy that lets
 * nobody out and remembers who tried.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { ExecutorProtocol } from '../../../src/executors/entry.ts';
import { createTroupe, type Troupe } from '../../../src/index.ts';
import { startModelServer } from '../models/model-server.ts';
import type { Reply, SeenRequest } from '../models/script.ts';
// Where there are walls they work inside, as for everybody.
import '../sandbox/sandbox-here.ts';
import { CODING_AGENTS_PATH, type CodingAgent } from './coding-agents.ts';

export interface CodingAgentWorld {
  readonly troupe: Troupe;
  /** Where it works. */
  readonly work: string;
  /** Whoever it tried to reach outside of this machine. */
  readonly reached: readonly string[];
}

/** Told of each request that offers the tools; others are for titles and the like. */
export type Playing = (request: SeenRequest) => Reply;

export async function codingAgentWorld(
  agent: CodingAgent,
  protocol: ExecutorProtocol,
  plays: Playing,
): Promise<CodingAgentWorld> {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'troupe-coding-agent-')));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  const [work, home] = [join(folder, 'work'), join(folder, 'home')];
  mkdirSync(work);
  const { name } = agent.run('true');
  const server = await startModelServer((request) =>
    JSON.stringify(request.body['tools'] ?? '').includes(`"${name}"`) ? plays(request) : { text: '{"title":"A task"}' },
  );
  onTestFinished(() => server.close());
  const proxy = await noWayOut();
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  };
  for (const [path, text] of Object.entries(agent.home?.(server.origin) ?? {})) write(join('home', path), text);
  const { executor } = agent;
  write('troupe.yaml', 'workspace: work\n');
  write('agents/coder.md', `---\nname: coder\nexecutor: ${executor}\npermissions:\n  edit: allow\n---\nYou code.\n`);
  write('agents/lead.md', '---\nname: lead\nmodel: scripted:replies.yaml\narchitect: { executor: coder }\n---\nYou lead.\n');
  write('replies.yaml', JSON.stringify({ agents: { lead: LEAD } }));
  const env = { ...proxy.env, ...agent.quiet?.(home) };
  const sandbox = agent.sandbox?.(home, server.origin) ?? {};
  write('executors.yaml', JSON.stringify({ executors: { [executor]: { protocol, env, sandbox } } }));
  mkdirSync(home, { recursive: true });
  const path = [CODING_AGENTS_PATH, dirname(process.execPath), process.env['PATH']].join(delimiter);
  const troupe = await createTroupe({
    root: folder,
    env: { PATH: path, HOME: home, OLLAMA_HOST: '127.0.0.1:9', ...agent.environment(server.origin) },
  });
  onTestFinished(() => troupe.close());
  return { troupe, work, reached: proxy.reached };
}

/** What an architect says that has one file written. */
const LEAD = [
  {
    toolCalls: [
      {
        name: 'delegate',
        input: {
          tasks: [
            {
              ...{ goal: 'Write b.txt', include_paths: ['b.txt'], exclude_paths: [], acceptance: ['`grep -q hello b.txt`'] },
              constraints: { max_cli_calls: 4, max_duration_seconds: 600, no_touch: ['a.txt'] },
            },
          ],
        },
      },
    ],
  },
  { toolCalls: [{ name: 'judge', input: { tasks: [{ task_id: '*', verdict: 'accepted', why: 'It passes.' }] } }] },
  { finalReport: 'b.txt is there.' },
];

/** Programs that go by its variables are refused at once, and none of them waits for a network that is not there. */
async function noWayOut() {
  const reached: string[] = [];
  const proxy = createServer((request, response) => {
    reached.push(request.url ?? '');
    response.writeHead(502).end();
  });
  proxy.on('connect', (request, socket) => {
    reached.push(request.url ?? '');
    socket.on('error', () => undefined).end('HTTP/1.1 502 Bad Gateway\r\n\r\n');
  });
  await new Promise<void>((resolve) => proxy.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    proxy.closeAllConnections();
    proxy.close();
  });
  const address = proxy.address();
  const url = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
  const here = '127.0.0.1,localhost';
  const env = { HTTP_PROXY: url, HTTPS_PROXY: url, http_proxy: url, https_proxy: url, NO_PROXY: here, no_proxy: here };
  return { reached, env };
}
