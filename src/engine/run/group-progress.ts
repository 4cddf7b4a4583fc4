/** What was achieved below a run, as a group asks for it between two rounds. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { Progress } from '../../patterns/agent-run.ts';
import { foldersOf } from '../evidence/folders.ts';
import { readAll } from '../record/read-all.ts';
import type { RunNode, Tree } from '../tree.ts';

/**
 * The state of the work below a run: what the files that were changed hold now, and how each test ended last. Files that go
 * back to what they held give the same word again, so that undoing and redoing does not look like getting on.
 */
export async function progressOf(tree: Tree, node: RunNode): Promise<Progress> {
  await tree.writer.flushed();
  const types = ['run.started', 'run.paused', 'file.diff', 'test.report', 'artifact.manifest'] as const;
  const below = new Set<string>([node.run]);
  const files = new Map<string, string>();
  const tests = new Map<string, string>();
  let pauses = 0;
  const events = await readAll(tree.parts.ledger, tree.session, { root: rootOf(node).run, types });
  const folderOf = foldersOf(tree, events);
  for (const event of events) {
    const { event_type: type, payload } = event;
    if (type === 'run.paused') pauses += 1;
    if (type === 'run.started' && below.has(payload.parent ?? '')) below.add(event.run_id);
    if (!below.has(event.run_id)) continue;
    if (type === 'file.diff') files.set(join(folderOf(event.run_id), payload.path), payload.after ?? 'gone');
    if (type === 'test.report') tests.set(payload.command, `${payload.passed} ${payload.exitCode}`);
    if (type !== 'artifact.manifest') continue;
    for (const { path, sha256 } of payload.items) files.set(join(folderOf(event.run_id), path), sha256 ?? 'gone');
  }
  return { files: digest(files), tests: digest(tests), pauses };
}

function digest(state: ReadonlyMap<string, string>): string {
  if (state.size === 0) return '';
  const hash = createHash('sha256');
  for (const [what, value] of [...state].sort(([left], [right]) => (left < right ? -1 : 1))) hash.update(`${what}=${value}\n`);
  return hash.digest('hex');
}

/** What was done for an earlier prompt of the session is no progress of this one. */
const rootOf = (node: RunNode): RunNode => (node.parent === undefined ? node : rootOf(node.parent));
