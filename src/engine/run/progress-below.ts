/** What was achieved below a run, as a pattern asks for it between two rounds. */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun } from '../../events/run-origin.ts';
import type { Progress } from '../../patterns/agent-run.ts';
import { createFolders, type WorksInFolders } from '../evidence/folders.ts';
import type { LedgerAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import type { Writes } from '../record/writes.ts';

const TYPES = ['run.started', 'run.paused', 'file.diff', 'test.report', 'artifact.manifest'] as const;

/**
 * Tells the state of the work below a run: what the files that were changed hold now, and how each test ended last. Files that
 * go back to what they held give the same word again, so that undoing and redoing does not look like getting on. Asking again
 * reads what is new since.
 */
export function progressBelow(tree: LedgerAccess & Writes & WorksInFolders, node: DrivenRun): () => Promise<Progress> {
  const below = new Set<string>([node.run]);
  const files = new Map<string, string>();
  const tests = new Map<string, string>();
  const folders = createFolders(tree);
  let pauses = 0;
  let after = 0;
  const apply = (event: LedgerEvent): void => {
    const { event_type: type, payload } = event;
    folders.apply(event);
    if (type === 'run.paused') pauses += 1;
    if (type === 'run.started' && below.has(parentRun(payload) ?? '')) below.add(event.run_id);
    if (!below.has(event.run_id)) return;
    const place = (path: string): string => join(folders.of(event.run_id), path);
    if (type === 'file.diff') files.set(place(payload.path), payload.after ?? 'gone');
    if (type === 'test.report') tests.set(payload.command, `${payload.passed} ${payload.exitCode}`);
    if (type === 'artifact.manifest') for (const { path, sha256 } of payload.items) files.set(place(path), sha256 ?? 'gone');
  };
  return async () => {
    await tree.writer.flushed();
    // What was done for an earlier prompt of the session is no progress of this one.
    const events = await readAll(tree.ledger, tree.session, { root: rootOf(node).run, types: TYPES, after });
    for (const event of events) apply(event);
    after = events.at(-1)?.position ?? after;
    return { files: digest(files), tests: digest(tests), pauses };
  };
}

function digest(state: ReadonlyMap<string, string>): string {
  if (state.size === 0) return '';
  const hash = createHash('sha256');
  for (const [what, value] of [...state].sort(([left], [right]) => (left < right ? -1 : 1))) hash.update(`${what}=${value}\n`);
  return hash.digest('hex');
}

const rootOf = (node: DrivenRun): DrivenRun => (node.parent === undefined ? node : rootOf(node.parent));
