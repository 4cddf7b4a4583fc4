import { describe, expect, it } from 'vitest';
import { decideHost, decidePath, hostPatternProblem, pathPatternProblem } from './place-rules.ts';
import type { Permission, RuleMap } from './rule-map.ts';

describe('rules for paths', () => {
  const rules: RuleMap = { 'src/**': 'allow', 'src/secret/**': 'deny', 'src/secret/public.md': 'allow', '**/*.lock': 'deny' };
  it.each<readonly [string, Permission]>([
    ['src/a.ts', 'allow'],
    ['src/deep/er/a.ts', 'allow'],
    ['src/secret/key', 'deny'],
    ['src/secret/public.md', 'allow'],
    ['src/npm.lock', 'deny'],
    ['npm.lock', 'deny'],
    ['srcs/a.ts', 'ask'],
    ['SRC/a.ts', 'ask'],
    ['SRC/Secret/key', 'deny'],
    ['a/src/a.ts', 'ask'],
    ['', 'ask'],
  ])('%s: %s', (path, expected) => expect(decidePath(path, rules)).toBe(expected));

  it.each<readonly [string, RuleMap, Permission]>([
    ['a.md', { '*.md': 'allow' }, 'allow'],
    ['docs/a.md', { '*.md': 'allow' }, 'ask'],
    ['docs/a.md', { '*': 'allow' }, 'allow'],
    ['docs/a.md', { '*': 'deny', 'docs/*': 'allow' }, 'allow'],
    ['docs/a.md', { '**': 'deny', './docs/*': 'allow' }, 'allow'],
    ['docs/a.md', { 'docs/*': 'allow', 'docs/**': 'ask' }, 'allow'],
    ['a-b', { 'a*': 'allow', '*b': 'deny' }, 'deny'],
  ])('%s with %j: %s', (path, map, expected) => expect(decidePath(path, map)).toBe(expected));

  it.each(['/etc/**', '~/x', '../x', 'a/../b', '', 'a?', 'a\\b', '{a,b}', 'tok/', 'a//b', 'a/./b', './', './.'])(
    '%j is a mistake',
    (pattern) => {
      expect(pathPatternProblem(pattern)).toBeDefined();
    },
  );
  it.each(['src/**', '*', '**/*.ts', './a b', '.'])('%j is a rule', (pattern) =>
    expect(pathPatternProblem(pattern)).toBeUndefined(),
  );
});

describe('rules for hosts', () => {
  const rules: RuleMap = {
    '*.example.org': 'allow',
    'evil.example.org': 'deny',
    'localhost:8080': 'allow',
    'bücher.example': 'allow',
  };
  it.each<readonly [string, Permission]>([
    ['https://docs.example.org/a', 'allow'],
    ['https://a.b.example.org/', 'allow'],
    ['https://DOCS.Example.ORG./', 'allow'],
    ['https://example.org/', 'ask'],
    ['https://example.org.evil.com/', 'ask'],
    ['https://docs.example.org@evil.com/', 'ask'],
    ['https://docs.example.org:pw@evil.com/', 'ask'],
    ['https://evil.com/#.example.org', 'ask'],
    ['https://evil.com\\.example.org/', 'ask'],
    ['https://evilexample.org/', 'ask'],
    ['https://evil.example.org/', 'deny'],
    ['https://evil%2eexample.org/', 'deny'],
    ['https://docs.example.org:8443/', 'ask'],
    ['http://docs.example.org:80/', 'allow'],
    ['http://localhost:8080/x', 'allow'],
    ['http://localhost/x', 'ask'],
    ['https://xn--bcher-kva.example/', 'allow'],
    ['https://BÜCHER.example/', 'allow'],
    ['https://buecher.example/', 'ask'],
    ['https://docs.еxample.org/', 'ask'],
    ['https://docs。example。org/', 'allow'],
    ['ftp://docs.example.org/', 'ask'],
    ['not an address', 'ask'],
    ['', 'ask'],
  ])('%s: %s', (address, expected) => expect(decideHost(address, rules)).toBe(expected));

  it.each(['not an address', '', 'ftp://a.org/'])('%j is allowed by no rule, not even by a star', (address) => {
    expect(decideHost(address, { '*': 'allow' })).toBe('ask');
    expect(decideHost(address, { '*': 'deny' })).toBe('deny');
  });

  it.each<readonly [string, RuleMap, Permission]>([
    ['https://evil.org:8443/', { 'evil.org': 'deny', '*': 'allow' }, 'deny'],
    ['https://a.evil.org:8443/', { '*.evil.org': 'ask', '*': 'allow' }, 'ask'],
    ['https://evil.org:8443/', { 'evil.org': 'deny', 'evil.org:8443': 'allow' }, 'allow'],
    ['https://evil.org:8443/', { '*.org': 'deny', 'evil.org:8443': 'allow' }, 'allow'],
    ['https://evil.org/', { 'evil.org': 'deny', 'evil.org:8443': 'allow' }, 'deny'],
    ['https://evil.org:8443/', { 'evil.org': 'allow', '*': 'ask' }, 'ask'],
  ])('%s with %j: %s, because who holds a host back means every port of it', (address, map, expected) => {
    expect(decideHost(address, map)).toBe(expected);
  });

  it('of numbers are exact', () => {
    expect(decideHost('http://127.0.0.1/', { '*.0.0.1': 'allow' })).toBe('ask');
    expect(decideHost('http://2130706433/', { '127.0.0.1': 'allow' })).toBe('allow');
    expect(decideHost('http://[::1]/', { '*': 'deny' })).toBe('deny');
  });

  it.each(['', 'https://a', 'a/b', 'a.*', '*a.org', 'u@a', 'a b', '*.'])('%j is a mistake', (pattern) => {
    expect(hostPatternProblem(pattern)).toBeDefined();
  });
  it.each(['*', 'a.org', '*.a.org', 'a.org:8080', 'bücher.example'])('%j is a rule', (pattern) => {
    expect(hostPatternProblem(pattern)).toBeUndefined();
  });
});
