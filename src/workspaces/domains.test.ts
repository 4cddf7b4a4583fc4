import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { value } from '../../test/support/workspaces/test-repository.ts';
import { closedBy, overlapOf, readDomain } from './domains.ts';

const domain = (include: readonly string[], exclude: readonly string[] = [], noTouch: readonly string[] = []) =>
  value(readDomain({ include, exclude, noTouch }));
const mayWrite = (of: ReturnType<typeof domain>, path: string): boolean => closedBy(of, path) === undefined;

describe('what a task may write', () => {
  it.each([
    [['cmd/'], 'cmd/x.go', true],
    [['cmd/'], 'cmd/deep/x.go', true],
    [['cmd/'], 'cmdline/x.go', false],
    [['cmd/'], 'internal/cmd/x.go', false],
    [['./cmd//sub/'], 'cmd/sub/x', true],
    [['docs/x.md'], 'docs/x.md', true],
    [['docs/x.md'], 'docs/x.md.bak', false],
    [['docs'], 'docs/x.md', true],
    [['src/*.ts'], 'src/a.ts', true],
    [['src/*.ts'], 'src/deep/a.ts', false],
    [['src/**/*.ts'], 'src/a.ts', true],
    [['src/**/*.ts'], 'src/deep/a.ts', true],
    [['*.md'], 'deep/er/a.md', true],
    [['src/*'], 'src/deep/a.ts', false],
    [['src/**'], 'src/deep/a.ts', true],
    [['{a,b}/x'], 'b/x', true],
    [['{a,b}/x'], 'c/x', false],
    [['Makefile'], 'deep/Makefile', false],
    [['.'], 'anything/at/all', true],
    [[], 'anything', true],
    [['docs/'], 'DOCS/x', false],
    [['caf\u00e9/'], 'cafe\u0301/x', true],
    [[], '.git/config', false],
    [[], 'sub/.Git/config', false],
    [[], '.troupe/ledger.db', false],
    [[], '.g\u200cit/config', false],
    [[], '.gitignore', true],
  ] as const)('%j: %s is %s', (include, path, may) => {
    expect(mayWrite(domain(include), path)).toBe(may);
  });

  it.each([
    'docs/error.md',
    'Docs/Error.MD',
    'DOCS/error.md/below',
    'migrations/1.sql',
    'Migrations/1.sql',
    'stra\u00dfe/x',
    'STRASSE/x',
  ])('not %s, however it is spelled', (path) => {
    const closed = domain([], ['migrations/', 'stra\u00dfe'], ['docs/error.md']);
    expect(mayWrite(closed, path)).toBe(false);
    expect(mayWrite(closed, 'src/x')).toBe(true);
  });

  it.each(['', ' ', '/etc', '../x', 'a/../../b', 'a\\b', 'a\0b', 'C:/x', '~/x', 'a\nb', 'x'.repeat(5000), '{a,b}'.repeat(8)])(
    'the path %j is refused, wherever it stands',
    (path) => {
      for (const key of ['include', 'exclude', 'noTouch'])
        expect(readDomain({ include: [], exclude: [], noTouch: [], [key]: [path] })).toMatchObject({
          error: { code: 'bad_domain' },
        });
    },
  );

  it('too many paths are refused by the name of the limit', () => {
    const include = Array.from({ length: 1001 }, (_, at) => `f${at}`);
    expect(readDomain({ include, exclude: [], noTouch: [] })).toMatchObject({
      error: { message: expect.stringContaining('domainPaths') },
    });
  });
});

describe('whether two tasks could write the same', () => {
  it.each([
    [['cmd/'], ['docs/'], false],
    [['cmd/'], ['cmd/sub/x'], true],
    [['cmd/'], ['CMD/x'], true],
    [['src/*.ts'], ['src/*.md'], false],
    [['src/a*'], ['src/b*'], false],
    [['src/a*'], ['src/*z'], true],
    [['src/**/x.ts'], ['src/deep/'], true],
    [['src/**/x.ts'], ['src/deep/y.ts'], true],
    [['*.ts'], ['*.md', 'docs/*.txt'], false],
    [['*.md'], ['docs/'], true],
    [[], ['docs/'], true],
    [['a', 'b/'], ['c', 'B/x'], true],
    [['**/**/**/**/**/a'], ['**/**/**/**/**/b'], true],
    [['a/?'], ['a/bb'], false],
  ] as const)('%j and %j: %s', (one, other, overlap) => {
    expect(overlapOf(domain(one), domain(other)) !== undefined).toBe(overlap);
    expect(overlapOf(domain(other), domain(one)) !== undefined).toBe(overlap);
  });

  it('not where one is closed to what the other has', () => {
    expect(overlapOf(domain(['src/'], ['src/gen/']), domain(['src/gen/']))).toBeUndefined();
    expect(overlapOf(domain(['src/gen/x.ts']), domain(['src/'], [], ['SRC/gen/']))).toBeUndefined();
    expect(overlapOf(domain(['src/'], ['src/gen/x']), domain(['src/gen/']))).toBeDefined();
    expect(overlapOf(domain(['src/'], ['src/*/']), domain(['src/gen/']))).toBeDefined();
  });

  it('a "no" is certain: no path is open to both', () => {
    const part = fc.constantFrom('a', 'b', 'ab', 'A', '*', 'a*', '*b', '?', '**');
    const pattern = fc
      .tuple(fc.array(part, { minLength: 1, maxLength: 4 }), fc.boolean())
      .map(([parts, slash]) => parts.join('/') + (slash ? '/' : ''));
    const some = fc.record({
      include: fc.array(pattern, { maxLength: 3 }),
      exclude: fc.array(pattern, { maxLength: 2 }),
      noTouch: fc.array(pattern, { maxLength: 1 }),
    });
    const path = fc
      .array(fc.constantFrom('a', 'b', 'ab', 'A', 'bb'), { minLength: 1, maxLength: 5 })
      .map((parts) => parts.join('/'));
    let certain = 0;
    fc.assert(
      fc.property(some, some, fc.array(path, { minLength: 20, maxLength: 20 }), (one, other, paths) => {
        const [mine, theirs] = [value(readDomain(one)), value(readDomain(other))];
        if (overlapOf(mine, theirs) !== undefined) return;
        certain += 1;
        expect(paths.filter((each) => mayWrite(mine, each) && mayWrite(theirs, each))).toEqual([]);
      }),
      { numRuns: 3_000 },
    );
    expect(certain).toBeGreaterThan(200);
  });
});
