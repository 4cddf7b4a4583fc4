import { describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { readRule, ruleFor, ruleText, writtenRule } from './remembered-rule.ts';

describe('the rule that "always" writes', () => {
  it.each([
    ['npm test', 'shell "npm test"'],
    ['git diff --stat=80', 'shell "git diff --stat=80"'],
    ['npm test && npm run lint', 'shell "= npm test && npm run lint"'],
    ['ls *.ts', 'shell "= ls *.ts"'],
    ['CI=1 npm test', 'shell "= CI=1 npm test"'],
    ['npm  test', 'shell "= npm  test"'],
    ['npm test\n', 'shell "= npm test\\n"'],
    ['echo "a"', 'shell "= echo \\"a\\""'],
    ['echo ünder', 'shell "= echo ünder"'],
  ])('is the command %j and no other', (command, text) => {
    const rule = ruleFor('shell', { command, timeoutSeconds: 3 });
    expect(rule && ruleText(rule)).toBe(text);
  });

  it.each([
    ['https://Example.org/a?b', 'fetch "example.org"'],
    ['https://example.org:8443/', 'fetch "example.org:8443"'],
    ['https://example.org:443/', 'fetch "example.org"'],
    ['http://bücher.example/', 'fetch "xn--bcher-kva.example"'],
    ['https://example.org./', 'fetch "example.org"'],
    ['https://user:word@example.org/', 'fetch "example.org"'],
  ])('is the host of %s', (url, text) => {
    const rule = ruleFor('fetch', { url });
    expect(rule && ruleText(rule)).toBe(text);
  });

  it('is the real path of a file', () => {
    const rule = ruleFor('write', { path: './src/../src/a.ts', content: '' }, 'src/a.ts');
    expect(rule).toEqual({ tool: 'write', pattern: 'src/a.ts' });
  });

  it('is the tool where a call has nothing that could be told apart', () => {
    expect(ruleFor('github__create_issue', { title: 'x' })).toEqual({ tool: 'github__create_issue' });
  });

  it.each([
    ['shell', { command: 7 }, undefined],
    ['shell', null, undefined],
    ['shell', { command: 'x'.repeat(limits.ruleCharacters + 1) }, undefined],
    ['fetch', { url: 'file:///etc/passwd' }, undefined],
    ['fetch', { url: 'nonsense' }, undefined],
    ['write', { path: 'a.ts' }, undefined],
    ['write', { path: 'a*.ts' }, 'a*.ts'],
  ] as const)('is none for %s %j %s', (tool, input, path) => {
    expect(ruleFor(tool, input, path)).toBeUndefined();
  });

  it('survives being written down', () => {
    for (const rule of [{ tool: 'x__y' }, { tool: 'shell', pattern: '= a  b\nc' }, { tool: 'shell', pattern: 'npm test' }])
      expect(readRule(writtenRule(rule))).toEqual(rule);
  });
});
