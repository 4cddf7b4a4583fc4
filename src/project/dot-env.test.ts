import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../test/fixtures/agents/temporary-project.ts';
import { startModelServer } from '../../test/support/models/model-server.ts';
import { programOf } from '../../test/support/programs/programs.ts';
import { testTerminal } from '../../test/support/test-terminal.ts';
import { runProgram } from '../cli/program/program.ts';
import { loadConfig } from './config.ts';

const SECRET = 'svc-9Qx72LmTz4';
const named = (name: string): string => `\${${name}}`;

async function taken(cwd: string, env: Readonly<Record<string, string>> = {}) {
  const config = await loadConfig({ cwd, env: { HOME: cwd, ...env } });
  if (!config.ok) throw new Error('the settings are broken');
  return config.value;
}

describe('.env of a project', () => {
  it('gives the keys that are needed, and nothing else', async () => {
    await using project = await temporaryProject({
      '.env': 'OPENAI_API_KEY=a\nexport MINE_KEY="b"\nTICKETS=c\nOLLAMA_HOST=http://evil.example\nPATH=/evil\nOTHER_KEY=d\n',
      'troupe.yaml': [
        'providers: { mine: { baseURL: "http://127.0.0.1:1", apiKeyEnv: MINE_KEY } }',
        `mcp: { t: { command: x, env: { A: "${named('TICKETS')}", P: "${named('PATH')}" } } }`,
      ].join('\n'),
    });
    const { fromDotEnv, keyEnv } = await taken(project.root);
    expect(fromDotEnv).toEqual(['OPENAI_API_KEY', 'MINE_KEY', 'TICKETS']);
    expect(keyEnv).toEqual({ HOME: project.root, OPENAI_API_KEY: 'a', MINE_KEY: 'b', TICKETS: 'c' });
  });

  it.each([
    ['another server', 'OPENAI_BASE_URL=https://models.example/v1', {}, '', false],
    ['one that is no address', 'OPENAI_BASE_URL=models.example', {}, '', false],
    ['that of its provider', 'OPENAI_BASE_URL=https://api.openai.com/v1', {}, '', true],
    ['nothing', 'OPENAI_BASE_URL=', {}, '', true],
    ['that of others', 'ANTHROPIC_BASE_URL=https://models.example', {}, '', true],
    ['one where the environment has its own', 'OPENAI_BASE_URL=x://y', { OPENAI_BASE_URL: 'http://127.0.0.1:1' }, '', true],
    ['one where the settings have a provider for it', 'OPENAI_BASE_URL=x://y', {}, 'OPENAI_API_KEY', true],
  ])('gives a key beside the address of %s only to whom it is for', async (_what, line, env, named, expected) => {
    await using project = await temporaryProject({
      '.env': `OPENAI_API_KEY=${SECRET}\n${line}\nOTHER_KEY=x\n`,
      'troupe.yaml': named === '' ? '' : `providers: { mine: { baseURL: "http://127.0.0.1:1", apiKeyEnv: ${named} } }\n`,
    });
    const { fromDotEnv, keyEnv, dotEnvHeld } = await taken(project.root, env);
    expect([fromDotEnv.length, keyEnv['OPENAI_API_KEY'] === SECRET]).toEqual(expected ? [1, true] : [0, false]);
    expect(dotEnvHeld).toEqual(expected ? undefined : [{ key: 'OPENAI_API_KEY', address: 'OPENAI_BASE_URL' }]);
  });

  it('says of such a key that it is not taken, to doctor and before a run', async () => {
    await using project = await temporaryProject({
      '.env': `OPENAI_API_KEY=${SECRET}\nOPENAI_BASE_URL=https://models.example/v1\n`,
      'troupe.yaml': '',
      'agents/a.md': '---\nmodel: openai/gpt-5.5\n---\nHi.\n',
    });
    for (const args of [
      ['doctor', '--offline'],
      ['run', 'a', 'Hello'],
    ]) {
      const terminal = testTerminal({ env: { HOME: project.root, PATH: process.env['PATH'], OLLAMA_HOST: '127.0.0.1:1' } });
      await runProgram(['-C', project.root, ...args], terminal);
      const said = terminal.written.all.replaceAll(/\s+/g, ' ');
      expect(said).toContain('OPENAI_API_KEY beside it is not taken either');
      expect(said).toContain('Set OPENAI_BASE_URL in the environment');
    }
  });

  it('does not win over the environment', async () => {
    await using project = await temporaryProject({ '.env': 'OPENAI_API_KEY=file\n' });
    expect((await taken(project.root, { OPENAI_API_KEY: 'real' })).keyEnv['OPENAI_API_KEY']).toBe('real');
    expect((await taken(project.root, { OPENAI_API_KEY: '' })).keyEnv['OPENAI_API_KEY']).toBe('file');
  });

  it('is that of the project, not of a folder above or below it, nor one behind a link', async () => {
    await using project = await temporaryProject({
      '.env': 'OPENAI_API_KEY=above\n',
      'inner/troupe.yaml': '',
      'inner/deeper/.env': 'OPENAI_API_KEY=below\n',
    });
    const inner = join(project.root, 'inner');
    expect((await taken(join(inner, 'deeper'))).fromDotEnv).toEqual([]);
    await symlink(join(project.root, '.env'), join(inner, '.env'));
    expect((await taken(inner)).fromDotEnv).toEqual([]);
    expect((await taken(project.root)).fromDotEnv).toEqual(['OPENAI_API_KEY']);
  });

  it.each([
    ['a tab behind export', 'export\tOPENAI_API_KEY=sk-1\n', 'sk-1'],
    ['lines of Windows', '# keys\r\nOPENAI_API_KEY="sk-1"\r\nOTHER=2\r\n', 'sk-1'],
    ['a byte-order mark', '\ufeffOPENAI_API_KEY=sk-1\n', 'sk-1'],
    ['single quotes and a remark', "OPENAI_API_KEY='sk-#1' # of the team\n", 'sk-#1'],
    ['blanks around the sign', '  OPENAI_API_KEY = sk-1   # mine\n', 'sk-1'],
    ['no line end', 'OTHER=1\nOPENAI_API_KEY=sk-1', 'sk-1'],
    ['a value of many lines before it', 'CERT="-----BEGIN\nexport\tOPENAI_API_KEY=no\n-----END"\nOPENAI_API_KEY=sk-1\n', 'sk-1'],
    ['a line that is none', 'set -a\nnot a line\nOPENAI_API_KEY=sk-1\n', 'sk-1'],
    ['the same name twice', 'OPENAI_API_KEY=old\nexport OPENAI_API_KEY=sk-1\n', 'sk-1'],
    ['nothing behind the sign', 'OPENAI_API_KEY=\n', undefined],
  ])('is read with %s', async (_what, text, expected) => {
    await using project = await temporaryProject({ '.env': text });
    const { keyEnv, dotEnvProblem } = await taken(project.root);
    expect([keyEnv['OPENAI_API_KEY'], dotEnvProblem]).toEqual([expected, undefined]);
  });

  it('says why it is passed over, to doctor and before a run, and its secrets stay secret', async () => {
    await using project = await temporaryProject({
      'keys.txt': `OPENAI_API_KEY=${SECRET}\n`,
      'agents/a.md': '---\nmodel: scripted:r.yaml\ntools: [read]\n---\nHelp.\n',
      'r.yaml': '- toolCalls: [{ name: read, input: { path: keys.txt } }]\n- finalReport: "{{lastToolResult}}"\n',
    });
    await symlink(join(project.root, 'keys.txt'), join(project.root, '.env'));
    const env = { HOME: project.root, PATH: process.env['PATH'], OLLAMA_HOST: '127.0.0.1:1' };
    const said = async (...args: string[]) => {
      const terminal = testTerminal({ env });
      await runProgram(['-C', project.root, ...args], terminal);
      return terminal.written.all.replaceAll(/\s+/g, ' ');
    };
    const link = '.env is a link, and links are not followed: no key is taken from it';
    expect(await said('doctor', '--offline')).toContain(`note .env: ${join(project.root, link)}`);
    const ran = await said('run', 'a', 'go');
    expect(ran).toContain(`warning: ${link}`);
    expect(ran).toContain('[redacted:OPENAI_API_KEY]');
    expect(ran).not.toContain(SECRET);
    expect(await said('run', 'a', 'go', '--quiet')).not.toContain('warning');
    await rm(join(project.root, '.env'));
    await writeFile(join(project.root, '.env'), `OPENAI_API_KEY=${SECRET}\n${'#'.repeat(2_000_000)}\n`);
    expect(await said('doctor', '--offline')).toMatch(/note \.env: .* is larger than \d+ bytes/);
    await writeFile(join(project.root, '.env'), Buffer.from(`OPENAI_API_KEY=${SECRET}\n`, 'utf16le'));
    expect(await said('run', 'a', 'go')).toContain('warning: .env is a binary file');
    await rm(join(project.root, '.env'));
    await mkdir(join(project.root, '.env'));
    expect(await said('doctor', '--offline')).not.toContain('.env:');
  });

  it('is sent to its provider, and doctor names variable and file but not the key', async () => {
    const server = await startModelServer(() => ({ text: 'ok' }));
    await using project = await temporaryProject({
      '.env': `MINE_KEY=${SECRET}\n`,
      'troupe.yaml': `model: mine/x\nproviders: { mine: { baseURL: "${server.origin}/v1", apiKeyEnv: MINE_KEY } }\n`,
      'agents/a.md': '---\ndescription: d\n---\nHelp.\n',
    });
    const terminal = testTerminal({ env: { HOME: project.root, PATH: process.env['PATH'], OLLAMA_HOST: '127.0.0.1:1' } });
    expect(await runProgram(['-C', project.root, 'doctor'], terminal)).toBe(0);
    await server.close();
    expect(server.requests.map(({ headers }) => headers.authorization)).toEqual([`Bearer ${SECRET}`]);
    expect(terminal.written.out).toContain(`MINE_KEY (from ${join(project.root, '.env')})`);
    expect(terminal.written.out).not.toContain(SECRET);
  });
});

describe('what stands in .env', async () => {
  const script = await programOf(join(import.meta.dirname, '../../test/support/mcp/server.ts'));
  const server = (more: object) => ({ command: process.execPath, args: [script], ...more });
  const settings = {
    mcp: { told: server({ env: { GIVEN: named('SERVICE_KEY') } }), plain: server({}) },
    permissions: { shell: 'allow', 'mcp:told': 'allow', 'mcp:plain': 'allow' },
  };

  it.each([
    ['a command does not see', 'shell', { command: 'echo "[$SERVICE_KEY][$OPENAI_API_KEY]"' }, '[][]'],
    ['a server does not see', 'plain__variable', { name: 'SERVICE_KEY' }, '(not set)'],
    ['a server sees when the settings name it', 'told__variable', { name: 'GIVEN' }, '[redacted:SERVICE_KEY]'],
    ['an agent that reads the file does not see', 'read', { path: '.env' }, '[redacted:SERVICE_KEY]'],
  ])('%s', async (_what, name, input, expected) => {
    await using project = await temporaryProject({
      '.env': `SERVICE_KEY=${SECRET}\nOPENAI_API_KEY=${SECRET}2\n`,
      'troupe.yaml': JSON.stringify(settings),
      'agents/a.md': '---\nmodel: scripted:r.yaml\ntools: [shell, read, mcp:told, mcp:plain]\n---\nHelp.\n',
      'r.yaml': JSON.stringify([{ toolCalls: [{ name, input }] }, { finalReport: '{{lastToolResult}}' }]),
    });
    const env = { HOME: project.root, XDG_STATE_HOME: join(project.root, '.state'), PATH: process.env['PATH'] };
    const terminal = testTerminal({ env });
    expect(await runProgram(['-C', project.root, 'run', 'a', 'go', '--quiet'], terminal)).toBe(0);
    expect(terminal.written.out).toContain(expected);
    expect(terminal.written.all).not.toContain(SECRET);
  });
});
