import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type TemporaryProject, temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { startModelServer } from '../../../test/support/models/model-server.ts';
import type { ServerScript } from '../../../test/support/models/script.ts';
import { programOf } from '../../../test/support/programs/programs.ts';
import { testTerminal } from '../../../test/support/test-terminal.ts';
import { loadConfig } from '../../project/config.ts';
import { createVirtualClock } from '../../testing/virtual-clock.ts';
import { runProgram } from '../program/program.ts';
import { modelFindings } from './model-findings.ts';

/** An address where nobody listens. */
const NOBODY = '127.0.0.1:1';
const mcpServer = await programOf(join(import.meta.dirname, '../../../test/support/mcp/server.ts'));

const environment = (project: TemporaryProject, more: Readonly<Record<string, string>>) => ({
  ...{ HOME: project.root, XDG_STATE_HOME: join(project.root, '.state'), PATH: process.env['PATH'], OLLAMA_HOST: NOBODY },
  ...more,
});

/** The findings about models and servers, as `ok model: …`, and how it ended. */
async function doctor(files: Readonly<Record<string, string>>, env: Readonly<Record<string, string>>, ...args: string[]) {
  await using project = await temporaryProject(files);
  const terminal = testTerminal({ env: environment(project, env) });
  const code = await runProgram(['-C', project.root, 'doctor', ...args], terminal);
  const lines = terminal.written.out.split('\n').map((line) => line.replace(/ {2,}/g, ' '));
  return { code, lines, about: (what: string) => lines.filter((line) => line.includes(` ${what}`) && !line.startsWith(' fix')) };
}

async function withServer<Value>(script: ServerScript, work: (env: Record<string, string>) => Promise<Value>): Promise<Value> {
  const server = await startModelServer(script);
  try {
    return await work({ OPENAI_BASE_URL: `${server.origin}/v1`, OPENAI_MODEL: 'small', OPENAI_API_KEY: 'sk-test-key' });
  } finally {
    await server.close();
  }
}

const AGENT = '---\ndescription: d\n---\nHelp.\n';
const NAMED = (model: string): string => `---\nmodel: ${model}\n---\nHelp.\n`;

describe('doctor asks the model that would be used', () => {
  it('and says which it is, why, how long it took and what it cost', async () => {
    const asked: number[] = [];
    const script: ServerScript = ({ body }) => {
      asked.push(Number(body['max_tokens']));
      return { text: 'ok', usage: { input: 10, output: 1 } };
    };
    const files = { 'agents/a.md': AGENT, 'troupe.yaml': 'prices: { openai/small: { input: 100, output: 0 } }\n' };
    const { code, about } = await withServer(script, (env) => doctor(files, env));
    expect(about('model: ')).toEqual([
      expect.stringMatching(
        /^ok model: openai\/small \(because OPENAI_BASE_URL and OPENAI_MODEL are set\): answered in .*, cost \$0\.001$/,
      ),
    ]);
    expect(code).toBe(0);
    expect(asked).toEqual([16]);
  });

  it('and a wrong key, a dead address and a wrong name are broken', async () => {
    const refused = await withServer(
      () => ({ fault: 'status', status: 401 }),
      (env) => doctor({ 'agents/a.md': AGENT }, env),
    );
    expect(refused.code).toBe(1);
    expect(refused.about('model: ')).toEqual([expect.stringMatching(/^broken model: .*refused the key/)]);
    expect(refused.lines).toContainEqual(expect.stringContaining('fix: set the right key'));
    expect(refused.lines.join('\n')).not.toContain('sk-test-key');
    const dead = await doctor({ 'agents/a.md': AGENT }, { OPENAI_BASE_URL: `http://${NOBODY}/v1`, OPENAI_MODEL: 'small' });
    expect(dead).toMatchObject({ code: 1 });
    expect(dead.about('model: ')).toEqual([expect.stringMatching(/^broken model: .*cannot be reached/)]);
    const unknown = await doctor({ 'agents/a.md': NAMED('opnai/small') }, {});
    expect(unknown.about('model: ')).toEqual([
      expect.stringMatching(/^broken model: opnai\/small \(named by the agent a\): There is no model/),
    ]);
  });

  it('and nothing to ask is broken too', async () => {
    const { code, about, lines } = await doctor({}, {});
    expect(code).toBe(1);
    expect(about('model: ')).toEqual([expect.stringMatching(/^broken model: No model was found/)]);
    expect(lines.join('\n')).toContain('ANTHROPIC_API_KEY');
  });

  it('and one that falls back on another, or lacks a key while others work, is a note', async () => {
    const files = {
      'agents/a.md': NAMED('[dead/x, openai/small]'),
      'agents/b.md': NAMED('anthropic/claude-sonnet-5'),
      'troupe.yaml': `providers: { dead: { baseURL: "http://${NOBODY}/v1" } }\n`,
    };
    const { code, about } = await withServer(
      () => ({ text: 'ok' }),
      (env) => doctor(files, env),
    );
    expect(about('model: ')).toEqual([
      expect.stringMatching(
        /^note model: dead\/x \(named by the agent a\): dead cannot be reached.*; openai\/small: answered in /,
      ),
      expect.stringMatching(/^note model: anthropic\/claude-sonnet-5 .*There is no key for anthropic/),
    ]);
    expect(code).toBe(0);
    const alone = await doctor({ 'agents/b.md': NAMED('anthropic/claude-sonnet-5') }, {});
    expect(alone.about('model: ')).toEqual([expect.stringMatching(/^broken model: anthropic/)]);
  });

  it('and asks nobody with --offline, nor for a script', async () => {
    let asked = 0;
    const count: ServerScript = () => {
      asked += 1;
      return { text: 'ok' };
    };
    const offline = await withServer(count, (env) => doctor({ 'agents/a.md': AGENT }, env, '--offline'));
    expect(offline).toMatchObject({ code: 0 });
    expect(offline.about('model: ')).toEqual([expect.stringMatching(/^ok model: openai\/small .*: not asked \(--offline\)$/)]);
    expect(asked).toBe(0);
    const script = { 'agents/a.md': NAMED('scripted:r.yaml'), 'r.yaml': '- text: hi\n' };
    expect((await doctor(script, {})).about('model: ')).toEqual([expect.stringMatching(/^ok model: scripted:r\.yaml/)]);
    expect((await doctor({ 'agents/a.md': NAMED('scripted:r.yaml') }, {})).code).toBe(1);
  });

  it('and one that does not answer in time is broken, and the limit has a name', async () => {
    await using project = await temporaryProject();
    await withServer(
      () => ({ fault: 'hang' }),
      async (given) => {
        const env = environment(project, given);
        const config = await loadConfig({ cwd: project.root, env });
        if (!config.ok) throw new Error('no settings');
        const clock = createVirtualClock(0);
        const openProject = () => Promise.reject(new Error('not needed'));
        const context = { terminal: testTerminal({ env }), clock, cwd: project.root, openProject };
        const found = modelFindings(context, { config: config.value, agents: [], offline: false });
        expect((await clock.until(found)).findings).toEqual([
          expect.objectContaining({ state: 'broken', text: expect.stringContaining('no answer within 20.0s (doctorModelMs)') }),
        ]);
      },
    );
  });

  it('and none where an agent lives elsewhere, which has its own', async () => {
    const elsewhere = 'http://127.0.0.1:1/.well-known/agent-card.json';
    const only = await doctor({ 'agents/far.md': `---\na2a: ${elsewhere}\n---\n` }, {}, '--offline');
    expect(only).toMatchObject({ code: 0 });
    expect(only.about('model')).toEqual([]);
    const settings = `model: openai/small\nagents: { far: { a2a: "${elsewhere}" } }\n`;
    const both = await withServer(
      () => ({ text: 'ok' }),
      (env) => doctor({ 'agents/a.md': AGENT, 'troupe.yaml': settings }, env),
    );
    expect(both.about('model: ')).toEqual([expect.stringMatching(/^ok model: openai\/small .*: answered/)]);
    expect(both.about('remote ')).toEqual([expect.stringMatching(/^broken remote far: /)]);
  });

  it('and those that an agent gives to others or chooses with', async () => {
    const asked: unknown[] = [];
    const script: ServerScript = ({ body }) => {
      asked.push(body['model']);
      return { text: 'ok' };
    };
    const files = {
      'agents/a.md': NAMED('openai/own'),
      'agents/b.md': '---\nmodel: openai/own\ndispatch: { agents: [a], model: openai/chooser }\n---\nChoose.\n',
      'agents/c.md': '---\nmodel: openai/own\ngroup: { mode: broadcast, workers: [{ agent: a, model: dead/x }] }\n---\nLead.\n',
      'troupe.yaml': `providers: { dead: { baseURL: "http://${NOBODY}/v1" } }\n`,
    };
    const { about, code } = await withServer(script, (env) => doctor(files, env));
    expect(asked.toSorted()).toEqual(['chooser', 'own']);
    expect(about('model: ')).toEqual([
      expect.stringMatching(/^ok model: openai\/own \(named by the agent a and in 2 more places\): answered/),
      expect.stringMatching(/^ok model: openai\/chooser \(named by the agent b under dispatch\): answered/),
      expect.stringMatching(/^broken model: dead\/x \(named by the agent c under group\): dead cannot be reached/),
    ]);
    expect(code).toBe(1);
  });

  it.each([
    ['sends the request elsewhere', 302, /HTTP 302\): https:\/\/login\.example/, /address of the server itself/],
    ['has no such path', 404, /HTTP 404/, /the address: for many servers it ends in \/v1/],
  ])('and says what to do about one that %s', async (_what, status, text, fix) => {
    const { lines, about } = await withServer(
      () => ({ fault: 'status', status, headers: { location: 'https://login.example/?next=x' } }),
      (env) => doctor({ 'agents/a.md': AGENT }, env),
    );
    expect(about('model: ')).toEqual([expect.stringMatching(text)]);
    expect(lines.find((line) => line.startsWith(' fix'))).toMatch(fix);
  });

  it('and says of an address without a list of models what is wrong with it', async () => {
    const said = async (address: string) =>
      (await doctor({ 'agents/a.md': AGENT }, { OPENAI_BASE_URL: address })).about('model: ').join('\n');
    expect(await said(`http://${NOBODY}/v1`)).toContain('OPENAI_BASE_URL is set, but nobody answers there.');
    expect(await said('not an address')).toContain('OPENAI_BASE_URL is set, but it is no address.');
    const server = await startModelServer(() => ({ text: '' }));
    expect(await said(`${server.origin}/v1`)).toContain(
      'but the server there answers with HTTP 404 when it is asked for its models.',
    );
    await server.close();
  });
});

describe('doctor says of a key what became of it', () => {
  const MINE = (origin: string): string => `model: mine/x\nproviders: { mine: { baseURL: "${origin}", apiKeyEnv: MINE_KEY } }\n`;

  it('under whatever name the settings give it', async () => {
    const server = await startModelServer(() => ({ text: 'ok' }));
    const files = { 'agents/a.md': AGENT, 'troupe.yaml': MINE(`${server.origin}/v1`) };
    const { about } = await doctor(files, { MINE_KEY: 'sk-mine-key', GEMINI_API_KEY: 'other' });
    await server.close();
    expect(about('keys: ')).toEqual(['ok keys: GEMINI_API_KEY is set, not tried; MINE_KEY works']);
    const without = await doctor({ 'agents/a.md': AGENT, 'troupe.yaml': MINE(`http://${NOBODY}/v1`) }, {});
    expect(without.about('keys: ')).toEqual(['note keys: none in the environment']);
    expect(without.lines.filter((line) => line.startsWith(' fix'))).toContainEqual(expect.stringContaining('set MINE_KEY'));
  });

  it('and never that one is right which is refused or no key at all', async () => {
    const refused = await withServer(
      () => ({ fault: 'status', status: 401 }),
      (env) => doctor({ 'agents/a.md': AGENT }, env),
    );
    expect(refused.about('keys: ')).toEqual(['broken keys: OPENAI_API_KEY is refused by openai']);
    const broken = await doctor({ 'agents/a.md': AGENT }, { ANTHROPIC_API_KEY: 'sk-one\nsk-two' });
    expect(broken.about('keys: ')).toEqual(['broken keys: ANTHROPIC_API_KEY has a line break']);
    expect(broken.lines.join('\n')).not.toContain('sk-');
  });

  it('and that none is needed where none is', async () => {
    const { about } = await withServer(
      () => ({ text: 'ok' }),
      ({ OPENAI_API_KEY: _, ...env }) => doctor({ 'agents/a.md': AGENT }, env),
    );
    expect(about('keys: ')).toEqual(['ok keys: none in the environment, and what answers needs none']);
  });
});

it('doctor names presets that are passed over', async () => {
  const presets = { '.config/troupe/presets.json': JSON.stringify([{ name: 'Mine', mode: 'broadcast', workers: 5 }]) };
  const { about, code } = await doctor({ 'agents/a.md': NAMED('scripted:r.yaml'), 'r.yaml': '- text: hi\n', ...presets }, {});
  expect(about('presets: ')).toEqual([expect.stringMatching(/^note presets: .*presets\.json: preset "Mine" is passed over/)]);
  expect(about('agents: ')).toEqual([expect.stringMatching(/^ok agents: 1 found, no errors, 1 warning: see troupe .*check$/)]);
  expect(code).toBe(0);
});

describe('doctor starts the MCP servers', () => {
  const yaml = (servers: object): string => `model: scripted:r.yaml\nmcp: ${JSON.stringify(servers)}\n`;
  const files = (servers: object) => ({ 'agents/a.md': AGENT, 'r.yaml': '- text: hi\n', 'troupe.yaml': yaml(servers) });

  it('and counts their tools', async () => {
    const { code, about } = await doctor(files({ good: { command: process.execPath, args: [mcpServer] } }), {});
    expect(about('mcp ')).toEqual([expect.stringMatching(/^ok mcp good: started, has \d+ tools \(troupe\.yaml\)$/)]);
    expect(code).toBe(0);
  });

  it('and one that cannot be started is broken, one at an address is left alone with --offline', async () => {
    const servers = { gone: { command: 'no-such-program-here' }, far: { url: `http://${NOBODY}/mcp` } };
    const { code, about } = await doctor(files(servers), {}, '--offline');
    expect(code).toBe(1);
    expect(about('mcp ')).toEqual([
      expect.stringMatching(/^broken mcp gone: the MCP server gone could not be started: /),
      'note mcp far: not asked (--offline) (troupe.yaml)',
    ]);
    expect((await doctor(files({ far: servers.far }), {})).about('mcp ')).toEqual([expect.stringMatching(/^broken mcp far: /)]);
  });

  it('but none that an agent file brings and nobody has allowed', async () => {
    const agent = '---\ntools: [mcp:own]\nmcp: { own: { command: no-such-program-here } }\n---\nHelp.\n';
    const { code, about } = await doctor({ ...files({}), 'agents/a.md': agent }, {});
    expect(about('mcp: ')).toEqual([expect.stringMatching(/^note mcp: not started .*agents allow/)]);
    expect(code).toBe(0);
  });
});

describe('commands that only read, or are refused', () => {
  it.each([
    ['doctor'],
    ['check'],
    ['ps'],
    ['inbox'],
    ['show', 'last'],
    ['logs', 'last'],
    ['why', 'last'],
    ['cost'],
    ['agents', 'list'],
    ['agents', 'search', 'somebody'],
    ['presets', 'list'],
    ['groups', 'list'],
    ['permissions', 'list'],
    ['servers', 'list'],
    ['ledger', 'stats'],
    ['ledger', 'verify'],
    ['sessions'],
    ['tasks', 'list'],
    ['models', '--offline'],
    ['executors', 'list'],
    ['export', 'last'],
    ['artifacts', 'list', 'last'],
    ['attach', 'last'],
    ['run', 'nobody', 'x'],
    ['run', '--continue', 'x'],
    ['run', 'nobody', 'x', '--session', 'abc'],
    ['groups', 'send', 'nobody', 'x'],
    ['groups', 'create', 'x', '--preset', 'nothing'],
    ['measure', 'nobody', 'x.yaml'],
    ['chat', 'nobody'],
  ])('%s %s leaves nothing in a folder', async (...args) => {
    await using project = await temporaryProject();
    const terminal = testTerminal({ env: environment(project, {}) });
    await runProgram(['-C', project.root, ...args], terminal);
    expect(terminal.written.all).not.toBe('');
    expect(await readdir(project.root)).toEqual([]);
  });

  it('nor does a run without a key', async () => {
    await using project = await temporaryProject({ 'agents/a.md': NAMED('anthropic/claude-sonnet-5') });
    const terminal = testTerminal({ env: environment(project, {}) });
    expect(await runProgram(['-C', project.root, 'run', 'a', 'x'], terminal)).not.toBe(0);
    expect(terminal.written.progress).toContain('There is no key for anthropic');
    expect(await readdir(project.root)).toEqual(['agents']);
  });
});
