/**
 * A real client of version 0.3 that calls Troupe: Gemini CLI with a remote agent, against local model servers, no key needed.
 * `node test/support/a2a/gemini-client-main.ts <folder>`, where `npm i @google/gemini-cli@0.61.0` has put it: a hundred
 * megabytes, which is why it is no part of the tests. Says what came of it, and ends with 1 if that is not what should.
 */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { startModelServer } from '../models/model-server.ts';
import { ALICE, served } from './served.ts';

const CLI = 'node_modules/@google/gemini-cli/bundle/gemini.js';
const ASKED = 'Set the bedroom to 18 degrees.';
const { PATH = '' } = process.env;

const [, , place = '.'] = process.argv;
await using server = await served({ play: () => ({ text: 'The bedroom is at 18 degrees.' }) });
const home = await mkdtemp(join(tmpdir(), 'troupe-gemini-client-'));
await mkdir(join(home, '.gemini', 'agents'), { recursive: true });
await writeFile(
  join(home, '.gemini', 'settings.json'),
  JSON.stringify({
    experimental: { enableAgents: true },
    security: { folderTrust: { enabled: false }, auth: { selectedType: 'gemini-api-key' } },
  }),
);
const card = `${server.origin}/a2a/agents/helper/.well-known/agent-card.json`;
const auth = 'auth:\n  type: http\n  scheme: Bearer\n  token: $TROUPE_A2A_TOKEN';
await writeFile(
  join(home, '.gemini', 'agents', 'house.md'),
  `---\nkind: remote\nname: house\ndescription: Keeps the house warm\nagent_card_url: ${card}\n${auth}\n---\n`,
);
const model = await startModelServer(({ toolResults, body }) =>
  toolResults === 0
    ? { calls: [{ name: 'invoke_agent', input: { agent_name: 'house', prompt: ASKED } }] }
    : { text: JSON.stringify(body).includes('at 18 degrees') ? 'The house did it.' : 'The house said something else.' },
);
try {
  const env = {
    ...{ PATH, HOME: home, TROUPE_A2A_TOKEN: ALICE, GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: model.origin },
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  };
  const args = [join(resolve(place), CLI), '--yolo', '-m', 'gemini-2.5-flash', '-p', 'Ask the house for 18 degrees.'];
  const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'inherit'] });
  let out = '';
  child.stdout.on('data', (text) => (out += text));
  await new Promise((ended) => child.on('close', ended));
  const runs = await server.project.ledger.runs({ roots: true });
  const works = out.includes('The house did it.') && runs.length === 1 && runs[0]?.state === 'completed';
  process.stdout.write(`${out}\n${works ? 'It works.' : `It does not work: ${runs.length} tasks.`}\n`);
  process.exitCode = works ? 0 : 1;
} finally {
  await model.close();
  await rm(home, { recursive: true, force: true });
}
