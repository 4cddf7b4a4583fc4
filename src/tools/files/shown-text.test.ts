/** What agents are shown of files with secrets, and what comes of it when they write it back. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { testWorkspace } from '../../../test/support/tool-workspace.ts';
import { systemClock } from '../../base/clock.ts';
import { systemRandom } from '../../base/random.ts';
import { createRedactor } from '../../base/secrets/redact.ts';
import { createBuiltIns } from '../built-ins.ts';
import type { ToolOutcome } from '../port.ts';

const ONE = 'glpat-Ab3dEf7hIjK1mNoPqRsT';
const TWO = 'glpat-Zz9yXw8vUt7sRq6pOn5m';
const MARK = '[redacted:gitlab-token]';
const BODY = Array.from({ length: 12 }, (_, line) => `MIIE${String(line).padStart(2, '0')}${'aB3+'.repeat(14)}`);
const PEM = ['-----BEGIN RSA PRIVATE KEY-----', ...BODY, '-----END RSA PRIVATE KEY-----'].join('\n');
const AWS = 'wJalrXUtnFEMIK7MDENGbPxRfiCYEXAMPLEKEYab';

const secrets = createRedactor([]);
const tools = createBuiltIns({ clock: systemClock, random: systemRandom, environment: {}, secrets });

/** What came of one call on a file, all that anybody was told of it, and the file after it. */
async function called(name: string, file: string, input: object) {
  await using place = await testWorkspace();
  const path = join(place.path, 'a.txt');
  await writeFile(path, file);
  const tool = tools.get(name)?.();
  if (tool === undefined || tool.kind !== undefined) throw new Error(name);
  const context = { ...place.context, redact: secrets.text };
  const read = tools.get('read')?.();
  if (read === undefined || read.kind !== undefined) throw new Error('read');
  const version = (await read.run({ path: 'a.txt' }, context)).saw?.[0]?.sha256;
  const seen = { version: async () => version, unread: async () => undefined, changedBy: async () => undefined };
  const outcome: ToolOutcome = await tool.run({ path: 'a.txt', ...input } as never, { ...context, seen });
  const said =
    outcome.kind === 'error' ? outcome.message : outcome.content.map((part) => ('text' in part ? part.text : '')).join('');
  const all = secrets.text(said) + (outcome.evidence ?? []).map((one) => JSON.stringify(one)).join('');
  for (const secret of [ONE, TWO, AWS, ...BODY]) expect(all).not.toContain(secret);
  return { kind: outcome.kind, said, all, file: await readFile(path, 'utf8') };
}

describe('a mark in what is written is what the file has there', () => {
  const file = `user: bob\ntoken: ${ONE}\ncolor: red\n`;
  it('the only one of its name', async () => {
    const content = `# mine\ntoken: ${MARK}\ncolor: blue\n`;
    expect(await called('write', file, { content })).toMatchObject({ kind: 'ok', file: content.replace(MARK, ONE) });
  });
  it('and the same text again is no change', async () => {
    const { said } = await called('write', file, { content: file.replace(ONE, MARK) });
    expect(said).toContain('nothing was changed');
  });
  it('of several the one that stands there, wherever its lines are now', async () => {
    const two = `[prod]\ntoken: ${ONE}\n[test]\ntoken: ${TWO}\n`;
    const content = `[test]\ntoken: ${MARK}\n\n[prod]\ntoken: ${MARK}\n`;
    expect((await called('write', two, { content })).file).toBe(`[test]\ntoken: ${TWO}\n\n[prod]\ntoken: ${ONE}\n`);
  });
  it.each([
    ['of several, nobody knows which', `a ${ONE}\na ${TWO}\n`, `a ${MARK}\n`, 'several secrets'],
    ['the file has none', 'plain\n', `token: ${MARK}\n`, 'meant by nobody'],
    ['the file has another', file, 'token: [redacted:api-key]\n', 'meant by nobody'],
  ])('or is refused: %s', async (_why, before, content, why) => {
    expect(await called('write', before, { content })).toMatchObject({
      kind: 'error',
      file: before,
      said: expect.stringContaining(why),
    });
  });
  it('or the mark itself, where that stands in the file', async () => {
    const content = `Shown as ${MARK}, twice: ${MARK}\n`;
    expect((await called('write', `Shown as ${MARK}.\n`, { content })).file).toBe(content);
  });
  it('whole, over many lines and with the ends of lines that it has', async () => {
    const crlf = `a\r\n${PEM.replaceAll('\n', '\r\n')}\r\nb\r\n`;
    const content = 'A\r\n[redacted:private-key]\r\nB\r\n';
    expect((await called('write', crlf, { content })).file).toBe(crlf.replace('a\r', 'A\r').replace('b\r', 'B\r'));
  });
});

describe('a mark in what is edited', () => {
  const two = `p: ${ONE} # p\nt: ${TWO} # t\n`;
  it.each([
    [
      'is found as it was shown, and put back',
      two,
      { old: `p: ${MARK} # p`, new: `q: ${MARK} # q` },
      `q: ${ONE} # q\nt: ${TWO} # t\n`,
    ],
    ['can be taken out', two, { old: `t: ${MARK} # t\n`, new: '' }, `p: ${ONE} # p\n`],
    ['can be replaced', two, { old: `t: ${MARK}`, new: 't: none' }, `p: ${ONE} # p\nt: none # t\n`],
    ['is each its own', two, { old: `: ${MARK} #`, new: `= ${MARK} #`, all: true }, `p= ${ONE} # p\nt= ${TWO} # t\n`],
    [
      'stands for many lines',
      `x\n${PEM}\ny\n`,
      { old: 'x\n[redacted:private-key]\ny', new: '[redacted:private-key]\nz' },
      `${PEM}\nz\n`,
    ],
    ['can be written out by who knows it', two, { old: `t: ${TWO}`, new: 't: none' }, `p: ${ONE} # p\nt: none # t\n`],
  ])('%s', async (_how, before, input, file) => expect(await called('edit', before, input)).toMatchObject({ kind: 'ok', file }));

  it.each([
    ['a piece of a secret is not there', two, { old: 'glpat-Ab3dEf', new: 'x' }, '`old` was not found'],
    ['a secret in the new text that is none of these', two, { old: '# p', new: `# ${MARK}` }, 'several secrets'],
    ['half a mark', two, { old: 'token] # p', new: 'x' }, '`old` was not found'],
    ['a beginning of a key', `${PEM}\n`, { old: '-----BEGIN RSA PRIVATE KEY-----', new: 'x' }, '`old` was not found'],
    ['what a secret is known by', `aws_secret_access_key = ${AWS}\n`, { old: 'aws_secret', new: 'aws' }, 'would show the secret'],
    ['an edge that a secret has', two, { old: 'p: ', new: 'p: x' }, 'would show the secret'],
  ])('or is refused: %s', async (_how, before, input, why) => {
    expect(await called('edit', before, input)).toMatchObject({
      kind: 'error',
      file: before,
      said: expect.stringContaining(why),
    });
  });

  it('has lines that are like it, with the mark', async () => {
    const { said } = await called('edit', two, { old: `p: ${MARK} # q`, new: 'x' });
    expect(said).toContain(`1\tp: ${MARK} # p`);
  });

  it('shows no piece of a key beside it', async () => {
    const { all } = await called('edit', `${PEM}\nend\n`, { old: 'end', new: 'the end' });
    expect(all).toContain('[redacted:private-key]\\n-end\\n+the end');
  });
});

describe('a file with a key of many lines', () => {
  const file = `a\n${PEM}\nb\n`;
  it('is read as one mark, with the numbers that its lines have', async () => {
    expect((await called('read', file, {})).said).toBe('1\ta\n2\t[redacted:private-key]\n16\tb');
  });
  it.each([
    { offset: 5, limit: 3 },
    { offset: 14, limit: 2 },
    { offset: 2, limit: 1 },
  ])('is nowhere shown in pieces: %o', async (input) => {
    expect((await called('read', file, input)).said).toMatch(/^2\t\[redacted:private-key\]\n\(lines/);
  });
  it('is not found by what is in it', async () => {
    expect((await called('search', file, { text: 'MIIE05' })).said).toContain('no match');
    expect((await called('search', file, { text: 'b' })).said).toMatch(/^a\.txt:16: b/m);
  });
});
