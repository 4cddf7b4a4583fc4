/**
 * Habits that no linter knows, checked over every file of the repository. Each list of exceptions has its reason beside it
 * and may only shrink.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { describe, expect, it } from 'vitest';
import { withoutComments } from '../scripts/architecture.ts';
import { completeLockfile } from '../scripts/complete-lockfile.ts';
import { inCi, mayRun, whatIsNeeded } from './support/left-out.ts';

const root = join(import.meta.dirname, '..');
const LINES_MAX = 400;
const COLUMNS_MAX = 130;

/** Not ours, or made by a command. The same names are in .gitignore. */
const skipped = new Set(['.git', 'node_modules', 'dist', '.troupe', 'coverage', 'results', '.install-lock']);
/** This file has to spell out what it forbids. */
const itself = 'test/tidy.test.ts';

interface Line {
  readonly path: string;
  readonly number: number;
  readonly text: string;
}

const paths = walk(root).filter((path) => path !== itself);
const contents = new Map(paths.map((path) => [path, readFileSync(join(root, path), 'utf8')]));
const code = paths.filter((path) => /\.(tsx?|mjs)$/.test(path));
const shipped = code.filter((path) => path.startsWith('src/') && !path.endsWith('.test.ts'));

function walk(folder: string): readonly string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    // In a second working tree .git is a file.
    if (skipped.has(entry.name)) return [];
    if (entry.isDirectory()) return walk(path);
    return entry.isFile() && !isBinary(entry.name) ? [relative(root, path).split(sep).join('/')] : [];
  });
}

function isBinary(name: string): boolean {
  return /\.(db|db-wal|db-shm|sqlite|png|jpg|gif|webp|tgz|gz|bin|ico)$/.test(name);
}

function linesOf(path: string, prepare: (text: string) => string = (text) => text): readonly Line[] {
  return prepare(contents.get(path) ?? '')
    .split('\n')
    .map((text, index) => ({ path, number: index + 1, text }));
}

function find(within: readonly string[], pattern: RegExp, except: readonly string[] = [], prepare?: (text: string) => string) {
  return within
    .filter((path) => !except.some((start) => path.startsWith(start)))
    .flatMap((path) => linesOf(path, prepare))
    .filter((line) => pattern.test(line.text))
    .map((line) => `${line.path}:${line.number}: ${line.text.trim().slice(0, 100)}`);
}

/** Comments may name a call without making it; removing them keeps the line numbers. */
function codeOnly(text: string): string {
  const blanked = text.replaceAll(/\/\*[\s\S]*?\*\//g, (comment) => comment.replaceAll(/[^\n]/g, ''));
  return withoutComments(blanked);
}

/** The inner lines of a text over several lines, such as a prompt, are prose: breaking them would change what they say. */
function withoutProse(text: string): string {
  return text.replaceAll(/`(?:\\[\s\S]|[^`\\])*`/g, (literal) =>
    literal.includes('\n') ? literal.replaceAll(/[^\n]/g, '') : literal,
  );
}

interface Ban {
  readonly call: string;
  readonly pattern: RegExp;
  readonly instead: string;
  /** Beginnings of paths, each with its reason. */
  readonly except?: Readonly<Record<string, string>>;
}

const bans: readonly Ban[] = [
  { call: 'Date.now', pattern: /\bDate\.now\b/, instead: 'a Clock' },
  { call: 'new Date()', pattern: /\bnew Date\(\s*\)/, instead: 'a Clock' },
  { call: 'Math.random', pattern: /\bMath\.random\b/, instead: 'a Random' },
  { call: 'JSON.parse', pattern: /\bJSON\.parse\b/, instead: 'parseJson of base/json.ts' },
  { call: 'console', pattern: /\bconsole\./, instead: 'what the caller gives to write to' },
  { call: 'setTimeout', pattern: /\b(setTimeout|setInterval)\(/, instead: 'Clock.after' },
  {
    call: 'process.env',
    pattern: /\bprocess\.env\b/,
    instead: 'an argument',
    except: {
      'src/library/': 'the default of an option',
      'src/testing/': 'PATH, so that tools find their programs',
      'src/cli/': 'reads the settings of the user’s shell',
      'src/project/': 'reads keys and TROUPE_HOME, and passes them on',
    },
  },
];

/** Fields that are there when they have a value, spelled out: `present` of base/present.ts says it. */
const spelledOut: readonly RegExp[] = [
  /([\w.]+) === undefined \? \{\} : \{ (?:[\w'-]+: )?\1(?:\.\w+)*(?: as \w+)?,? \}/,
  /([\w.]+) !== undefined \? \{ (?:[\w'-]+: )?\1(?:\.\w+)*(?: as \w+)?,? \} : \{\}/,
  / === undefined \? (\{ [^{}]*[^ ,{}]),? \} : \1, /,
];

function spellsOut(text: string): string | undefined {
  const flat = codeOnly(text).replaceAll(/\s+/g, ' ');
  return spelledOut.map((pattern) => pattern.exec(flat)?.[0]).find((found) => found !== undefined);
}

/** Longer than the limit, with the reason. Take entries out, do not add any. */
const longFiles: Readonly<Record<string, string>> = {};

describe('the walk over the repository', () => {
  it('saw files of every kind', () => {
    expect(shipped.length).toBeGreaterThan(15);
    expect(paths).toEqual(
      expect.arrayContaining(['package-lock.json', 'tools/runtime/package-lock.json', 'CHANGELOG.md', 'troupe']),
    );
  });
});

describe('shipped code', () => {
  it.each(bans)('has $instead instead of $call', ({ pattern, except = {} }) => {
    expect(find(shipped, pattern, ['src/base/', ...Object.keys(except)], codeOnly)).toEqual([]);
  });

  it('knows nothing of the tests', () => {
    expect(find(shipped, /from '(vitest|fast-check)'|from '[^']*\/test\//, [], codeOnly)).toEqual([]);
  });
});

describe('all code', () => {
  it('has no notes to self', () => {
    expect(find(code, /\b(TODO|FIXME|XXX|HACK)\b/)).toEqual([]);
  });

  it.each([
    ['...(fix === undefined ? {} : { fix })', true],
    ['...(to.run === undefined ? {} : {\n  unended: to.run as RunId,\n})', true],
    ['...(content === undefined ? {} : { charter: content.text })', true],
    ['...(fix !== undefined ? { fix } : {})', true],
    ['return fix === undefined ? { code, message } : { code, message, fix };', true],
    ['...(text === undefined ? {} : { context: { text } })', false],
    ['...(body === undefined ? {} : { method, body })', false],
  ])('knows a field that is spelled out: %s', (text, is) => {
    expect(spellsOut(text) !== undefined).toBe(is);
  });

  it('says with present() that a field is there when it has a value', () => {
    const found = code.flatMap((path) => {
      const spelled = spellsOut(contents.get(path) ?? '');
      return spelled === undefined ? [] : [`${path}: ${spelled}`];
    });
    expect(found).toEqual([]);
  });

  it('leaves no test out: no .only, and no .skip without a reason beside it', () => {
    const tests = code.filter((path) => path.endsWith('.test.ts'));
    expect(find(tests, /\b(it|test|describe)\.only\b/)).toEqual([]);
    expect(find(tests, /\b(it|test|describe)\.(skip|todo)\((?!.*\/\/ because )/)).toEqual([]);
  });

  it('whose program is not there do not run and say so, and in CI fail (test/support/left-out.ts)', () => {
    expect(whatIsNeeded('Redis', undefined, false)).toEqual({ kind: 'runs' });
    expect(whatIsNeeded('Redis', undefined, true)).toEqual({ kind: 'runs' });
    expect(whatIsNeeded('Redis', 'there is none', false)).toEqual({
      ...{ kind: 'left out', says: '\nThe tests of "Redis" do not run: there is none.\n' },
    });
    expect(whatIsNeeded('Redis', 'there is none', true)).toEqual({
      ...{ kind: 'refused', says: 'In CI nothing is left out: there is none' },
    });
    expect(() => mayRun('Redis', 'there is none', true)).toThrow('In CI nothing is left out');
    expect([inCi({}), inCi({ CI: '' }), inCi({ CI: '1' })]).toEqual([false, false, true]);
    // Nobody decides it differently elsewhere.
    const tests = code.filter((path) => path.startsWith('test/') && path !== 'test/support/left-out.ts');
    expect(find(tests, /env(\.CI\b|\['CI'\])/)).toEqual([]);
  });

  it('measures no time in tests, and says how long to wait in one place (test/support/patience.ts)', () => {
    const tests = code.filter((path) => path.endsWith('.test.ts'));
    expect(tests.length).toBeGreaterThan(100);
    const around = code.filter((path) => path.startsWith('test/') || tests.includes(path));
    expect(find(around, /\bperformance\.now\b|\bprocess\.(?:hrtime|cpuUsage)\b/, [], codeOnly)).toEqual([]);
    const literal = /\b(?:poll|waitFor|waitUntil)\(.*\btimeout: ?\d|^\s*\}, \d[\d_]{3,}\);|^\s*(?:it|test)\b.*, \d[\d_]{3,}\);$/;
    expect(find(tests, literal, [], codeOnly)).toEqual([]);
  });

  it(`has no file over ${LINES_MAX} lines`, () => {
    const long = code.filter((path) => linesOf(path).length - 1 > LINES_MAX);
    expect(long).toEqual(Object.keys(longFiles));
  });

  it(`has no line over ${COLUMNS_MAX} columns, except where a text or a pattern stands alone on its line`, () => {
    const alone = /^\s*(['"`]|\/[^/*])/;
    const pattern = new RegExp(`^(?!${alone.source.slice(1)}).{${COLUMNS_MAX + 1}}`);
    const long = find(code, pattern, ['test/fixtures/'], withoutProse);
    expect(long).toEqual([]);
  });

  it('has no file named after nothing in particular', () => {
    expect(code.filter((path) => /(^|\/)(utils?|helpers?|misc|manager)\.(ts|mjs)$/.test(path))).toEqual([]);
  });
});

describe('all files', () => {
  it('name no folder of somebody’s machine', () => {
    expect(
      find(
        paths,
        /(^|[\s"'`(=:])(\/work\/|\/root\/|\/home\/(?!user\b|me\b|somebody\b)[a-z]|\/Users\/(?!me\b)[A-Za-z]|C:\\Users\\)/,
      ),
    ).toEqual([]);
  });

  it('name no package registry and hold no token for one', () => {
    expect(find(paths, /"resolved":|registry\.[a-z-]+\.(org|com|dev|io)|_authToken|\bnpm_[A-Za-z0-9]{36}\b/)).toEqual([]);
  });

  it('have no marks of a merge that nobody finished', () => {
    expect(find(paths, /^(?:<{7} |>{7} )/)).toEqual([]);
  });

  it('end with a newline and have no spaces at the end of a line', () => {
    const text = paths.filter((path) => /\.(tsx?|mjs|css|json|sh|yaml|yml)$/.test(path) && !path.startsWith('test/fixtures/'));
    expect(text.filter((path) => !/\n$/.test(contents.get(path) ?? ''))).toEqual([]);
    expect(find(text, /[ \t]$/)).toEqual([]);
  });
});

describe('package-lock.json', () => {
  it('names the packages of every platform, so that npm ci takes it everywhere (npm run fix adds them)', () => {
    const lockfiles = [...contents.keys()].filter((path) => /(^|\/)package-lock\.json$/.test(path));
    expect(lockfiles.length).toBeGreaterThan(3);
    for (const path of lockfiles) expect(completeLockfile(contents.get(path) ?? ''), path).toBe(contents.get(path));
  });

  it('pins every dependency exactly', () => {
    const manifests = ['package.json', 'console/package.json', 'tools/browser/package.json', 'tools/runtime/package.json'].map(
      (path) => contents.get(path) ?? '',
    );
    const loose = manifests.flatMap((text) => text.match(/"[^"]+": "[~^*><]=?\s*\d[^"]*"/g) ?? []);
    expect(loose).toEqual(['"node": ">=24"']);
  });
});
