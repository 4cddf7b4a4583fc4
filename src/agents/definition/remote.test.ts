/** What a file may say of an agent that lives elsewhere. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadAgent } from '../file/load.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';
import { defineAgent } from './define-agent.ts';

const CARD = 'https://weather.example/.well-known/agent-card.json';

async function load(head: string, body = '') {
  const root = await mkdtemp(join(tmpdir(), 'troupe-remote-file-'));
  try {
    const path = join(root, 'weather.md');
    await writeFile(path, `---\n${head}\n---\n${body}`);
    const loaded = await loadAgent({ path, root });
    const problems = loaded.ok ? loaded.value.diagnostics : loaded.error;
    return { agent: loaded.ok ? loaded.value.definition : undefined, problems: problems.map(formatDiagnostic) };
  } finally {
    await rm(root, { recursive: true, force: true });
  }
}

describe('a file of an agent that lives elsewhere', () => {
  it('needs only the address of its card', async () => {
    const { agent, problems } = await load(`a2a: ${CARD}`);
    expect(problems).toEqual([]);
    expect(agent).toMatchObject({ name: 'weather', remote: { card: CARD }, models: ['a2a:weather.example'] });
    expect(agent).not.toHaveProperty('a2a');
  });

  it('may say how one is let in, by the name of a variable', async () => {
    const pin = 'a'.repeat(64);
    const token = `\${WEATHER_TOKEN}`;
    const more = `headers: { x-team: blue }, pin: "${pin}", binding: HTTP+JSON, idempotent: true, extensions: ["urn:polite"]`;
    const { agent, problems } = await load(`a2a: { card: "${CARD}", token: "${token}", ${more} }`);
    expect(problems).toEqual([]);
    expect(agent?.remote).toEqual({
      ...{ card: CARD, token, headers: { 'x-team': 'blue' }, pin },
      ...{ binding: 'HTTP+JSON', idempotent: true, extensions: ['urn:polite'] },
    });
  });

  it.each([
    ['model: openai/gpt-5', 'model'],
    ['tools: [read]', 'tools'],
    ['advisors: [risk]', 'advisors'],
    ['handoff: next', 'handoff'],
    ['temperature: 0.5', 'temperature'],
    ['isolation: process', 'isolation'],
  ])('refuses %s beside it, at its place', async (line, key) => {
    const { agent, problems } = await load(`a2a: ${CARD}\n${line}`);
    expect(agent).toBeUndefined();
    expect(problems).toEqual([expect.stringMatching(new RegExp(`^weather\\.md:3:1: .*"${key}" cannot stand beside "a2a"`))]);
  });

  it.each([
    ['a token in the file', 'token: abc', /weather\.md:4:\d+: .*must name a variable of the environment/],
    ['a secret in a header', 'headers: { Authorization: Bearer abc }', /weather\.md:4:\d+: .*looks like a secret/],
    ['an unknown key', 'tokn: abc', /weather\.md:4:\d+: .*unknown key "tokn"/],
  ])('refuses %s', async (_what, line, said) => {
    const { agent, problems } = await load(`a2a:\n  card: ${CARD}\n  ${line}`);
    expect(agent).toBeUndefined();
    expect(problems.join('\n')).toMatch(said);
  });

  it('refuses an address that is none of the web', async () => {
    expect((await load('a2a: ftp://weather.example/card')).agent).toBeUndefined();
  });

  it('warns that text below is not sent', async () => {
    const { agent, problems } = await load(`a2a: ${CARD}`, 'You know the weather.\n');
    expect(agent).toBeDefined();
    expect(problems).toEqual([expect.stringContaining('it is not sent')]);
  });
});

it('a program can define one, too', () => {
  expect(defineAgent({ name: 'weather', prompt: '', a2a: CARD })).toMatchObject({ remote: { card: CARD } });
  expect(() => defineAgent({ name: 'weather', prompt: '', a2a: CARD, tools: ['read'] })).toThrow(/"tools" cannot stand beside/);
});

it('an agent that peers may find is still one of ours', () => {
  expect(defineAgent({ name: 'ours', prompt: 'Work.', a2a: true })).toMatchObject({ a2a: true, models: [] });
});
