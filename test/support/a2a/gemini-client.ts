/** A real client of version 0.3 that calls Troupe: Gemini CLI with a remote agent, against local model servers, no key needed. */
import { spawn } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startModelServer } from '../models/model-server.ts';
import { ALICE, type Served } from './served.ts';

const CLI = join(import.meta.dirname, '../../../tools/coding-agents/node_modules/@google/gemini-cli/bundle/gemini.js');

/** It asks the agent `helper` of the server, with a token. Gives what it printed, in which its own model says what it heard. */
export async function geminiAsks({ origin }: Served, asked: string, made: (heard: string) => string): Promise<string> {
  const home = await mkdtemp(join(tmpdir(), 'troupe-gemini-client-'));
  const model = await startModelServer(({ toolResults, body }) =>
    toolResults === 0
      ? { calls: [{ name: 'invoke_agent', input: { agent_name: 'house', prompt: asked } }] }
      : { text: made(JSON.stringify(body)) },
  );
  try {
    await mkdir(join(home, '.gemini', 'agents'), { recursive: true });
    await writeFile(join(home, '.gemini', 'settings.json'), JSON.stringify(SETTINGS));
    const card = `${origin}/a2a/agents/helper/.well-known/agent-card.json`;
    const auth = 'auth:\n  type: http\n  scheme: Bearer\n  token: $TROUPE_A2A_TOKEN';
    await writeFile(
      join(home, '.gemini', 'agents', 'house.md'),
      `---\nkind: remote\nname: house\ndescription: Keeps the house warm\nagent_card_url: ${card}\n${auth}\n---\n`,
    );
    const env = {
      ...{ PATH: process.env['PATH'] ?? '', HOME: home, TROUPE_A2A_TOKEN: ALICE, GEMINI_CLI_TRUST_WORKSPACE: 'true' },
      ...{ GEMINI_API_KEY: 'test', GOOGLE_GEMINI_BASE_URL: model.origin },
    };
    const args = [CLI, '--yolo', '-m', 'gemini-2.5-flash', '-p', 'Ask the house.'];
    const child = spawn(process.execPath, args, { cwd: home, env, stdio: ['ignore', 'pipe', 'pipe'] });
    let out = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (out += text));
    await new Promise((ended) => child.on('close', ended));
    return out;
  } finally {
    await model.close();
    await rm(home, { recursive: true, force: true });
  }
}

const SETTINGS = {
  ...{ experimental: { enableAgents: true }, general: { enableAutoUpdate: false } },
  ...{ privacy: { usageStatisticsEnabled: false }, telemetry: { enabled: false } },
  security: { folderTrust: { enabled: false }, auth: { selectedType: 'gemini-api-key' } },
};
