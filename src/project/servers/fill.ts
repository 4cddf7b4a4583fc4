/** Names in the entries of other tools that stand for something else: variables, folders, what a person is asked for. */
import { homedir } from 'node:os';
import { basename, sep } from 'node:path';
import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';

export type FileStyle = 'claude' | 'opencode' | 'vscode';

export interface FillFrom {
  readonly root: string;
  readonly env: Environment;
}

export interface FilledText {
  readonly text: string;
  /** Variables of the environment whose values are in it. */
  readonly taken: readonly string[];
  /** Why it cannot be filled. */
  readonly problem?: string;
}

/** What stands between the signs: a value, a variable, or something that is not done here. */
type Meaning =
  | { readonly kind: 'value'; readonly value: string }
  | { readonly kind: 'variable'; readonly name: string; readonly fallback?: string | undefined }
  | { readonly kind: 'unknown' };

const NAMES: Readonly<Record<FileStyle, RegExp>> = {
  claude: /\$\{([A-Za-z_][A-Za-z0-9_]*(?::-[^}]*)?)\}/g,
  opencode: /\{((?:env|file):[^}]*)\}/g,
  vscode: /\$\{([^}]*)\}/g,
};

/** Once and never again: what a value holds is not looked at. `hide` says whose value is not to be shown. */
export function fill(
  style: FileStyle,
  text: string,
  around: FillFrom,
  hide: (name: string, value: string) => boolean,
): FilledText {
  const taken: string[] = [];
  let problem: string | undefined;
  const filled = text.replaceAll(NAMES[style], (whole, inner: string) => {
    const meaning = meaningOf(style, inner, around);
    if (meaning.kind === 'value') return meaning.value;
    if (meaning.kind === 'unknown') {
      problem ??= `${whole} is not known here`;
      return whole;
    }
    const { name, fallback } = meaning;
    const value = around.env[name];
    const isSet = value !== undefined && (value !== '' || fallback === undefined);
    if (!isSet && fallback !== undefined) return fallback;
    if (!isSet) {
      problem ??= `the environment variable ${name} is not set`;
      return whole;
    }
    taken.push(name);
    return hide(name, value) ? whole : value;
  });
  return { text: filled, taken, ...present({ problem }) };
}

function meaningOf(style: FileStyle, inner: string, { root, env }: FillFrom): Meaning {
  if (style === 'claude') {
    const [, name = '', fallback] = /^([^:]*)(?::-([\s\S]*))?$/.exec(inner) ?? [];
    // Claude Code sets it for what it starts.
    if (name === 'CLAUDE_PROJECT_DIR') return { kind: 'value', value: root };
    return { kind: 'variable', name, fallback };
  }
  const [, word = '', rest] = /^([^:]*)(?::([\s\S]*))?$/.exec(inner) ?? [];
  if (word === 'env' && rest !== undefined && rest !== '') return { kind: 'variable', name: rest };
  if (style === 'opencode') return { kind: 'unknown' };
  if (word === 'input' && rest !== undefined && rest !== '') return { kind: 'variable', name: inputVariable(rest) };
  const folders: Readonly<Record<string, string>> = {
    workspaceFolder: root,
    workspaceFolderBasename: basename(root),
    cwd: root,
    userHome: env['HOME'] || homedir(),
    pathSeparator: sep,
    '/': sep,
  };
  const value = Object.hasOwn(folders, inner) ? folders[inner] : undefined;
  return value === undefined ? { kind: 'unknown' } : { kind: 'value', value };
}

/** VS Code asks a person; here there may be nobody, so a variable has it. */
export const inputVariable = (id: string): string => `INPUT_${id.toUpperCase().replaceAll(/[^A-Z0-9]/g, '_')}`;
