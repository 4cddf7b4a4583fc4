/**
 * What is in a workspace, known at every moment somebody looks: the SHA-256 of each file, one digest over all of them, and
 * what changed since the last look, whoever changed it. A look costs one `lstat` per file; only files whose facts differ are
 * read again. Programs that are run by their names are looked at as well. A workspace beyond the limits is `unknown` from
 * then on, which proves nothing.
 */

import { hash } from 'node:crypto';
import { lstatSync, realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { type EntryBelow, entryAt, type FoldersBelow, foldersBelow, orNothing } from '../../base/files/entry-below.ts';
import { limits } from '../../base/limits.ts';
import { decodeUtf8, looksBinary } from '../files/file-content.ts';
import { committedFiles } from './committed-files.ts';
import { withLinksOut } from './leading-out.ts';
import { changedSearchPath, type SearchPath, searchPathOf } from './search-path.ts';
import { linkHash, type WatchedChange, type WatchedFile } from './watched-file.ts';
import { workspaceFiles } from './workspace-files.ts';
import { type Programs, programsIn, replacedPrograms } from './workspace-programs.ts';

export type WorkspaceState =
  | { readonly kind: 'known'; readonly digest: string }
  | { readonly kind: 'unknown'; readonly why: string };

export interface Look {
  readonly state: WorkspaceState;
  /** Since the last look here; empty at the first. */
  readonly changes: readonly WatchedChange[];
  /** A file holds what it held, and yet was written, moved or replaced in between. */
  readonly touched?: boolean | undefined;
  /** A folder of the search path in which something came and went since. */
  readonly passing?: string | undefined;
}

export interface WorkspaceWatch {
  look(workspace: string): Promise<Look>;
  /** Takes in a change that somebody else has reported, so that the next look does not report it again. */
  noted(workspace: string, path: string): Promise<void>;
  /** Somebody begins to work there. What comes back ends it, and says whether anybody else was there meanwhile. */
  enter(workspace: string): () => { readonly alone: boolean };
  /** Those of the paths that are as the last commit has them; without it, or without a repository, none is known to be. */
  committed?(workspace: string, paths: readonly string[]): Promise<ReadonlySet<string>>;
}

export interface WatchOptions {
  readonly clock: Clock;
  /** Ours, for git; it sees a small part of it. */
  readonly environment: Environment;
  /** Absolute paths that are not the workspace's own, such as the ledger: they and what begins with them do not count. */
  readonly except?: readonly string[] | undefined;
  /** The limit is `fingerprintFiles` unless said. */
  readonly maxFiles?: number | undefined;
}

interface Entry extends WatchedFile {
  readonly facts: string;
  /** Changed so shortly before it was read that a further change might leave its facts as they are. */
  readonly fresh: boolean;
}

interface WatchedPlace {
  files: Map<string, Entry> | undefined;
  programs: Programs | undefined;
  searchPath: SearchPath | undefined;
  digest: string | undefined;
  unknown: string | undefined;
  textBytes: number;
  /** Who works there now, each with whether others came meanwhile. */
  readonly inside: Set<{ alone: boolean }>;
  /** One look at a time. */
  queue: Promise<unknown>;
}

/** Clocks of file systems tick in steps of a few milliseconds. */
const FRESH_MS = 2_000;
const AT_ONCE = 512;

export function createWorkspaceWatch(options: WatchOptions): WorkspaceWatch {
  const places = new Map<string, WatchedPlace>();
  const placeOf = (root: string): WatchedPlace => {
    const known = places.get(root);
    if (known !== undefined) {
      // Those that were used last stand last.
      places.delete(root);
      places.set(root, known);
      return known;
    }
    forgetPlaces(places);
    const fresh = { files: undefined, programs: undefined, searchPath: undefined, digest: undefined, unknown: undefined };
    const place: WatchedPlace = { ...fresh, textBytes: 0, inside: new Set(), queue: Promise.resolve() };
    places.set(root, place);
    return place;
  };
  const inTurn = <Value>(place: WatchedPlace, work: () => Promise<Value>): Promise<Value> => {
    const done = place.queue.then(work);
    place.queue = done.catch(() => undefined);
    return done;
  };
  return {
    async look(workspace) {
      const root = rootOf(workspace);
      if (root === undefined) return { state: { kind: 'unknown', why: 'the workspace cannot be opened' }, changes: [] };
      const place = placeOf(root);
      return await inTurn(place, () => lookAt(place, root, options));
    },
    async noted(workspace, path) {
      const root = rootOf(workspace);
      const place = root === undefined ? undefined : places.get(root);
      if (root === undefined || place?.files === undefined) return;
      await inTurn(place, async () => {
        using folders = foldersBelow(root);
        const entry = read(place, folders, path, undefined, options.clock.now());
        if (entry === undefined) place.files?.delete(path);
        else place.files?.set(path, entry);
        place.digest = undefined;
      });
    },
    enter(workspace) {
      const place = placeOf(rootOf(workspace) ?? workspace);
      const me = { alone: place.inside.size === 0 };
      for (const other of place.inside) other.alone = false;
      place.inside.add(me);
      return () => {
        place.inside.delete(me);
        return { alone: me.alone };
      };
    },
    committed: (workspace, paths) => committedFiles(workspace, paths, options.environment),
  };
}

/** Of those where nobody is at work the ones that were used longest ago go: the next look there is a first one. */
function forgetPlaces(places: Map<string, WatchedPlace>): void {
  for (const [root, { inside }] of places) {
    if (places.size < limits.watchedPlaces) return;
    if (inside.size === 0) places.delete(root);
  }
}

function rootOf(workspace: string): string | undefined {
  try {
    return realpathSync(workspace);
  } catch {
    return undefined;
  }
}

async function lookAt(place: WatchedPlace, root: string, options: WatchOptions): Promise<Look> {
  if (place.unknown !== undefined) return unknown(place.unknown);
  const { clock, environment, except = [], maxFiles = limits.fingerprintFiles } = options;
  const listed = await workspaceFiles(root, environment, maxFiles);
  if (!listed.ok) return give(place, listed.error);
  // What was seen once stays in view, also when somebody makes git pass over it.
  const paths = new Set([...(place.files?.keys() ?? []), ...listed.value]);
  const excluded = except.map((path) => relative(root, path).split(sep).join('/')).filter((path) => /^(?!\.\.\/|$)/.test(path));
  const files = new Map<string, Entry>();
  const changes: WatchedChange[] = [];
  let [count, bytes, touched] = [0, 0, false];
  using folders = foldersBelow(root);
  for (const path of paths) {
    if (excluded.some((start) => path.startsWith(start))) continue;
    count += 1;
    if (count % AT_ONCE === 0) await new Promise((resolve) => setImmediate(resolve));
    const known = place.files?.get(path);
    const entry = read(place, folders, path, known, clock.now());
    if (entry !== undefined) files.set(path, entry);
    touched ||= known !== undefined && entry?.sha256 === known.sha256 && entry.facts !== known.facts;
    if (entry !== known) bytes += sizeOf(entry);
    if (bytes > limits.fingerprintBytes)
      return give(place, `the files of the workspace have more than ${limits.fingerprintBytes} bytes (fingerprintBytes)`);
    if (entry?.sha256 !== known?.sha256 || entry?.executable !== known?.executable)
      changes.push({ path, before: known, after: entry });
  }
  const path = environment['PATH'] ?? '';
  const programs = programsIn(root, files.keys(), path, place.programs);
  if (!programs.ok) return give(place, programs.error);
  const searchPath = searchPathOf(root, path, place.searchPath);
  const found = changedSearchPath(root, path, place.searchPath ?? searchPath, searchPath);
  const replaced = [...replacedPrograms(place.programs ?? programs.value, programs.value), ...found.programs];
  const first = place.files === undefined;
  Object.assign(place, { files, programs: programs.value, searchPath });
  place.digest = changes.length > 0 ? digestOf(files) : (place.digest ?? digestOf(files));
  const state = { kind: 'known' as const, digest: place.digest };
  return { state, changes: first ? [] : together(replaced, withLinksOut(root, changes, files)), touched, passing: found.passing };
}

/** Programs first: of many changes only the first ones are recorded. */
function together(programs: readonly WatchedChange[], files: readonly WatchedChange[]): readonly WatchedChange[] {
  const told = new Set(programs.map(({ path }) => path));
  return [...programs, ...files.filter(({ path }) => !told.has(path))];
}

function give(place: WatchedPlace, why: string): Look {
  Object.assign(place, { unknown: why, files: undefined, programs: undefined, textBytes: 0 });
  return unknown(why);
}

const unknown = (why: string): Look => ({ state: { kind: 'unknown', why }, changes: [] });

const sizeOf = (entry: Entry | undefined): number => Number(entry?.facts.slice(0, entry.facts.indexOf(':')) ?? 0);

/** The same entry when its facts are the same; `undefined` when there is nothing. No link in any part of the path is followed. */
function read(
  place: WatchedPlace,
  folders: FoldersBelow,
  path: string,
  known: Entry | undefined,
  now: number,
): Entry | undefined {
  try {
    const at = orNothing(() => folders.entry(path));
    const stat = at === undefined ? undefined : lstatSync(at, { throwIfNoEntry: false });
    if (at === undefined || stat === undefined || stat.isDirectory()) return forget(place, known);
    if (known !== undefined && known.facts === factsOf(stat) && !known.fresh) return known;
    forget(place, known);
    const found = orNothing(() => entryAt(at, limits.fingerprintBytes));
    return found === undefined || found.kind === 'folder' ? undefined : entryOf(place, found, now);
  } catch {
    return { facts: '0:unreadable', fresh: true, executable: false, sha256: 'unreadable', binary: true };
  }
}

const factsOf = ({ size, mtimeMs, ctimeMs, ino, mode }: EntryBelow['facts']): string =>
  `${size}:${mtimeMs}:${ctimeMs}:${ino}:${mode}`;

function entryOf(place: WatchedPlace, found: EntryBelow, now: number): Entry {
  const facts = factsOf(found.facts);
  const fresh = found.facts.ctimeMs > now - FRESH_MS;
  const base = { facts, fresh, executable: (found.facts.mode & 0o111) !== 0, binary: true };
  if (found.kind === 'link') return { ...base, sha256: linkHash(found.target.toString()) };
  if (found.kind === 'large') return { ...base, sha256: `large ${facts}` };
  return found.kind === 'file' ? withText(place, base, found.bytes) : { ...base, sha256: 'special' };
}

function withText(place: WatchedPlace, base: Omit<Entry, 'sha256'>, bytes: Buffer): Entry {
  const sha256 = hash('sha256', bytes);
  const binary = looksBinary(bytes);
  const room = Math.min(limits.fingerprintTextBytes, limits.fingerprintTextsBytes - place.textBytes);
  const text = !binary && bytes.length <= room ? decodeUtf8(bytes) : undefined;
  if (text !== undefined) place.textBytes += sizeOf({ ...base, sha256 });
  return { ...base, sha256, binary, text };
}

function forget(place: WatchedPlace, known: Entry | undefined): undefined {
  if (known?.text !== undefined) place.textBytes -= sizeOf(known);
  return undefined;
}

function digestOf(files: ReadonlyMap<string, Entry>): string {
  const lines = [...files].map(([path, { sha256, executable }]) => `${path}\0${sha256}${executable ? ' x' : ''}\n`);
  return hash('sha256', lines.sort().join(''));
}
