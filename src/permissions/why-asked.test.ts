import { describe, expect, it } from 'vitest';
import type { RuleMap } from './rule-map.ts';
import { decideLine } from './shell-rules.ts';
import { whyAsked } from './why-asked.ts';

const why = (line: string, rules: RuleMap): string | undefined => whyAsked(line, [rules]);

describe('why a command is asked about', () => {
  it.each([
    ['helm list -A', { 'helm *': 'allow' }, 'helm list -A*', 'helm **'],
    ['ls && pytest @args', { 'pytest *': 'allow', ls: 'allow' }, 'pytest @args*', 'pytest **'],
    ['git diff --stat --output=x', { 'git diff*': 'allow' }, 'git diff --stat --output=x *', 'git **'],
    ['timeout 5 helm list -A', { 'timeout *': 'allow', 'helm *': 'allow' }, 'helm list -A*', 'helm **'],
    ['git stash drop', { 'git *': 'allow' }, 'git stash drop*', 'git **'],
  ] as const)('%s: the word, and rules that would allow it', (line, rules, narrow, wide) => {
    expect(decideLine(line, [rules], {})).toBe('ask');
    const reason = why(line, rules);
    expect(reason).toContain(`; ${JSON.stringify(narrow)} would, and ${JSON.stringify(wide)}`);
    for (const rule of [narrow, wide]) expect(decideLine(line, [{ ...rules, [rule]: 'allow' }], {})).toBe('allow');
  });

  it.each([
    ['git checkout main', { 'git *': 'allow' }],
    ['git -C sub status', { 'git *': 'allow' }],
    ['git submodule update --init', { 'git *': 'allow' }],
    ['curl -s -o x.txt -w y https://x.example', { 'curl *': 'allow' }],
    ['docker compose -f x ps', { 'docker *': 'allow' }],
    ['docker exec x id', { 'docker *': 'allow' }],
    ['kubectl label x y=z', { 'kubectl *': 'allow' }],
    ['git restore x', { 'git *': 'allow' }],
    ['git clean -f', { 'git *': 'allow' }],
    ['tsc -b --clean', { 'tsc *': 'allow' }],
    ['go mod edit -replace=x=y', { 'go *': 'allow' }],
    ['find . -exec id \\;', { 'find *': 'allow' }],
    ['tar -I id -cf x y', { 'tar *': 'allow' }],
  ] as const)('names only rules that are enough: %s', (line, rules) => {
    expect(decideLine(line, [rules], {})).toBe('ask');
    const reason = why(line, rules) ?? '';
    const [, named = ''] = reason.split('; ');
    for (const [, rule = ''] of named.matchAll(/"([^"]+)"/g))
      expect(decideLine(line, [{ ...rules, [rule]: 'allow' }], {}), rule).toBe('allow');
  });

  it('names a longer rule where a shorter one would not be enough, and none where none is', () => {
    expect(why('git checkout main', { 'git *': 'allow' })).toContain('"checkout"');
    expect(why('git checkout main', { 'git *': 'allow' })).toContain('; "git checkout main*" would, and "git **" for');
    expect(why('find . -exec id \\;', { 'find *': 'allow' })).toMatch(/harmless$/);
  });

  it('is a word that names what is denied', () => {
    const rules = { '*': 'allow', 'rm *': 'deny' } as const;
    expect(why('docker run x rm', rules)).toBe(
      'a word of it names what "rm *" denies, and nobody knows what is done with that word',
    );
  });

  it('repeats nothing that is not plain', () => {
    const reason = why("helm 'a; b' --x='\u001b[2J'", { 'helm *': 'allow' });
    expect(reason).toBeUndefined();
    expect(why("helm '--x=a; rm b'", { 'helm *': 'allow' })).toBe(
      '"helm *" does not stand for an option or a word of it that is not known to be harmless',
    );
  });

  it.each<readonly [string, RuleMap]>([
    ['helm list', { 'helm *': 'allow' }],
    ['helm list -A', { 'npm *': 'allow' }],
    ['helm list -A', { 'helm **': 'allow', 'helm *': 'allow' }],
    ['helm list > x', { 'helm *': 'allow' }],
    ['for x in y; do helm -A; done', { 'helm *': 'allow' }],
    ['git rm x', { '*': 'allow', 'rm *': 'deny' }],
  ])('has nothing to say of %s with %j', (line, rules) => {
    expect(why(line, rules)).toBeUndefined();
  });
  it('has nothing to say of one word for the tool', () => {
    expect(whyAsked('helm list -A', ['ask'])).toBeUndefined();
  });
});
