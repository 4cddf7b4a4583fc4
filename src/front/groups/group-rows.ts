/** Groups that last, as they stand: what each works on, what waits for it, and what came of its prompts. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { GroupPreset } from '../../agents/presets/preset.ts';
import { presetAgents } from '../../agents/presets/to-agents.ts';
import type { SessionId } from '../../base/ids.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { NewGroup } from '../../groups/groups.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { activeRun, pauseOf, queueOf } from '../../groups/send.ts';
import type { Project } from '../../project/project.ts';
import { groupsIn, type SavedGroup } from '../../projections/groups.ts';
import { standingOf } from '../standing.ts';

const RUNS_SHOWN = 10;

type Reading = Pick<Project, 'ledger' | 'engine'>;

export type ListedGroups = Awaited<ReturnType<typeof readGroups>>;

export async function readGroups(project: Reading) {
  const state = await readOrganisation(project.ledger);
  const folders = [...state.folders.values()].map((folder) => ({
    ...folder,
    sessions: [...state.sessions].filter(([, at]) => at === folder.folder).map(([session]) => session),
  }));
  const groups: (ReturnType<typeof groupOutline> & Awaited<ReturnType<typeof doingOf>>)[] = [];
  for (const group of groupsIn(state)) groups.push({ ...groupOutline(group), ...(await doingOf(project, group)) });
  return { folders, groups };
}

export async function readGroup(project: Reading, group: SavedGroup) {
  const session = group.session as SessionId;
  const { state } = await doingOf(project, group);
  return { ...groupOutline(group), state, queue: await queueOf(project, session), runs: await checkedRuns(project, session) };
}

/** What programs get of a group: everything but the prompts of its agents. */
export function groupOutline({ agents, ...group }: SavedGroup): Omit<SavedGroup, 'agents'> & { readonly agents: number } {
  return { ...group, agents: agents.length };
}

interface Doing {
  readonly state: ReturnType<typeof standingOf> | 'idle';
  readonly queued: number;
}

async function doingOf(project: Reading, group: SavedGroup): Promise<Doing> {
  const session = group.session as SessionId;
  const active = await activeRun(project, session);
  const queued = (await queueOf(project, session)).length;
  const held = active === undefined && (await pauseOf(project, session)) !== undefined;
  if (active === undefined) return { state: held ? 'paused' : 'idle', queued };
  // One of its workers may wait for a person: the row of the group itself does not say so.
  return { state: standingOf(active, await project.engine.waits(active.run)), queued };
}

/** The newest runs of a session, and what came of them: the index of runs does not know what a result is worth. */
async function checkedRuns({ ledger, engine }: Reading, session: SessionId) {
  const rows = await ledger.runs({ session, roots: true, limit: RUNS_SHOWN });
  return await Promise.all(
    rows.map(async (row) => {
      const [ended] =
        row.endedAt === null ? [] : await ledger.read({ session, run: row.run, types: ['run.ended'], newest: true, limit: 1 });
      const state = row.endedAt === null ? standingOf(row, await engine.waits(row.run)) : row.state;
      return { ...row, state, verification: ended?.event_type === 'run.ended' ? ended.payload.verification : null };
    }),
  );
}

/** What a group is made of that begins with a preset. */
export function originOfPreset(preset: GroupPreset): Result<Omit<NewGroup, 'name'>, Failure> {
  const [agent, ...agents] = presetAgents(preset);
  if (agent === undefined) return fail({ code: 'usage', message: `The preset "${preset.name}" is empty` });
  const all: readonly AgentDefinition[] = [agent, ...agents];
  return ok({ agent, agents: all, preset: preset.name, strategy: preset.worktrees });
}
