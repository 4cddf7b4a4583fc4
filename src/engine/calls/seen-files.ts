/**
 * Which versions of files a run goes by: what it has read and what it has written, as its recorded results say. It holds over
 * crashes, and for a run that goes on with an earlier one's conversation. What was read in a turn counts from the next one on:
 * the calls of one turn were all decided before any of them was answered.
 */
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { ImagePart, TextPart } from '../../events/messages.ts';
import type { SeenFile, SeenFiles } from '../../tools/port.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { seenInFolderOf } from '../evidence/folders.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import type { Writes } from '../record/writes.ts';

export interface FileMemory {
  /** What the calls of a turn go by. */
  during(turn: number): SeenFiles;
  note(turn: number, saw: readonly SeenFile[]): void;
}

interface Known {
  /** The version, and the turn in which it was learnt; what was written is known at once. */
  readonly latest: View & { readonly turn: number };
  /** What was known before that turn. */
  readonly earlier: View | undefined;
}

interface View {
  readonly sha256: string | null;
  /** Which of its lines were shown, in order and apart from each other; without it, all. */
  readonly shown?: readonly Lines[] | undefined;
}

type Lines = NonNullable<SeenFile['lines']>;

export function createFileMemory(tree: LedgerAccess & Writes & WorksInFolders, node: DrivenRun): FileMemory {
  const known = noted(node.journal.past);
  const earlier = node.whole ? node.started.continues : node.run;
  let inherited: Promise<ReadonlyMap<string, Known>> | undefined;
  /** Read only when it matters: most runs change no file that an earlier one has seen. */
  const before = (): Promise<ReadonlyMap<string, Known>> => {
    inherited ??= earlierRuns(tree, earlier);
    return inherited;
  };
  const viewOf = async (path: string, turn: number): Promise<View | undefined> => {
    const own = versionOf(known.get(path), turn);
    if (earlier === undefined || (own !== undefined && own.shown === undefined)) return own;
    return together((await before()).get(path)?.latest, own);
  };
  return {
    note: (turn, saw) => learn(known, turn, saw),
    during: (turn) => ({
      version: async (path) => (await viewOf(path, turn))?.sha256,
      unread: async (path) => firstUnread((await viewOf(path, turn))?.shown),
      changedBy: (path, sha256) => authorOf(tree, node, path, sha256),
    }),
  };
}

/** Of a result that was cut, what stands before the gap was seen; the last line there may be half of one. */
export function seenOfCut(file: SeenFile, content: readonly (TextPart | ImagePart)[]): SeenFile {
  const { lines } = file;
  if (lines === undefined) return file;
  const rows = content.flatMap((part) => (part.type === 'text' ? part.text.split('\n') : []));
  const gap = rows.findIndex((row) => row.startsWith('[… '));
  const whole = rows.slice(0, Math.max(0, gap - 1)).filter((row) => /^\d+\t/.test(row)).length;
  return { ...file, lines: { ...lines, to: Math.min(lines.to, lines.from - 1 + whole) } };
}

function versionOf(file: Known | undefined, turn: number): View | undefined {
  if (file === undefined) return undefined;
  return file.latest.turn < turn ? file.latest : file.earlier;
}

/** What was seen of one version adds up; of another one it counts no more. */
function together(before: View | undefined, now: View | undefined): View | undefined {
  if (now === undefined) return before;
  if (now.shown === undefined || before?.sha256 !== now.sha256) return now;
  if (before.shown === undefined) return before;
  const apart: Lines[] = [];
  for (const lines of [...before.shown, ...now.shown].sort((a, b) => a.from - b.from)) {
    const last = apart.at(-1);
    if (last === undefined || lines.from > last.to + 1) apart.push(lines);
    else apart[apart.length - 1] = { ...last, to: Math.max(last.to, lines.to) };
  }
  return { sha256: now.sha256, shown: apart };
}

function firstUnread([first]: readonly Lines[] = []): number | undefined {
  if (first === undefined || (first.from === 1 && first.to >= first.of)) return undefined;
  return first.from > 1 ? 1 : first.to + 1;
}

function learn(known: Map<string, Known>, turn: number, saw: readonly SeenFile[]): void {
  for (const { path, sha256, written, lines } of saw) {
    const learnt = written === true ? turn - 1 : turn;
    const view = together(known.get(path)?.latest, { sha256, ...present({ shown: lines && [lines] }) });
    known.set(path, { latest: { sha256, ...view, turn: learnt }, earlier: versionOf(known.get(path), turn) });
  }
}

function noted(events: readonly LedgerEvent[]): Map<string, Known> {
  const known = new Map<string, Known>();
  for (const event of events) {
    if (event.event_type !== 'tool.result' || event.payload.saw === undefined) continue;
    learn(known, Number(/^turn\/(\d+)\//.exec(event.step ?? '')?.[1] ?? 0), event.payload.saw);
  }
  return known;
}

/** The nearest run's word counts: it was the last to look. */
async function earlierRuns(tree: LedgerAccess & Writes, run: string | undefined): Promise<ReadonlyMap<string, Known>> {
  const known = new Map<string, Known>();
  await tree.writer.flushed();
  for (let at = run; at !== undefined; ) {
    const events: LedgerEvent[] = await readAll(tree.ledger, tree.session, {
      run: at as RunId,
      types: ['run.started', 'tool.result'],
    });
    for (const [path, file] of noted(events)) if (!known.has(path)) known.set(path, file);
    const started = events.find((event) => event.event_type === 'run.started');
    at = started?.event_type === 'run.started' ? started.payload.continues : undefined;
  }
  return known;
}

/** Who of this session made a file what it is now. */
async function authorOf(
  tree: LedgerAccess & Writes & WorksInFolders,
  node: DrivenRun,
  path: string,
  sha256: string,
): Promise<string | undefined> {
  await tree.writer.flushed();
  const events = await readAll(tree.ledger, tree.session, { types: ['run.started', 'file.diff'] });
  const change = seenInFolderOf(tree, node, events).findLast(
    (event) =>
      event.event_type === 'file.diff' &&
      event.payload.path === path &&
      event.payload.after === sha256 &&
      event.payload.by !== 'outside',
  );
  if (change === undefined || change.run_id === node.run) return undefined;
  const [row] = await tree.ledger.runs({ run: change.run_id as RunId });
  return row?.agent;
}
