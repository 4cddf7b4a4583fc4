/**
 * Which versions of files a run goes by: what it has read and what it has written, as its recorded results say. It holds over
 * crashes, and for a run that goes on with an earlier one's conversation. What was read in a turn counts from the next one on:
 * the calls of one turn were all decided before any of them was answered.
 */
import type { RunId } from '../../base/ids.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
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
  readonly latest: { readonly sha256: string | null; readonly turn: number };
  /** What was known before that turn. */
  readonly earlier: string | null | undefined;
}

export function createFileMemory(tree: LedgerAccess & Writes & WorksInFolders, node: DrivenRun): FileMemory {
  const known = noted(node.journal.past);
  const earlier = node.whole ? node.started.continues : node.run;
  let inherited: Promise<ReadonlyMap<string, Known>> | undefined;
  /** Read only when it matters: most runs change no file that an earlier one has seen. */
  const before = (): Promise<ReadonlyMap<string, Known>> => {
    inherited ??= earlierRuns(tree, earlier);
    return inherited;
  };
  return {
    note: (turn, saw) => learn(known, turn, saw),
    during: (turn) => ({
      async version(path) {
        const own = versionOf(known.get(path), turn);
        return own === undefined && earlier !== undefined ? (await before()).get(path)?.latest.sha256 : own;
      },
      changedBy: (path, sha256) => authorOf(tree, node, path, sha256),
    }),
  };
}

function versionOf(file: Known | undefined, turn: number): string | null | undefined {
  if (file === undefined) return undefined;
  return file.latest.turn < turn ? file.latest.sha256 : file.earlier;
}

function learn(known: Map<string, Known>, turn: number, saw: readonly SeenFile[]): void {
  for (const { path, sha256, written } of saw) {
    const learnt = written === true ? turn - 1 : turn;
    known.set(path, { latest: { sha256, turn: learnt }, earlier: versionOf(known.get(path), turn) });
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
