/**
 * A real agent of version 0.3 that Troupe calls: the A2A server of Gemini CLI, against a local model server, no key needed.
 * `node test/support/a2a/gemini-main.ts <folder>`, where `npm i @google/gemini-cli-a2a-server@0.25.2` has put it: half a
 * gigabyte, which is why it is no part of the tests. Says what came of it, and ends with 1 if that is not what should.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePorts } from '../../../src/cluster/free-ports.ts';
import { startModelServer } from '../models/model-server.ts';

const SERVER = 'node_modules/@google/gemini-cli-a2a-server/dist/a2a-server.mjs';
const MAIN = join(import.meta.dirname, '../../../src/cli/main.ts');
const { PATH = '' } = process.env;

async function reachable(url: string): Promise<void> {
  for (;;) {
    const answered = await fetch(url).catch(() => undefined);
    if (answered?.ok === true) return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function troupe(folder: string, ...args: readonly string[]): Promise<string> {
  const env = { PATH, HOME: folder, NO_COLOR: '1' };
  const child = spawn(process.execPath, [MAIN, '-C', folder, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  await new Promise((resolve) => child.on('close', resolve));
  process.stdout.write(`$ troupe ${args.join(' ')}\n${out}\n`);
  return out;
}

const [, , place = '.'] = process.argv;
const folder = await mkdtemp(join(tmpdir(), 'troupe-gemini-'));
await mkdir(join(folder, 'agents'));
const MADE = 'made-there.txt';
const model = await startModelServer(({ index }) =>
  index === 1
    ? { calls: [{ name: 'run_shell_command', input: { command: `touch ${MADE}`, description: 'Makes a file' } }] }
    : { text: `Gemini says ${index}.` },
);
const [port = 0] = await freePorts([0]);
const server = spawn(process.execPath, [join(place, SERVER)], {
  env: {
    ...{ PATH, HOME: folder, GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: model.origin, GEMINI_FOLDER_TRUST: 'true' },
    ...{ CODER_AGENT_PORT: `${port}`, CODER_AGENT_WORKSPACE_PATH: folder },
  },
  stdio: 'ignore',
});
try {
  const card = `http://127.0.0.1:${port}/.well-known/agent-card.json`;
  await reachable(card);
  await writeFile(join(folder, 'agents', 'gemini.md'), `---\nname: gemini\ndescription: A coder elsewhere\na2a: ${card}\n---\n`);
  // It ends every turn with the wish to hear more: its answer is the question.
  const first = await troupe(folder, 'run', 'gemini', 'Say hello.', '--json');
  // Before it uses a tool it asks leave, in data: what it wants to run is shown whole, and nothing is run until it is allowed.
  const asks = await troupe(folder, 'answer', 'last', 'Make a file.', '--json');
  const early = existsSync(join(folder, MADE));
  // It gives up what it asked leave for as soon as whoever it asked hangs up, so that nothing comes of the answer of another
  // process.
  const answered = await troupe(folder, 'answer', 'last', 'allow', '--json');
  const asked = asks.includes(`touch ${MADE}`) && !early;
  const works = first.includes('Gemini says 0.') && asked && answered.includes('Operation Cancelled');
  process.stdout.write(works ? 'It works.\n' : `It does not work: the model was asked ${model.requests.length} times.\n`);
  process.exitCode = works ? 0 : 1;
} finally {
  server.kill('SIGKILL');
  await model.close();
  await rm(folder, { recursive: true, force: true });
}
