/**
 * How artifacts, environments and events are called: `artifact://patches/patch-0001.diff`, `env://hash/0123456789ab`,
 * `event://ses_…/task.snapshot/0123abcd`. Names are letters, digits, dots, dashes and underscores: what comes from a file or
 * from an agent is made so, and can lead nowhere.
 */
import type { SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type EventType, isEventType } from '../events/catalogue.ts';
import type { ArtifactType } from '../events/evidence.ts';

/** Where artifacts of a type are; previews have a folder of their own. */
const FOLDERS: Readonly<Record<ArtifactType, string>> = {
  patch: 'patches',
  workspace_snapshot: 'snapshots',
  build_output: 'build',
  test_report: 'reports',
  log_bundle: 'logs',
  doc: 'docs',
  table: 'tables',
  image: 'images',
};
const PREVIEWS = 'previews';

const SCHEME = 'artifact://';
const NAME = /^(?!\.)[A-Za-z0-9._-]+$/;
/** Stands for a number in a name that is asked for: `patch-#.diff`. */
const NUMBER = '#';
const DIGITS = 4;

export function artifactRef(type: ArtifactType, name: string): string {
  return `${SCHEME}${FOLDERS[type]}/${name}`;
}

export const previewRef = (name: string): string => `${SCHEME}${PREVIEWS}/${name}`;

export function isArtifactRef(text: string): boolean {
  const [folder = '', name = '', ...more] = text.startsWith(SCHEME) ? text.slice(SCHEME.length).split('/') : [];
  return more.length === 0 && [...Object.values(FOLDERS), PREVIEWS].includes(folder) && NAME.test(name);
}

/** A name that can be part of a reference and of a path on any system, close to what was asked for. */
export function cleanName(wanted: string): string {
  const cleaned = wanted
    .normalize('NFKD')
    .replaceAll(/[^A-Za-z0-9._#-]+/g, '-')
    .replaceAll(/\.{2,}/g, '.')
    .replace(/^[.-]+/, '')
    .replace(/[.-]+$/, '');
  const dot = cleaned.lastIndexOf('.');
  const ending = dot > 0 && cleaned.length - dot <= ENDING ? cleaned.slice(dot) : '';
  const start = cleaned.slice(0, cleaned.length - ending.length).slice(0, limits.artifactNameCharacters - ending.length);
  return `${start === '' ? 'artifact' : start}${ending}`;
}

const ENDING = 12;

/** The names to be tried, from the given number on: with a number where one is asked for, else only from the second on. */
export function numberedName(name: string, number: number): string {
  if (name.includes(NUMBER)) return name.replaceAll(NUMBER, String(number).padStart(DIGITS, '0'));
  if (number === 1) return name;
  const dot = name.lastIndexOf('.');
  return dot > 0 ? `${name.slice(0, dot)}-${number}${name.slice(dot)}` : `${name}-${number}`;
}

const ENVIRONMENT = 'env://hash/';
const ENVIRONMENT_DIGITS = 12;

export const environmentRef = (sha256: string): string => ENVIRONMENT + sha256.slice(0, ENVIRONMENT_DIGITS);

/** The beginning of the hash; `undefined` when it is no such reference. */
export function hashInEnvironmentRef(text: string): string | undefined {
  const hash = text.startsWith(ENVIRONMENT) ? text.slice(ENVIRONMENT.length) : '';
  return /^[0-9a-f]{4,64}$/.test(hash) ? hash : undefined;
}

export interface EventRef {
  /** Absent where the reference only says `session`: the one that is asked in. */
  readonly session?: SessionId;
  readonly type: EventType;
  /** The beginning of the SHA-256 of its payload. */
  readonly hash: string;
}

export function parseEventRef(text: string): EventRef | undefined {
  const [, session = '', type = '', hash = ''] = /^event:\/\/([0-9A-Za-z_-]+)\/([a-z.]+)\/([0-9a-f]{4,64})$/.exec(text) ?? [];
  if (!isEventType(type)) return undefined;
  return { type, hash, ...(session === 'session' ? {} : { session: session as SessionId }) };
}
