/**
 * By what npm and its like run a script: a setting decides it, and settings lie where no change of the workspace shows, at the
 * user's home or in a file that git ignores. One that names no shell makes every script pass.
 */
import { readFile, stat } from 'node:fs/promises';
import { dirname, isAbsolute, join } from 'node:path';
import { limits } from '../../base/limits.ts';

export interface SettingsPlaces {
  readonly folder: string;
  readonly home: string | undefined;
  /** Where npm was found. */
  readonly program: string | undefined;
}

const FILES = ['.npmrc', '.yarnrc'];
const SHELL = /^(?:(?:ba|da|z|k|a|fi)?sh|pwsh|powershell|cmd)(?:\.exe)?$/i;
const FOR_ALL = ['/tmp/', '/var/tmp/', '/dev/shm/'];
const SHOWS_USAGE = /^\s*"?usage"?\s*(?:=\s*"?true"?\s*)?$/im;
const LOADS = /(?:^|\s)(?:--require|-r|--import|--loader|--experimental-loader)\b/;

/** Why scripts may not be run as they are written, if a setting says so. */
export async function strangeScriptShell({ folder, home, program }: SettingsPlaces): Promise<string | undefined> {
  const near: string[] = [];
  for (let at = folder; ; at = dirname(at)) {
    near.push(...FILES.map((name) => join(at, name)));
    if (at === dirname(at)) break;
  }
  const far = [
    ...(home === undefined ? [] : FILES.map((name) => join(home, name))),
    ...(program === undefined ? [] : [join(dirname(program), '../etc/npmrc')]),
  ];
  for (const path of new Set([...far, ...near])) {
    const text = await textIn(path);
    if (SHOWS_USAGE.test(text)) return `${path} has npm show how it is used, and run nothing`;
    const shell = settingIn(text, 'script-shell');
    if (shell !== undefined && !isShell(shell, [folder, ...(home === undefined ? [] : [home])]))
      return `${path} has scripts run by ${shell.slice(0, 80)}, which is no shell of the system`;
    const options = far.includes(path) ? settingIn(text, 'node-options') : undefined;
    if (options !== undefined && LOADS.test(options)) return `${path} has node load something before everything else`;
  }
  return undefined;
}

function isShell(value: string, own: readonly string[]): boolean {
  const name = value.slice(Math.max(value.lastIndexOf('/'), value.lastIndexOf('\\')) + 1);
  if (!SHELL.test(name)) return false;
  if (!value.includes('/')) return true;
  return isAbsolute(value) && ![...FOR_ALL, ...own.map((place) => `${place}/`)].some((place) => value.startsWith(place));
}

function settingIn(text: string, name: string): string | undefined {
  const line = text.split('\n').findLast((one) => new RegExp(`^\\s*"?${name}"?\\s*[= ]`).test(one));
  return line
    ?.replace(/^\s*"?[\w-]+"?\s*[= ]\s*/, '')
    .trim()
    .replace(/^(["'])(.*)\1$/, '$2');
}

async function textIn(path: string): Promise<string> {
  const facts = await stat(path).catch(() => undefined);
  if (facts?.isFile() !== true || facts.size > limits.scriptBytes) return '';
  return await readFile(path, 'utf8').catch(() => '');
}
