import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { limits } from '../../base/limits.ts';
import { formatDiagnostic } from '../text/diagnostics.ts';
import { loadAgent } from './load.ts';

const include = (path: string): string => `\${include:${path}}`;
const agent = (body: string): string => `---\nname: a\n---\n${body}`;

/** The prompt of `agents/a.md`, or what is wrong with it. */
async function promptOf(files: Readonly<Record<string, string>>, prepare?: (root: string) => Promise<void>): Promise<string> {
  await using project = await temporaryProject(files);
  await prepare?.(project.root);
  const result = await loadAgent({ path: join(project.root, 'agents/a.md'), root: project.root });
  if (!result.ok) return result.error.map(formatDiagnostic).join('\n');
  return [result.value.definition.prompt, ...result.value.diagnostics.map(formatDiagnostic)].join('\n');
}

describe('an include', () => {
  it('puts the text of another file in its place', async () => {
    const prompt = await promptOf({
      'agents/a.md': agent(`Be ${include('../shared/tone.md')}. ${include(' ../shared/rules.md ')}\nEnd`),
      'shared/tone.md': '\ufeffkind\r\n',
      'shared/rules.md': `1\r\n2 ${include('deeper/more.md')}\n`,
      'shared/deeper/more.md': 'x\n\n',
    });
    expect(prompt).toBe('Be kind. 1\n2 x\n\nEnd');
  });

  it('may be used twice, and stays text when it is escaped', async () => {
    const prompt = await promptOf({
      'agents/a.md': agent(`${include('b.txt')}${include('b.txt')} $${include('b.txt')}`),
      'agents/b.txt': 'b',
    });
    expect(prompt).toBe(`bb $${include('b.txt')}`);
  });

  it('warns about variables in the file where they stand, once', async () => {
    const prompt = await promptOf({
      'agents/a.md': agent(`${include('b.md')}\n${include('b.md')}`),
      'agents/b.md': `x\n \${WORKSPCE}`,
    });
    expect(prompt.split('\n').filter((line) => line.includes('warning'))).toEqual([
      'agents/b.md:2:2: warning: unknown variable "WORKSPCE" is left as it is',
    ]);
  });

  it('tells a misspelt include', async () => {
    expect(await promptOf({ 'agents/a.md': agent(`\${inclde:b.md}`) })).toContain(
      '4:1: warning: "inclde:" is left as it is\n  fix: Did you mean "include:"?',
    );
  });
});

describe('an include that is refused', () => {
  it.each([
    ['missing', `x\n y \${include:none.md}`, 'agents/a.md:5:4: error: the include "none.md" does not exist'],
    ['empty', `\${include:}`, 'agents/a.md:4:1: error: the include names no file'],
    ['absolute', `\${include:/etc/hosts}`, 'agents/a.md:4:1: error: the include "/etc/hosts" is an absolute path'],
    ['outside', `\${include:../../../../../../../../etc/hosts}`, 'is outside the project folder'],
    ['dotenv', `\${include:../.env}`, 'agents/a.md:4:1: error: the include "../.env" may hold secrets and is never read'],
    ['dotenv of another case', `\${include:../.ENV.local}`, 'may hold secrets and is never read'],
    ['git', `\${include:../.git/config}`, 'the include "../.git/config" may hold secrets and is never read'],
    ['folder', `\${include:../agents}`, 'agents/a.md:4:1: error: the include "../agents" is not a regular file'],
    ['binary', `\${include:binary.md}`, 'agents/a.md:4:1: error: the include "binary.md" is a binary file'],
  ])('%s', async (_title, body, expected) => {
    expect(await promptOf({ 'agents/a.md': agent(body), '.env': 'KEY=1', 'agents/binary.md': 'a\0' })).toContain(expected);
  });

  it('is one that leaves the project by a link, or reaches secrets by one', async () => {
    await using outside = await temporaryProject({ 'key.md': 'secret' });
    const files = {
      'agents/a.md': agent(`${include('out.md')} ${include('folder/key.md')} ${include('env.md')}`),
      '.env': 'KEY=1',
    };
    const text = await promptOf(files, async (root) => {
      await symlink(join(outside.root, 'key.md'), join(root, 'agents/out.md'));
      await symlink(outside.root, join(root, 'agents/folder'));
      await symlink('../.env', join(root, 'agents/env.md'));
    });
    expect(text.match(/is outside the project folder/g)).toHaveLength(2);
    expect(text).toContain('the include "env.md" may hold secrets');
    expect(text).not.toContain('secret\n');
  });

  it('is one that goes round in a circle', async () => {
    const text = await promptOf({
      'agents/a.md': agent(include('b.md')),
      'agents/b.md': `\n ${include('c.md')}`,
      'agents/c.md': include('b.md'),
    });
    expect(text).toBe('agents/c.md:1:1: error: includes go round in a circle: agents/b.md -> agents/c.md -> agents/b.md');
    expect(await promptOf({ 'agents/a.md': agent(include('a.md')) })).toContain('agents/a.md -> agents/a.md');
  });

  it('is one too deep, one too many, or one too much', async () => {
    const depth = limits.includeDepth + 1;
    const chain = Object.fromEntries(
      Array.from({ length: depth }, (_, index) => [`agents/${index}.md`, index + 1 < depth ? include(`${index + 1}.md`) : 'end']),
    );
    expect(await promptOf({ ...chain, 'agents/a.md': agent(include('0.md')) })).toContain(
      `agents/${depth - 2}.md:1:1: error: includes go deeper`,
    );
    expect(await promptOf({ ...chain, 'agents/a.md': agent(include('1.md')) })).toBe('end');
    const fan = { 'agents/b.md': include('c.md').repeat(20), 'agents/c.md': include('d.md').repeat(20), 'agents/d.md': 'd' };
    const text = await promptOf({ ...fan, 'agents/a.md': agent(include('b.md')) });
    expect(text.match(/limit includesPerAgent/g)).toHaveLength(1);
    const big = 'x'.repeat(limits.agentFileBytes);
    const long = await promptOf({ 'agents/big.md': big, 'agents/a.md': agent(include('big.md').repeat(10)) });
    expect(long.match(/limit promptBytes/g)).toHaveLength(1);
  });
});
