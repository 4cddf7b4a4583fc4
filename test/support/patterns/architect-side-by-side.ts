/** Architect: tasks that are worked on at once, and how their work is put together. */
import { expect } from 'vitest';
import { reports } from '../world.ts';
import { chief, delegates, hands, inTurn, judges, openIn, payloads, row, task, works } from './architect-play.ts';
import { askedOf, byAgent, eventsOf, type Scenario, told } from './scenarios.ts';

export const sideBySideScenarios: readonly Scenario[] = [
  row('tasks about different files are worked on at once, and put together', {
    agents: [chief({ parallel: 2 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave', { acceptance: ['`check leave` passes'] })),
        (request) => judges(request, 'accepted', {}, openIn(request)),
        () => reports('Both.'),
      ),
      hand: works,
    }),
    expect: { body: 'Both.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const starts = played.events.findIndex((event) => event.type === 'run.ended' && event.agent === 'hand');
      const before = played.events.slice(0, starts).filter((event) => event.type === 'run.started' && event.agent === 'hand');
      expect(before).toHaveLength(2);
      expect(payloads(played, 'task.merged')).toMatchObject([{ files: 2, conflicts: [] }]);
      // Everything that each of them had to pass is run on the whole.
      const whole = eventsOf(played, 'run.started').find(
        ({ payload }) => payload.origin.kind === 'task' && payload.origin.role === 'check',
      );
      expect(whole?.payload.origin).toMatchObject({ terms: { verify: ['check', 'check leave'], onlyVerify: true } });
    },
  }),
  row('tasks that were worked on at once are put together also where they are judged one after the other', {
    agents: [chief({ parallel: 3 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave'), task('stay')),
        (request) => judges(request, 'accepted', {}, openIn(request).slice(0, 1)),
        (request) => judges(request, 'accepted', {}, openIn(request).slice(1, 2)),
        // The third is proved, and nobody says a word about it.
        () => reports('All.'),
      ),
      hand: works,
    }),
    expect: { body: 'All.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const merged = payloads(played, 'task.merged');
      // In the order in which they were judged: which of them was captured first is chance.
      const [first, second, third] = merged.at(-1)?.tasks ?? [];
      const captured = payloads(played, 'task.captured').map((payload) => payload.task);
      expect([first, second, third].toSorted()).toEqual(captured.toSorted());
      expect(merged).toMatchObject([
        { tasks: [first], files: 1 },
        { tasks: [first, second], files: 2 },
        { tasks: [first, second, third], files: 3, patch: expect.any(String) },
      ]);
      // What passed alone is run again on the whole, though it is the same command.
      const whole = eventsOf(played, 'run.started').filter(
        ({ payload }) => payload.origin.kind === 'task' && payload.origin.role === 'check',
      );
      expect(whole).toHaveLength(2);
    },
  }),
  row('what passes alone and fails together is not proved', {
    agents: [chief({ parallel: 2 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { acceptance: ['`apart` passes'] }), task('leave', { acceptance: ['`apart too` passes'] })),
        (request) => judges(request, 'accepted', {}, openIn(request)),
        () => reports('Both.'),
      ),
      hand: works,
    }),
    expect: { body: 'Both.', status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      const judged = payloads(played, 'task.judged').map(({ verification }) => verification.state);
      expect(judged).toEqual(['verified', 'verified']);
      expect(told(askedOf(played, 'chief')[2])).toMatch(/Everything together: [\s\S]*apart/);
    },
  }),
  row('what could not be checked together is unchecked, and says why', {
    agents: [chief({ parallel: 2 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave', { include: ['full'], acceptance: ['`check leave` passes'] })),
        (request) => judges(request, 'accepted', {}, openIn(request)),
        () => reports('Both.'),
      ),
      hand: works,
    }),
    expect: { body: 'Both.', finalAgent: 'chief', verification: 'unchecked' },
    check(played) {
      const reason = 'what was accepted could not be checked together: There is no room for it.';
      expect(played.result.verification).toMatchObject({ reasons: [`all together: ${reason}`] });
      expect(told(askedOf(played, 'chief')[2])).toContain(reason);
    },
  }),
  row('tasks about the same files come one after the other', {
    agents: [chief({ parallel: 4 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['src/'] }), task('leave', { include: ['src/leave.js'] })),
        (request) => judges(request, 'accepted'),
        (request) => judges(request, 'accepted'),
        () => reports('Both.'),
      ),
      hand: works,
    }),
    expect: { body: 'Both.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const merged = payloads(played, 'task.merged');
      expect(merged).toHaveLength(2);
      const bases = eventsOf(played, 'run.started').flatMap(({ payload: { origin } }) =>
        origin.kind === 'task' && origin.terms.place.kind === 'worktree' ? [origin.terms.place.base] : [],
      );
      expect(bases[1]).toBe(merged[0]?.commit);
    },
  }),
  row('what does not fit together goes back to the architect, and nothing of it is lost', {
    agents: [chief({ parallel: 2 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave', { include: ['torn'] })),
        (request) => judges(request, 'accepted', {}, openIn(request)),
        () => delegates(task('mend', { include: ['whole.js'] })),
        () => reports('Mended.'),
      ),
      hand: works,
    }),
    expect: { body: 'Mended.', finalAgent: 'chief' },
    check(played) {
      expect(payloads(played, 'task.merged')).toMatchObject([{ conflicts: [{ path: 'torn' }] }, { conflicts: [] }]);
      expect(told(askedOf(played, 'chief')[2])).toMatch(/does not fit together in 1 file[\s\S]*\+\+\+ torn/);
      expect(told(askedOf(played, 'hand').at(-1))).toContain('+++ torn');
    },
  }),
  row('in one folder nobody works at the same time', {
    agents: [chief({ workspace: 'in-place', parallel: 4 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('leave')),
        (request) => judges(request, 'accepted'),
        (request) => judges(request, 'accepted'),
        () => reports('Both.'),
      ),
      hand: works,
    }),
    // How it was before cannot be seen there.
    expect: { body: 'Both.', finalAgent: 'chief', verification: 'unchecked' },
    check(played) {
      expect(payloads(played, 'task.merged')).toEqual([]);
      const places = eventsOf(played, 'run.started').flatMap(({ payload: { origin } }) =>
        origin.kind === 'task' ? [origin.terms.place.kind] : [],
      );
      expect(new Set(places)).toEqual(new Set(['in-place']));
    },
  }),
];
