/** Architect: tasks that fail, and what the settings have happen then. */
import { expect } from 'vitest';
import type { ModelOutcome } from '../../../src/models/port.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { calls, reports, says } from '../world.ts';
import { chief, delegates, hands, inTurn, judges, payloads, row, task, works } from './architect-play.ts';
import { askedOf, byAgent, fails, never, type Scenario, type ScenarioRun, told, toolsOf } from './scenarios.ts';

const policies = (played: ScenarioRun) => payloads(played, 'task.policy').map(({ trigger, action, to }) => [trigger, action, to]);

/** It has used up nearly all that an answer may have: about 8 thousandths of a dollar. */
const dear = (outcome: ModelOutcome): ModelOutcome =>
  outcome.kind === 'answer'
    ? { kind: 'answer', answer: { ...outcome.answer, usage: { inputTokens: 100, outputTokens: 4_000 } } }
    : outcome;

const lasting = (seconds: number) => ({
  more: { constraints: { max_cli_calls: 4, max_duration_seconds: seconds, no_touch: [] } },
});

export const architectFailures: readonly Scenario[] = [
  row('an executor that fails in the same way is replaced by the next', {
    agents: [chief({ fallbackExecutors: ['spare'] }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('Done.'),
      ),
      hand: (request) =>
        fails(`no answer from port ${request.idempotencyKey.length} at 12:0${request.idempotencyKey.length % 10}`),
      spare: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      expect(policies(played)).toEqual([
        ['error', 'retry', undefined],
        ['repeated_error', 'downgrade_executor', 'spare'],
      ]);
      expect(payloads(played, 'task.package').map(({ executor, attempt }) => [executor, attempt])).toEqual([
        ['hand', 1],
        ['hand', 2],
        ['spare', 3],
      ]);
    },
  }),
  row('when nobody is left to try, it is given up and reported', {
    agents: [chief({ limits: { maxSameErrorRetries: 1 } }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('It cannot be done.'),
      ),
      hand: () => fails('broken'),
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      expect(policies(played)).toEqual([['repeated_error', 'cancel_and_report', undefined]]);
      expect(payloads(played, 'task.judged')).toMatchObject([{ verdict: 'given_up', by: 'policy' }]);
      expect(told(askedOf(played, 'chief')[1])).toMatch(/was given up: .*broken.*no further executor/);
      expect(played.result.report.body).toMatch(/^It cannot be done\.\n\n---\nGiven up:/);
    },
  }),
  row('an error that comes again may have to be answered by a smaller scope', {
    agents: [chief({ failurePolicy: { onRepeatedError: 'shrink_scope' }, limits: { maxSameErrorRetries: 1 } }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['src/'], acceptance: ['`fail` passes'] })),
        (request) => judges(request, 'again', { task: task('greet', { include: ['src/'] }) }),
        (request) => judges(request, 'again', { task: task('greet', { include: ['src/a.js'] }) }),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      expect(policies(played)).toEqual([['repeated_error', 'shrink_scope', undefined]]);
      expect(told(askedOf(played, 'chief')[2])).toContain('must be about less than before');
    },
  }),
  row('a task that is given up by the architect is a gap', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { acceptance: ['`fail` passes'] })),
        (request) => judges(request, 'given_up'),
        () => reports('Not done.'),
      ),
      hand: works,
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check: (played) => expect(payloads(played, 'task.judged')).toMatchObject([{ verdict: 'given_up', by: 'architect' }]),
  }),
  row('what was written outside and could not be taken back is not made good by what passes', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['left'] })),
        (request) => judges(request, 'accepted'),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check: (played) =>
      expect(played.result.verification).toMatchObject({
        reasons: [expect.stringMatching(/^task-\w+: it wrote outside of its task, and that is still there: elsewhere$/)],
      }),
  }),
  row('beside work that is proved, what was given up is the reason why the whole is not', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet'), task('other', { include: ['other'], acceptance: ['`fail` passes'] })),
        (request) => judges(request, 'accepted'),
        () => reports('Half of it.'),
      ),
      hand: works,
    }),
    expect: { finalAgent: 'chief', verification: 'unchecked' },
    check: (played) =>
      expect(played.result.verification).toMatchObject({
        reasons: [expect.stringMatching(/^task-\w+: given up: /)],
      }),
  }),
  row('an executor that takes too long is stopped, and that is reported', {
    clock: createQuietClock(),
    anyPace: true,
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', lasting(1))),
        () => reports('Too slow.'),
      ),
      hand: never,
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      expect(policies(played)).toEqual([['timeout', 'cancel_and_report', undefined]]);
      expect(told(askedOf(played, 'chief')[1])).toMatch(/was given up: It was not done within 1s \(max_duration_seconds\)/);
    },
  }),
  row('a task that would cost more than it may is stopped before the call that would', {
    engineOnly: 'money is counted by the engine, not through the steps port',
    uncut: 'a call that a crash left in doubt counts as it was reserved, so there is room for fewer',
    agents: [chief({ limits: { maxUsd: 0.02 }, fallbackExecutors: ['spare'] }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('Too dear.'),
      ),
      hand: (_request, turn) => (turn > 5 ? says('I did it.') : dear(calls({ name: 'act', input: { name: `part ${turn}` } }))),
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      expect(policies(played)).toEqual([['cost', 'cancel_and_report', undefined]]);
      expect(told(askedOf(played, 'chief')[1])).toMatch(/was given up: hand would have cost more than 0\.02 dollars \(maxUsd\)/);
      expect(askedOf(played, 'hand')).toHaveLength(2);
    },
  }),
  row('an executor that gets nowhere is stopped, and one beside it that is slow but moves is not', {
    agents: [chief({ limits: { stallAfter: 1_000 } }), ...hands],
    clock: createQuietClock(),
    anyPace: true,
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('still', lasting(600)), task('slow', { include: ['slow'], ...lasting(2) })),
        () => reports('Neither is done.'),
      ),
      hand: never,
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      expect(policies(played)).toEqual([
        ['stalled', 'cancel_and_report', undefined],
        ['timeout', 'cancel_and_report', undefined],
      ]);
      expect(told(askedOf(played, 'chief')[1])).toMatch(/was given up: Nothing new was seen in 1s/);
    },
  }),
  row('what is written outside of its scope is taken back and told', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['stray'] })),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'verified' },
    check: (played) => expect(told(askedOf(played, 'chief')[1])).toContain('outside of its scope, taken back: elsewhere'),
  }),
  row('when its turns are used up it can only report', {
    agents: [chief({}, { maxTurns: 2 }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => says('Out of turns.'),
      ),
      hand: works,
    }),
    expect: { body: 'Out of turns.', finalAgent: 'chief', verification: 'verified' },
    check: (played) =>
      expect(askedOf(played, 'chief').map(toolsOf)).toEqual([['clarify', 'delegate', 'final_report'], ['final_report']]),
  }),
];
