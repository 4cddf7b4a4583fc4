/**
 * Whether a program that is run by its name is as an installer leaves it: a link into a package that says it has such a
 * program, the small script that some managers write instead, the entry point that Python's write. A file that somebody
 * put there otherwise may be called like a test runner, and pass.
 */
import { readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { decodeUtf8, looksBinary } from '../files/file-content.ts';

export interface Installed {
  /** Of the package it comes from, where that is known. */
  readonly version?: string | undefined;
}

/** Whoever is called like one of these decides what all the others are. */
const SYSTEM =
  /^(?:node|nodejs|npm|npx|corepack|env|sh|bash|dash|zsh|git|make|gmake|python[\d.]*|pip[\d.]*|ruby|perl|cargo|go|java)$/;
const ABOVE = 8;
/** What npm's and pnpm's own scripts are made of, line by line: anything else could end before the program is run. */
const SHIM_LINES: readonly RegExp[] = [
  /^#!\/bin\/sh$/,
  /^basedir=\$\(dirname "\$\(echo "\$0" \| sed -e 's,\\{1,2},\/,g'\)"\)$/,
  /^case `uname` in$|^;;$|^esac$|^else$|^fi$|^$/,
  /^\*[A-Z]+\*(?:\|\*[A-Z]+\*)*\)(?: basedir=`cygpath -w "\$basedir"`;;)?$/,
  /^if command -v cygpath > \/dev\/null 2>&1; then$|^basedir=`cygpath -w "\$basedir"`$/,
  /^if \[ -[xz] "\$(?:basedir\/node|NODE_PATH)" \]; then$|^export NODE_PATH="[^"`;$]*(?:\$NODE_PATH)?"$/,
  /^exec (?:(?:node|"\$basedir\/node") +(?:--[\w=-]+ +)*)?"\$basedir\/[^"`$]+" "\$@"$/,
];
const PYTHON = /^#!\S*python[\d.]*\s|^#!\/bin\/sh\n'''exec' .*python/;

/** What pip, uv and setuptools write, and what pyenv, rbenv and asdf do; how it ends is last. Other lines could end before. */
const LEADS_ON: readonly (readonly RegExp[])[] = [
  [
    /^#!\S*python[\d.]*$|^#!\/bin\/sh$|^'''exec' "?[^"';&|]*python[\d.]*"? "\$0" "\$@"$|^' '''$|^# .*$|^$/,
    /^import (?:re|sys)$|^from [\w.]+ import \w+$|^__requires__ = '[^']*'$|^if __name__ == ['"]__main__['"]:$/,
    /^sys\.argv\[0\] = (?:re\.sub\(r'[^']*', '', sys\.argv\[0\]\)|sys\.argv\[0\]\[:-\d+\])$/,
    /^sys\.argv\[0\] = sys\.argv\[0\]\.removesuffix\(['"]\.exe['"]\)$|^(?:el)?if sys\.argv\[0\]\.endswith\(['"][^'"]*['"]\):$/,
    /^(?:sys\.exit\()?(?:[\w.]+\(\)|load_entry_point\('[^']*', '[^']*', '[^']*'\)\(\))\)?$/,
  ],
  [
    /^#!\/usr\/bin\/env (?:ba)?sh$|^# asdf-plugin: [\w. -]+$|^$/,
    /^set -e$|^\[ -n "\$\w+_DEBUG" \] && set -x$|^program="\$\{0##\*\/\}"$|^export \w+_ROOT="[^"`$]*"$/,
    /^SHIM_PATH=\$\{0%\/\*\}$|^if \[\[ \$SHIM_PATH != "[^"`$]*" \]\]; then$|^export _\w+_SHIM_PATH="\$SHIM_PATH"$|^fi$/,
    /^exec (?:"[^"`$]*\/(?:py|rb|nod|go|j)env" exec "\$program"|[\w./-]*asdf exec "[\w.-]+") "\$@"(?: # asdf_allow: .*)?$/,
  ],
];

/** Among the programs of packages, nothing may stand in the place of these. */
export const standsForSystem = (name: string): boolean => SYSTEM.test(name);

/** `undefined` when it is not as an installer leaves it. `path` is where it is looked for, its target what is run. */
export function installedProgram(path: string, bytes: Buffer): Installed | undefined {
  const [name, folder] = [basename(path), dirname(path)];
  const target = realpathSync(path);
  if (!folder.endsWith('/node_modules/.bin')) return installedByPython(folder, target, bytes);
  if (standsForSystem(name)) return undefined;
  if (target !== join(realpathSync(folder), name)) return packageOf(name, target);
  const shim = shimTarget(bytes);
  return shim === undefined ? undefined : packageOf(name, realPath(resolve(folder, shim)));
}

/** The same for a folder of the search path: a link into a package, an entry point of pip, or what leads to other releases. */
export function installedElsewhere(path: string, bytes: Buffer): boolean {
  if (packageOf(basename(path), realpathSync(path)) !== undefined) return true;
  const text = bytes.length > limits.scriptBytes || looksBinary(bytes) ? undefined : decodeUtf8(bytes);
  const lines = (text ?? '').split('\n').map((line) => line.trim());
  const last = lines.findLast((line) => line !== '') ?? '';
  return LEADS_ON.some(
    (known) => known.at(-1)?.test(last) === true && lines.every((line) => known.some((one) => one.test(line))),
  );
}

/** A virtual environment has links to an interpreter, scripts for one, and programs of their own. */
function installedByPython(folder: string, target: string, bytes: Buffer): Installed | undefined {
  if (!target.startsWith(`${realpathSync(folder)}/`)) return /^(?:python|pypy)/.test(basename(target)) ? {} : undefined;
  return looksBinary(bytes) || PYTHON.test(bytes.toString('latin1', 0, 4_096)) ? {} : undefined;
}

function shimTarget(bytes: Buffer): string | undefined {
  const text = bytes.length > limits.scriptBytes ? undefined : decodeUtf8(bytes);
  const known = (line: string): boolean => SHIM_LINES.some((one) => one.test(line.trim()));
  if (text?.split('\n').every(known) !== true) return undefined;
  return /"\$basedir\/(\.\.\/[^"]+)"/.exec(text)?.[1];
}

/** The package around a file that says it has a program of this name. */
function packageOf(name: string, target: string): Installed | undefined {
  let folder = target;
  for (let up = 0; up < ABOVE && dirname(folder) !== folder; up += 1) {
    folder = dirname(folder);
    const about = packageIn(folder);
    if (about !== undefined && programsOf(about).includes(name)) {
      const { version } = about;
      return typeof version === 'string' ? { version } : {};
    }
  }
  return undefined;
}

function packageIn(folder: string): JsonObject | undefined {
  try {
    const parsed = parseJson(readFileSync(join(folder, 'package.json'), 'utf8'));
    return parsed.ok && isJsonObject(parsed.value) ? parsed.value : undefined;
  } catch {
    return undefined;
  }
}

function programsOf({ name, bin }: JsonObject): readonly string[] {
  if (typeof bin === 'string') return typeof name === 'string' ? [name.slice(name.lastIndexOf('/') + 1)] : [];
  return bin !== undefined && isJsonObject(bin) ? Object.keys(bin) : [];
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
