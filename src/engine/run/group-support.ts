/** What groups ask of the runtime beside steps: who the others are, the files that give context, and what was achieved. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import type { AgentDefinition, GroupContext } from '../../agents/definition/definition.ts';
import { newestEntries } from '../../agents/text/newest-entries.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { sentence } from '../../base/wording.ts';
import type { About, Progress } from '../../patterns/agent-run.ts';
import type { Steps } from '../../patterns/steps.ts';
import { foldersOf } from '../evidence/folders.ts';
import { readAll } from '../record/read-all.ts';
import type { EngineParts, RunNode, Tree } from '../tree.ts';

/** A context file is read once per run and recorded: a resumed run sees what it saw before. */
export function contextReader(
  tree: Tree,
  agent: AgentDefinition,
  steps: Steps,
): (kind: 'shared' | 'routing', source: GroupContext | undefined) => Promise<string | undefined> {
  const read = new Map<string, Promise<string>>();
  return async (kind, source) => {
    if (source === undefined) return undefined;
    const load = (): Promise<string> => contextText(tree.parts, agent, source);
    const known = read.get(kind) ?? steps.step(`context/${kind}`, load);
    read.set(kind, known);
    return newestEntries(await known, limits.contextCharacters, kind === 'routing' ? 'top' : 'end');
  };
}

/** What a group is told to know, it knows: without the file its work would rest on something else than its author wrote. */
async function contextText(parts: EngineParts, { source: where }: AgentDefinition, source: GroupContext): Promise<string> {
  if (typeof source !== 'string') return source.text;
  const read = await parts.contextFile?.(source);
  if (read?.ok === true) return read.value;
  const why = read === undefined ? 'cannot be read here' : read.error.message;
  throw new TroupeError('no_context', `${where}: the file ${source}, which the group gives as context, ${sentence(why)}`, {
    fix: '`troupe check` says where it is named.',
  });
}

export async function aboutAgents(tree: Tree, agents: readonly string[]): Promise<About[]> {
  const found: About[] = [];
  for (const name of agents) {
    found.push(about(await tree.parts.agent(name)));
  }
  return found;
}

export function about(agent: AgentDefinition | undefined): About {
  const { description, models, maxTurns } = agent ?? {};
  const [model] = models ?? [];
  return {
    ...(description === undefined ? {} : { description }),
    ...(model === undefined ? {} : { model }),
    ...(maxTurns === undefined ? {} : { maxTurns }),
  };
}

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
