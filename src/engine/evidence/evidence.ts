/**
 * "Done" is checked. What a report claims is compared with what the runtime itself has seen: a file whose recorded change is
 * what it holds now, a command that ended with 0 for sure and after which nothing was changed, by anybody. Claims are
 * compared by meaning: real paths, parsed commands. Agents cannot write such events.
 */

import { createHash } from 'node:crypto';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, normalize, relative, resolve } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Claim, Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { exitMeaning, type ProvedCommand } from '../../permissions/exit-code.ts';
import { folderNamed } from '../../tools/shell/folder-named.ts';
import { type WayToTests, wayOf } from '../../tools/shell/on-the-way.ts';
import { commandText, relativeWords } from '../../tools/shell/proved-commands.ts';
import { looksLikeTestRun } from '../../tools/shell/test-commands.ts';
import type { WorkspaceState } from '../../tools/watch/workspace-watch.ts';
import { isTest, weakenedTests } from '../old-tests/weakened-tests.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import { sinceStartedAnew } from '../record/standing-events.ts';
import type { Writes } from '../record/writes.ts';
import type { WorksInFolders } from './folders.ts';
import { seenInFolderOf } from './folders.ts';
import { changedSince } from './freshness.ts';
import { mendedMeanwhile } from './mended-meanwhile.ts';
import { passingProgram, replacementReasons } from './replaced-programs.ts';

type Checked = Payloads['evidence.checked'];
type Verdict = Checked['claims'][number];
type Run = EventOf<'cli.run'>;
type Proof = NonNullable<Run['payload']['proves']>[number];

export interface Seen {
  /** `file.diff` and `cli.run` of all the work in this workspace, oldest first. */
  readonly events: readonly LedgerEvent[];
  readonly workspace: string;
  /** What the workspace holds now. */
  readonly now: WorkspaceState;
  /** Changes of earlier prompts of the session that are still open here, and what became of these files since. */
  readonly earlier?: readonly EventOf<'file.diff'>['payload'][] | undefined;
  /** Changing tests is part of the work, as the project's owner says. */
  readonly testsMayChange?: boolean | undefined;
}

export function checkClaims(claims: readonly Claim[], seen: Seen): Checked {
  const root = real(seen.workspace);
  const changes = allChanges(seen);
  const doubts = {
    programs: replacementReasons(seen, [...claims.map(commandOf), ...scriptsOf(seen.events, root)]),
    tests:
      seen.testsMayChange === true ? [] : weakenedTests(changes, textsIn(root), root, wayOfCommands(claims.map(commandOf), root)),
  };
  const verdicts = claims.map((claim) =>
    claim.kind === 'file' ? checkFile(claim, seen.events, root) : checkCommand(claim, { ...seen, workspace: root }, doubts),
  );
  return { claims: verdicts, verified: verdicts.every((verdict) => verdict.backed) };
}

const commandOf = (claim: Claim): string => (claim.kind === 'command' ? lineOf(claim.command) : '');

/** Commands are told as pages show them, too: `$ npm test`, or between backquotes. */
const lineOf = (command: string): string =>
  command
    .trim()
    .replace(/^`([^`]+)`$/, '$1')
    .replace(/^\$\s+(?=\S)/, '');

/** What these lines go through, whether they prove something or not; files and lines of those that run tests, unless said. */
export function wayOfCommands(
  lines: readonly string[],
  root: string,
  counts: (command: string) => boolean = looksLikeTestRun,
): WayToTests {
  const ways = lines.flatMap((line) => {
    const meaning = exitMeaning(line);
    if (!meaning.ok) return [];
    const all = [...meaning.value.proved, ...meaning.value.hidden.map((one) => one.command)];
    return all.map(({ words, folder }) => {
      const way = wayOf(words, root, folderNamed(root, folder));
      return counts(words.join(' ')) ? way : { ...way, files: [], lines: [] };
    });
  });
  return {
    files: ways.flatMap(({ files }) => files),
    commands: ways.flatMap(({ commands }) => commands),
    lines: ways.flatMap((way) => way.lines),
  };
}

/** What says which programs a command of the project runs. */
export function scriptsOf(events: readonly LedgerEvent[], root: string): readonly (string | undefined)[] {
  const through = events.flatMap((event) => (event.event_type === 'cli.run' ? (event.payload.proves ?? []) : []));
  return [...new Set(['package.json', ...through.flatMap((proof) => proof.through ?? [])])].map(textsIn(root));
}

/** What files of a folder hold now. */
export function textsIn(folder: string): (path: string) => string | undefined {
  return (path) => {
    try {
      const absolute = join(folder, path);
      return statSync(absolute).size > limits.readFileBytes ? undefined : readFileSync(absolute, 'utf8');
    } catch {
      return undefined;
    }
  };
}

/** Of all the session's work, as far as it may still matter. */
export function allChanges({ earlier = [], events }: Pick<Seen, 'earlier' | 'events'>) {
  return [...earlier, ...changesIn(events)];
}

export function changesIn(events: readonly LedgerEvent[]): readonly EventOf<'file.diff'>['payload'][] {
  return events.flatMap((event) => (event.event_type === 'file.diff' ? [event.payload] : []));
}

function checkFile(claim: Extract<Claim, { kind: 'file' }>, events: readonly LedgerEvent[], root: string): Verdict {
  const absolute = realFile(resolve(root, claim.path));
  const path = relative(root, absolute);
  const changes = events.filter(
    (event): event is EventOf<'file.diff'> => event.event_type === 'file.diff' && event.payload.path === path,
  );
  const last = changes.at(-1);
  if (last === undefined) return { claim, backed: false, why: 'no recorded change of this file' };
  const by = last.position;
  if (changes.every(({ payload }) => payload.by === 'outside'))
    return { claim, backed: false, by, why: 'this file was changed, but not by this work' };
  if (checksum(absolute) !== last.payload.after)
    return { claim, backed: false, by, why: 'the file has changed since, or is gone' };
  if (changes[0]?.payload.before === last.payload.after)
    return { claim, backed: false, by, why: 'the file holds what it held before: nothing was changed' };
  return { claim, backed: true, by, why: 'the recorded change is what the file holds now' };
}

/** What the work changed of that which commands rest on. */
interface Doubts {
  readonly programs: readonly string[];
  readonly tests: readonly string[];
}

function checkCommand(claim: Extract<Claim, { kind: 'command' }>, seen: Seen, { programs, tests }: Doubts): Verdict {
  const meaning = exitMeaning(commandOf(claim));
  if (!meaning.ok) return { claim, backed: false, why: `this proves nothing: ${meaning.error}` };
  const [hidden] = meaning.value.hidden;
  if (hidden !== undefined)
    return { claim, backed: false, why: `this proves nothing about ${commandText(hidden.command)}: ${hidden.why}` };
  const wanted = meaning.value.proved.map((command) => wantedOf(command, seen.workspace));
  if (wanted.length === 0) return { claim, backed: false, why: 'this proves nothing: it cannot fail' };
  let by: number | undefined;
  for (const one of wanted) {
    const verdict = checkOne(one, seen);
    if (!verdict.backed) return { claim, ...verdict };
    by = verdict.by;
  }
  const doubt = programs[0] ?? (wanted.some(({ text }) => !isNoTest(text)) ? tests[0] : undefined);
  if (doubt !== undefined) return { claim, backed: false, ...present({ by }), why: `what it ran was changed: ${doubt}` };
  return {
    claim,
    backed: true,
    ...present({ by }),
    why: 'its last run ended with 0 and nothing was changed since',
  };
}

/** What these say does not depend on tests; `node --test test/lint.test.js` is none of them, nor is a file of such a name. */
const NO_TEST = /\b(?:build|lint|format|fmt|typecheck|tsc|eslint|compile|install|prettier|biome)\b/;
const isNoTest = (command: string): boolean =>
  !looksLikeTestRun(command) && command.split(' ').some((word) => !/[./=]/.test(word) && NO_TEST.test(word));

interface Wanted {
  readonly text: string;
  readonly folder: string;
  /** The program's real path and the rest of the line, where the claim gives it as a path. */
  readonly program?: { readonly path: string; readonly rest: string };
}

function wantedOf(command: ProvedCommand, root: string): Wanted {
  const folder = real(folderNamed(root, command.folder));
  const words = relativeWords(command.words, folder);
  const text = commandText({ ...command, words });
  if (command.program?.startsWith('/') !== true) return { text, folder };
  const rest = commandText({ ...command, words: words.slice(1) });
  return {
    text: commandText({ ...command, words: [command.program, ...words.slice(1)] }),
    folder,
    program: { path: real(command.program), rest },
  };
}

function checkOne(wanted: Wanted, seen: Seen): { readonly backed: boolean; readonly by?: number; readonly why: string } {
  const runs = seen.events.filter(
    (event): event is Run => event.event_type === 'cli.run' && event.payload.cwd === seen.workspace,
  );
  const index = runs.findLastIndex(({ payload }) => proofFor(wanted, payload) !== undefined);
  const run = runs[index];
  const proof = run === undefined ? undefined : proofFor(wanted, run.payload);
  const failure = runs.findLast(({ payload }, at) => at > index && didFail(payload) && names(payload, wanted));
  if (failure !== undefined) {
    const { exitCode, stopped } = failure.payload;
    const how = stopped === undefined ? `ended with ${exitCode ?? 'a signal'}` : 'was stopped before it ended';
    return { backed: false, by: failure.position, why: `its last run ${how}` };
  }
  if (run === undefined || proof === undefined) return notProved(wanted, runs);
  const own =
    unreadScript(proof, seen) ??
    passingProgram(run) ??
    changedOnTheWay(proof, seen)[0] ??
    mendedMeanwhile(run, proof.command, allChanges(seen), textsIn(seen.workspace));
  if (own !== undefined) return { backed: false, by: run.position, why: `its run proves nothing: ${own}` };
  const since = changedSince(run, proof, runs.slice(index + 1), seen);
  return since === undefined ? { backed: true, by: run.position, why: '' } : { backed: false, by: run.position, why: since };
}

function notProved(
  wanted: Wanted,
  runs: readonly Run[],
): { readonly backed: boolean; readonly by?: number; readonly why: string } {
  for (const { payload, position } of runs.toReversed()) {
    const hidden =
      payload.unproved?.find(({ command }) => command === wanted.text) ??
      (names(payload, wanted) ? payload.unproved?.[0] : undefined);
    if (hidden !== undefined) return { backed: false, by: position, why: `its run proves nothing: ${hidden.why}` };
  }
  return { backed: false, why: 'this command was not run' };
}

/** A script that nobody could read is trusted as the project's, but not when it was written in this very work. */
export function unreadScript({ unread }: Proof, seen: Pick<Seen, 'earlier' | 'events'>): string | undefined {
  if (unread === undefined) return undefined;
  const named = unread.script === undefined ? undefined : JSON.stringify(unread.script);
  const written = allChanges(seen).some(({ path, by, diff }) => {
    if (path !== unread.path || by === 'outside') return false;
    return named === undefined || diff.split('\n').some((line) => line.startsWith('+') && line.includes(named));
  });
  const what = named === undefined ? unread.path : `the script ${named} of ${unread.path}`;
  return written ? `${what} was written in this work, and whether it can fail cannot be read from it` : undefined;
}

/** Files that the command goes through on its way to the tests: changed in this work, they may lead elsewhere. */
export function changedOnTheWay(
  { command, through = [] }: Pick<Proof, 'command' | 'through'>,
  seen: Pick<Seen, 'earlier' | 'events' | 'testsMayChange'>,
  /** Whether the command is the agent's own choice: then what it names itself is what it is about. */
  chosen = true,
): readonly string[] {
  if (seen.testsMayChange === true || isNoTest(command)) return [];
  const changes = allChanges(seen);
  return through.flatMap((path) => {
    const own = changes.filter((change) => change.path === path);
    const [before, after] = [own[0]?.before ?? null, own.at(-1)?.after ?? null];
    if (before === null && after !== null && loadedBy(command).includes(path))
      return [`it loads ${path}, which was written in this work and may end it as it likes`];
    if (own.length === 0 || before === after || isTest(path) || (chosen && command.split(' ').includes(path))) return [];
    const isNew = before === null && MAKEFILE.test(path);
    // What was changed in a makefile is judged by its lines.
    if (!isNew && (before === null || /makefile$/i.test(path))) return [];
    return [`it goes through ${path}, which was ${isNew ? 'written' : 'changed'} in this work: a person has to look at it`];
  });
}

const MAKEFILE = /(?:makefile|\.mk)$/i;

/** What a test run is told to load into its own process, before the tests or for its report. */
function loadedBy(command: string): readonly string[] {
  if (!looksLikeTestRun(command)) return [];
  const named = command.matchAll(/(?<=\s)(?:--(?:import|require|loader|experimental-loader|(?:test-)?reporter)[= ]|-r )(\S+)/g);
  return [...named].map(([, path = '']) => normalize(path));
}

const didFail = ({ exitCode, stopped }: Run['payload']): boolean => exitCode !== 0 || stopped !== undefined;

function proofFor(wanted: Wanted, { cwd, proves = [] }: Run['payload']): Proof | undefined {
  return proves.find(({ command, folder, program }) => {
    if (real(resolve(cwd, folder ?? '')) !== wanted.folder) return false;
    if (command === wanted.text) return true;
    return wanted.program !== undefined && program === wanted.program.path && command.endsWith(` ${wanted.program.rest}`);
  });
}

/** Whether the line holds the command in any place. */
function names({ command, cwd }: Run['payload'], wanted: Wanted): boolean {
  const meaning = exitMeaning(command);
  if (!meaning.ok) return command.includes(wanted.text);
  const all = [...meaning.value.proved, ...meaning.value.hidden.map((one) => one.command)];
  return all.some(
    (one) => commandText({ ...one, words: relativeWords(one.words, folderNamed(cwd, one.folder)) }) === wanted.text,
  );
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}

/** Links are followed as far as there is something. */
function realFile(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return join(real(dirname(path)), basename(path));
  }
}

function checksum(path: string): string | null {
  try {
    return createHash('sha256').update(readFileSync(path)).digest('hex');
  } catch {
    return null;
  }
}

/**
 * What tools saw of files and commands, of all work in its folder that the run is a part of:
 * a file that a sub-agent changed is changed for everybody.
 */
export async function evidenceOfWork(
  tree: LedgerAccess & Writes & WorksInFolders,
  node: DrivenRun,
): Promise<readonly LedgerEvent[]> {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  await tree.writer.flushed();
  const { ledger } = tree;
  const [start] = await ledger.read({ session: tree.session, run: root.run, types: ['run.started'], limit: 1 });
  const after = (start?.position ?? 1) - 1;
  const events = await readAll(ledger, tree.session, { types: ['run.started', 'file.diff', 'cli.run'], after });
  return seenInFolderOf(tree, node, sinceStartedAnew(events));
}

/** What the run's recorded changes left behind, one item per file. */
export function manifest(events: readonly LedgerEvent[]): Payloads['artifact.manifest'] | undefined {
  const items = new Map<string, Payloads['artifact.manifest']['items'][number]>();
  for (const event of events) {
    if (event.event_type !== 'file.diff' || event.payload.by === 'outside' || isAbsolute(event.payload.path)) continue;
    items.set(event.payload.path, { path: event.payload.path, sha256: event.payload.after });
  }
  return items.size === 0 ? undefined : { items: [...items.values()] };
}
