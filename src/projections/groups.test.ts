import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { LedgerEvent } from '../events/envelope.ts';
import { DEFAULT_FOLDER, foldOrganisation, groupOfSession, groupsIn, initialOrganisation, type Organisation } from './groups.ts';

type Told = { readonly type: LedgerEvent['event_type']; readonly payload: unknown };

const told = (type: Told['type'], payload: unknown): Told => ({ type, payload });
const created = (group: string, more: object = {}): Told =>
  told('group.created', {
    group,
    name: `name of ${group}`,
    session: `ses_${group}`,
    agent: 'desk',
    mode: 'orchestrator',
    members: [
      { name: 'desk', agent: 'desk', role: 'orchestrator' },
      { name: 'coder', agent: 'coder', role: 'worker', model: 'test/model' },
    ],
    agents: [],
    strategy: 'shared',
    worktrees: [],
    ...more,
  });

const events = (all: readonly Told[]): LedgerEvent[] =>
  all.map(({ type, payload }, index) => ({ event_type: type, payload, position: index + 1, timestamp: 'then' }) as LedgerEvent);
const fold = (all: readonly LedgerEvent[], state: Organisation = initialOrganisation()): Organisation =>
  all.reduce(foldOrganisation, state);
const seen = (state: Organisation): unknown => ({ ...state, uncleaned: [...state.uncleaned] });

const group = fc.constantFrom('a', 'b', 'c');
const folder = fc.constantFrom('f', 'g', DEFAULT_FOLDER, 'nowhere');
const session = fc.constantFrom('ses_1', 'ses_2', 'ses_a', 'ses_b');
const worktrees = fc.constantFrom([], [{ path: '/w', branch: 'b' }]);
const operation: fc.Arbitrary<Told> = fc.oneof(
  fc.tuple(group, worktrees, folder).map(([id, made, at]) => created(id, { worktrees: made, folder: at })),
  group.map((id) => told('group.renamed', { group: id, name: 'other' })),
  fc.tuple(group, folder).map(([id, at]) => told('group.moved', { group: id, folder: at })),
  fc.tuple(group, fc.boolean()).map(([id, pinned]) => told('group.pinned', { group: id, pinned })),
  fc.tuple(group, fc.integer()).map(([id, order]) => told('group.ordered', { group: id, order })),
  group.map((id) => told('group.deleted', { group: id })),
  group.map((id) => told('group.cleaned', { group: id })),
  folder.map((id) => told('folder.created', { folder: id, name: id })),
  folder.map((id) => told('folder.renamed', { folder: id, name: `${id}!` })),
  folder.map((id) => told('folder.deleted', { folder: id })),
  fc.tuple(session, folder).map(([id, at]) => told('session.moved', { session: id, folder: at })),
);

describe('whatever happened', () => {
  const check = (property: (all: readonly LedgerEvent[], state: Organisation) => void): void => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60 }), (all) => {
        const list = events(all);
        property(list, fold(list));
      }),
      { numRuns: 500 },
    );
  };

  it('regression 5: folding twice equals folding once, and so does folding in two parts', () => {
    check((list, once) => {
      expect(seen(fold(list, fold(list)))).toEqual(seen(once));
      const half = Math.floor(list.length / 2);
      // Whoever was interrupted begins anywhere before where they stopped.
      expect(seen(fold(list.slice(Math.floor(half / 2)), fold(list.slice(0, half))))).toEqual(seen(once));
    });
  });

  it('regression 3: members stay with their group, whatever is moved', () => {
    check((list, state) => {
      for (const one of state.groups.values()) {
        const made = list.find((event) => event.event_type === 'group.created' && event.payload.group === one.group);
        expect(made?.event_type === 'group.created' && made.payload.members).toEqual(one.members);
        expect(groupOfSession(state, one.session)?.group).toBe(one.group);
      }
    });
  });

  it('regression 8: what was deleted does not come back', () => {
    check((list) => {
      const deleted = new Set<string>();
      const state = initialOrganisation();
      for (const event of list) {
        const before = state.groups.size;
        foldOrganisation(state, event);
        if (event.event_type === 'group.deleted' && state.groups.size < before) deleted.add(event.payload.group);
        for (const id of deleted) expect(state.groups.has(id)).toBe(false);
      }
    });
  });

  it('everything lies in a folder that is there, and the default one is always there', () => {
    check((_list, state) => {
      expect(state.folders.has(DEFAULT_FOLDER)).toBe(true);
      for (const one of state.groups.values()) expect(state.folders.has(one.folder)).toBe(true);
      for (const at of state.sessions.values()) expect(state.folders.has(at)).toBe(true);
    });
  });
});

describe('what people see', () => {
  it('regression 4: nothing is pruned before everything is read: a part of the events loses nothing that it holds', () => {
    const list = events([created('a'), created('b'), told('group.renamed', { group: 'a', name: 'x' })]);
    expect([...fold([]).groups]).toEqual([]);
    expect([...fold(list.slice(0, 1)).groups.keys()]).toEqual(['a']);
    expect([...fold(list).groups.keys()]).toEqual(['a', 'b']);
  });

  it('regression 9: deleting a group leaves nothing of it; deleting a folder moves its sessions to the default one', () => {
    const state = fold(
      events([
        told('folder.created', { folder: 'f', name: 'work' }),
        created('a', { folder: 'f' }),
        created('b', { folder: 'f' }),
        told('session.moved', { session: 'ses_1', folder: 'f' }),
        told('group.deleted', { group: 'a' }),
        told('folder.deleted', { folder: 'f' }),
      ]),
    );
    expect(groupsIn(state).map((one) => [one.group, one.folder])).toEqual([['b', DEFAULT_FOLDER]]);
    expect([...state.sessions]).toEqual([['ses_1', DEFAULT_FOLDER]]);
    expect([...state.folders.keys()]).toEqual([DEFAULT_FOLDER]);
  });

  it('regression 6: a folder and a group of the same repository are not taken for each other', () => {
    const state = fold(events([created('a', { repo: '/repo' }), told('folder.created', { folder: 'f', name: 'repo' })]));
    expect(groupsIn(state, 'f')).toEqual([]);
    expect(state.groups.get('a')?.folder).toBe(DEFAULT_FOLDER);
  });

  it('regression 43: a name gives nobody a role', () => {
    const state = fold(events([told('folder.created', { folder: 'f', name: 'deploy-orchestrator' })]));
    expect(state.groups.size).toBe(0);
  });

  it('pinned first, then by order, then as they were made', () => {
    const state = fold(
      events([
        created('a'),
        created('b'),
        created('c'),
        told('group.ordered', { group: 'c', order: 0 }),
        told('group.pinned', { group: 'b', pinned: true }),
      ]),
    );
    expect(groupsIn(state).map((one) => one.group)).toEqual(['b', 'c', 'a']);
  });
});
