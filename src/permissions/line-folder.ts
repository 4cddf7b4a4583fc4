/**
 * Where a line goes by `cd`. The shell takes `..` off the name of the folder it is in, programs and `cd -P` off the folder that a
 * link leads to. What the shell does is done here; what is left in a path is for whoever looks at the folders.
 */
import { posix } from 'node:path';
import type { Variables } from './plain-command.ts';

export interface LinePlace {
  readonly folder: string;
  /** `..` goes to the folder above the one that a link leads to. */
  readonly physical: boolean;
}

export const START: LinePlace = { folder: '', physical: false };

export function placeBelow({ folder, physical }: LinePlace, to: string): string {
  if (to === '') return folder;
  if (to.startsWith('/') || folder === '') return physical ? to : tidy(to);
  return physical ? `${folder}/${to}` : tidy(`${folder}/${to}`);
}

/** Where `cd` goes that was given these words; `undefined` where they do not say it. */
export function movedByLine(
  from: LinePlace,
  words: readonly string[],
  dynamic: boolean,
  variables: Variables,
): LinePlace | undefined {
  const flags = words.filter((word) => /^-(?:[LPe@]+|-)$/.test(word));
  const [given, more] = words.filter((word) => !flags.includes(word));
  const target = given === undefined ? undefined : dynamic ? hereBy(given, variables) : given;
  if (target === undefined || more !== undefined || /^[-+]/.test(target) || flags.some((flag) => flag.includes('@')))
    return undefined;
  const isPhysical = flags.join('').replaceAll(/[^LP]/g, '').endsWith('P');
  if (!isPhysical) return { ...from, folder: placeBelow(from, tidy(target)) };
  return { folder: placeBelow({ ...from, physical: true }, target), physical: true };
}

/** `$PWD/web` is `web`. */
function hereBy(text: string, variables: Variables): string | undefined {
  const rest = variables.has('PWD') ? undefined : /^(?:\$PWD|\$\{PWD\}|\$\(pwd\))((?:\/[\w.@+-]+)*)\/?$/.exec(text)?.[1];
  return rest === undefined ? undefined : `.${rest}`;
}

function tidy(path: string): string {
  const plain = posix.normalize(path).replace(/(?<=.)\/$/, '');
  return plain === '.' ? '' : plain;
}
