/** The official inspector, as a command, against `troupe mcp` and `troupe serve`, in both revisions. */
import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/base/json.ts';
import { PATIENCE_MS } from '../support/patience.ts';
import { createTestProject, type Ended, MAIN, objectIn, type TestProject } from './support-project.ts';

const LAUNCHER = '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js';
const INSPECTOR = fileURLToPath(new URL(LAUNCHER, import.meta.url));
const TOKEN = 'inspector-token-0123456789';
/** What the inspector exits with when a tool reports an error. */
const TOOL_ERROR = 5;

let project: TestProject;
let server: ChildProcess | undefined;
let url = '';

beforeAll(async () => {
  project = await createTestProject('', '---\nname: helper\ndescription: Helps with everything\n---\nYou help.\n');
  await project.script({ text: 'It is done.' });
  const env = { ...project.env, TROUPE_TOKEN: TOKEN };
  server = spawn(process.execPath, [MAIN, '-C', project.folder, 'serve', '--port', '0'], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  if (server.stdout === null) throw new Error('no stdout');
  for await (const line of createInterface({ input: server.stdout })) {
    url = line;
    break;
  }
});

afterAll(async () => {
  server?.kill();
  await project[Symbol.asyncDispose]();
});

type Ask = (...args: readonly string[]) => Promise<Ended>;

function asker(transport: string, era: string): Ask {
  const common = ['--cli', '--format', 'json', '--quiet', '--connect-timeout', String(PATIENCE_MS), '--protocol-era', era];
  const overHttp = ['--server-url', url, '--transport', 'http', '--header', `Authorization: Bearer ${TOKEN}`];
  const overStdio = ['--', process.execPath, MAIN, '-C', project.folder, 'mcp'];
  return (...args) => {
    const all = transport === 'http' ? [...common, ...overHttp, ...args] : [...common, ...args, ...overStdio];
    const env = { ...project.env, NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'] };
    const child = spawn(process.execPath, [INSPECTOR, ...all], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    let err = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => (out += text));
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    return new Promise((resolve) => child.on('close', (code) => resolve({ code, out, err })));
  };
}

async function ok(ended: Promise<Ended>): Promise<JsonObject> {
  const { code, out, err } = await ended;
  expect(code, `${out}${err}`).toBe(0);
  return objectIn(out);
}

describe.each(['stdio', 'http'])('the inspector over %s', (transport) => {
  it.each(['legacy', 'modern'])('sees tools, resources and prompts (%s)', async (era) => {
    const ask = asker(transport, era);
    const call = (name: string, input: unknown): Promise<Ended> =>
      ask('--method', 'tools/call', '--tool-name', name, '--tool-args-json', JSON.stringify(input));
    const [tools, called] = await Promise.all([
      // Also exits with an error when a schema could not be read by some client.
      ok(ask('--method', 'tools/list', '--strict')),
      ok(call('search_assistant', { query: 'somebody who helps' })),
    ]);
    expect(tools).toMatchObject({
      result: { tools: expect.arrayContaining([expect.objectContaining({ name: 'spawn_assistant' })]) },
    });
    expect(JSON.stringify(called)).toContain('helper');
    const [refused, resources] = await Promise.all([
      call('spawn_assistant', { assistant_id: 'nobody', query: 'Go.' }),
      ok(ask('--method', 'resources/list')),
    ]);
    expect(refused.code, refused.out + refused.err).toBe(TOOL_ERROR);
    expect(JSON.stringify(resources)).toContain('troupe://agents/helper');
    const [resource, prompts, prompt] = await Promise.all([
      ok(ask('--method', 'resources/read', '--uri', 'troupe://agents/helper')),
      ok(ask('--method', 'prompts/list')),
      ok(ask('--method', 'prompts/get', '--prompt-name', 'helper', '--prompt-args', 'task=Tidy')),
    ]);
    expect(JSON.stringify(resource)).toContain('You help.');
    expect(prompts).toMatchObject({ result: { prompts: [{ name: 'helper' }] } });
    expect(JSON.stringify(prompt)).toContain('Tidy');
  });
});
