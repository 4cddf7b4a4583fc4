/**
 * Whether a test that was moved or given another name is still run. A runner finds its tests by their names and places, so it is
 * certain only where the command names no more than a runner whose way of looking is known, or patterns that fit the new path,
 * and where what the test brings in is the same there.
 */
import { posix } from 'node:path';
import type { CommandOnTheWay } from '../../tools/shell/on-the-way.ts';

type TextOf = (path: string) => string | undefined;

interface Runner {
  readonly isRun: (words: readonly string[]) => boolean;
  /** Options that change nothing about which tests there are. */
  readonly harmless: RegExp;
  readonly finds: RegExp;
  /** Files that may tell it otherwise; a name in `package.json` as well. */
  readonly config?: { readonly files: readonly string[]; readonly key: string };
}

const ENDS = ['ts', 'mts', 'cts', 'js', 'mjs', 'cjs', 'json'];
const configs = (name: string): string[] => ENDS.map((end) => `${name}.config.${end}`);
const RUNNERS: readonly Runner[] = [
  {
    isRun: ([name, ...rest]) => name === 'node' && rest.includes('--test'),
    harmless: /^--(?:test|test-reporter=\w+|test-concurrency=\d+|test-force-exit|enable-source-maps|no-warnings)$/,
    finds: /(?:^|\/)(?:[^/]*[._-]test|test-[^/]*|test)\.[cm]?[jt]s$|(?:^|\/)test\/(?:.*\/)?[^/]+\.[cm]?[jt]s$/,
  },
  {
    isRun: ([name]) => name === 'vitest',
    harmless: /^(?:run|--run|--reporter=\w+|--coverage)$/,
    finds: /\.(?:test|spec)\.[cm]?[jt]sx?$/,
    config: { files: [...configs('vitest'), ...configs('vite'), ...configs('vitest.workspace')], key: 'vitest' },
  },
  {
    isRun: ([name]) => name === 'jest',
    harmless: /^--(?:ci|runInBand|coverage|silent|verbose)$/,
    finds: /\.(?:test|spec)\.[jt]sx?$/,
    config: { files: configs('jest'), key: 'jest' },
  },
];
/** Where runners do not look. */
const PASSED_OVER = /(?:^|\/)(?:\.[^/]*|node_modules|dist|build|out|coverage|cypress|vendor|tmp)\//;
const PATTERN = /^[\w./*-]*\*[\w./*-]*$/;
/** It says where it is. */
const KNOWS_ITS_PLACE = /\b__(?:dirname|filename|file__)\b|\bimport\.meta\b|\brequire\.(?:resolve|main)\b/;
const RELATIVE = /(?:\bfrom\s*|\bimport\s*\(?\s*|\brequire\s*\(\s*)["'](\.[^"'\n]*)["']/g;
const FOUND_AS = ['', '.js', '.ts', '.mjs', '.cjs', '.mts', '.cts', '.tsx', '.jsx', '.json', '/index.js', '/index.ts'];

export function isStillRun(from: string, to: string, commands: readonly CommandOnTheWay[], textOf: TextOf): boolean {
  const text = textOf(to);
  if (text === undefined || posix.extname(from) !== posix.extname(to) || PASSED_OVER.test(to)) return false;
  return isSameThere(from, to, text, textOf) && commands.some((command) => isFoundBy(to, command, textOf));
}

function isFoundBy(path: string, { words, at }: CommandOnTheWay, textOf: TextOf): boolean {
  const runner = RUNNERS.find(({ isRun }) => isRun(words));
  if (runner === undefined || (at !== '' && !path.startsWith(`${at}/`))) return false;
  const { config, harmless, finds } = runner;
  const rest = words.slice(1).filter((word) => !harmless.test(word));
  const below = at === '' ? path : path.slice(at.length + 1);
  const isTold = config?.files.some((name) => textOf(posix.join(at, name)) !== undefined) === true;
  if (isTold || (config !== undefined && textOf(posix.join(at, 'package.json'))?.includes(`"${config.key}":`) === true))
    return false;
  if (rest.length === 0) return finds.test(below);
  return runner === RUNNERS[0] && rest.every((word) => PATTERN.test(word)) && rest.some((word) => fits(word, below));
}

/** As both the shell and the runner take it: nobody knows here who of them does. */
function fits(pattern: string, path: string): boolean {
  const parts = pattern.replace(/^(?:\.\/)+/, '').split('/');
  const names = path.split('/');
  const isLike = (part: string, name: string): boolean =>
    !name.startsWith('.') && new RegExp(`^${part.replaceAll('.', '\\.').replaceAll(/\*+/g, '.*')}$`).test(name);
  return parts.length === names.length && parts.every((part, index) => isLike(part, names[index] ?? ''));
}

/** What it brings in by a path from where it stands holds the same. */
function isSameThere(from: string, to: string, text: string, textOf: TextOf): boolean {
  const [old, now] = [posix.dirname(from), posix.dirname(to)];
  if (old === now) return true;
  const contentOf = (folder: string, name: string): string | undefined =>
    FOUND_AS.map((end) => textOf(posix.join(folder, name) + end)).find((one) => one !== undefined);
  const isSame = (name: string): boolean => {
    const content = contentOf(now, name);
    return content !== undefined && content === contentOf(old, name);
  };
  return !KNOWS_ITS_PLACE.test(text) && [...text.matchAll(RELATIVE)].every(([, name = '']) => isSame(name));
}
