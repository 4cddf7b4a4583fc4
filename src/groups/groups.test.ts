/** Groups in a real ledger file that several writers share, as several processes do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { openProject } from '../project/open.ts';
import type { Project } from '../project/project.ts';
import { groupsIn, type Organisation } from '../projections/groups.ts';
import { createFolder, createGroup, deleteFound, findIn, moveSession, placeGroup, rename } from './groups.ts';
import { readOrganisation } from './organisation.ts';

let folder: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'troupe-groups-'));
});

afterEach(async () => {
  await rm(folder, { recursive: true, force: true });
});

const worker = (name: string): AgentDefinition => ({
  name,
  models: ['test/m'],
  prompt: 'You work.',
  source: `agents/${name}.md`,
});
const leader: AgentDefinition = { ...worker('desk'), group: { mode: 'broadcast', workers: ['coder', 'tester'] } };
const agents = [leader, worker('coder'), worker('tester')];

const open = (home: string): Promise<Project> =>
  openProject({ cwd: folder, root: folder, env: { HOME: folder, TROUPE_HOME: home } });
const make = (project: Project, name: string) => createGroup(project.groups, { name, agent: leader, agents });
const seen = (state: Organisation): unknown => ({ ...state, groups: groupsIn(state), uncleaned: [...state.uncleaned] });

type Step = (project: Project) => Promise<unknown>;
const name = fc.constantFrom('a', 'b', 'c', 'd');
const step: fc.Arbitrary<Step> = fc.oneof(
  name.map(
    (one): Step =>
      (project) =>
        make(project, one),
  ),
  name.map(
    (one): Step =>
      (project) =>
        createFolder(project.groups, one),
  ),
  fc.tuple(name, name).map(
    ([from, to]): Step =>
      (project) =>
        rename(project.groups, from, to),
  ),
  fc.tuple(name, name).map(
    ([what, to]): Step =>
      (project) =>
        placeGroup(project.groups, what, { folder: to }),
  ),
  fc.tuple(name, fc.boolean()).map(
    ([what, pinned]): Step =>
      (project) =>
        placeGroup(project.groups, what, { pinned, order: 1 }),
  ),
  name.map(
    (one): Step =>
      (project) =>
        deleteFound(project.groups, one, true),
  ),
  name.map(
    (one): Step =>
      (project) =>
        moveSession(project.groups, 'ses_x', one),
  ),
);

describe('two writers', () => {
  it('regressions 3, 5, 45: see the same, give each name once, and a restart changes nothing', async () => {
    let run = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(step, fc.boolean()), { maxLength: 15 }), async (steps) => {
        run += 1;
        const home = join(folder, `home-${run}`);
        const [one, other] = await Promise.all([open(home), open(home)]);
        try {
          // Half of the steps are under way at the same time.
          for (let at = 0; at < steps.length; at += 2)
            await Promise.all(steps.slice(at, at + 2).map(([work, first]) => work(first ? one : other)));
          const state = await readOrganisation(one.ledger);
          expect(seen(await readOrganisation(other.ledger))).toEqual(seen(state));
          const names = [...state.groups.values(), ...state.folders.values()].map((each) => each.name);
          expect(new Set(names).size).toBe(names.length);
          for (const group of state.groups.values())
            expect(group.members.map((member) => member.name)).toEqual(['coder', 'tester']);
          await one.close();
          const again = await open(home);
          expect(seen(await readOrganisation(again.ledger))).toEqual(seen(state));
          expect(await again.ledger.verify()).toMatchObject({ kind: 'sound' });
          await again.close();
        } finally {
          await Promise.all([one.close(), other.close()]);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('what is kept', () => {
  it('is never collected with old sessions', async () => {
    const project = await open(join(folder, 'home'));
    await make(project, 'crew');
    const now = 4e12;
    await project.ledger.gc({ olderThanMs: 1, now, dryRun: false });
    expect(findIn(await readOrganisation(project.ledger), 'crew')).toMatchObject({ ok: true });
    await project.close();
  });

  it('has bounds that name their limit', async () => {
    const project = await open(join(folder, 'home'));
    expect(await make(project, 'x'.repeat(101))).toMatchObject({
      ok: false,
      error: { message: expect.stringContaining('groupNameCharacters') },
    });
    expect(await make(project, 'two\nlines')).toMatchObject({ ok: false });
    expect(await make(project, ' ')).toMatchObject({ ok: false });
    await project.close();
  });
});
