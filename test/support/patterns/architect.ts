/** Architect: what is asked, handed over, worked on, judged and put together. */
import { expect } from 'vitest';
import { UNTOUCHED } from '../../../src/engine/evidence/untouched.ts';
import { calls, reports } from '../world.ts';
import { asks, chief, delegates, hands, inTurn, judges, payloads, row, task, works } from './architect-play.ts';
import { sideBySideScenarios } from './architect-side-by-side.ts';
import { askedOf, byAgent, eventsOf, occurrences, type Scenario, told, toolsOf } from './scenarios.ts';

const handing: readonly Scenario[] = [
  row('one task is handed over, worked on, judged and reported', {
    everyCut: true,
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        (request) => judges(request, 'accepted'),
        () => reports('There is a greeting.'),
      ),
      hand: works,
    }),
    expect: { body: 'There is a greeting.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const [snapshot] = payloads(played, 'task.snapshot');
      const [given] = payloads(played, 'task.package');
      expect(given?.yaml).toContain(`context_ref: event://session/task.snapshot/${snapshot?.hash.slice(0, 12)}\n`);
      expect(given).toMatchObject({ executor: 'hand', attempt: 1, verify: ['check'] });
      const [asked] = askedOf(played, 'hand');
      expect(told(asked)).toContain(`Task Package (YAML):\n\n\`\`\`yaml\n${given?.yaml}\`\`\``);
      expect(told(asked)).toMatch(/<context-(\w+)>\nWhat was asked for:\nAdd a greeting\.\n<\/context-\1>/);
      const [origin] = eventsOf(played, 'run.started').flatMap(({ payload }) =>
        payload.origin.kind === 'task' ? [payload.origin] : [],
      );
      expect(origin?.terms).toMatchObject({ task: given?.task, include: ['greet.js'], verify: ['check'], package: given?.ref });
      expect(payloads(played, 'task.judged')).toMatchObject([
        { verdict: 'accepted', by: 'architect', acceptance: [{ how: 'run', met: true }], verification: { state: 'verified' } },
      ]);
      expect(payloads(played, 'task.merged')).toMatchObject([{ tasks: [given?.task], files: 1, conflicts: [] }]);
      // One conversation: the last turn knows the first.
      expect(told(askedOf(played, 'chief').at(-1))).toContain('Add a greeting.');
    },
  }),
  row('what was proved need not be judged before the report', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'verified' },
    check: (played) => expect(payloads(played, 'task.judged')).toMatchObject([{ verdict: 'accepted', by: 'acceptance' }]),
  }),
  row('what nobody judged and nothing proved is given up, and said', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { acceptance: ['it is friendly'] })),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { status: 'completed_unverified', finalAgent: 'chief', verification: 'unverified' },
    check(played) {
      expect(payloads(played, 'task.judged')).toMatchObject([{ verdict: 'given_up', by: 'acceptance' }]);
      expect(played.result.report.body).toMatch(/^Done\.\n\n---\nGiven up:\n- task-\w+: greet \(It was not judged\.\)$/);
    },
  }),
  row('a line that is no command is judged, and never proved', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { acceptance: ['`check` passes', 'it is friendly'] })),
        (request) => judges(request, 'accepted', { acceptance: [{ line: 'it is friendly', met: true }] }),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'unchecked' },
    check: (played) =>
      expect(payloads(played, 'task.judged')).toMatchObject([
        {
          acceptance: [
            { how: 'run', met: true },
            { line: 'it is friendly', how: 'judged', met: true },
          ],
        },
      ]),
  }),
  row('work that changed nothing proves nothing, whatever passes and whatever it says', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['nothing'] })),
        (request) => judges(request, 'accepted'),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'unchecked' },
    check(played) {
      expect(payloads(played, 'task.judged')).toMatchObject([
        { acceptance: [{ how: 'run', met: true }], verification: { state: 'unchecked', reasons: [UNTOUCHED] } },
      ]);
      expect(played.result.verification).toMatchObject({ reasons: [expect.stringMatching(/^task-\w+: nothing was changed/)] });
      expect(told(askedOf(played, 'chief')[1])).toContain(`unchecked: ${UNTOUCHED}`);
    },
  }),
  row('what passed before the work, too, shows that nothing broke and no more', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { acceptance: ['`old` passes', '`older` passes'] })),
        (request) => judges(request, 'accepted'),
        () => delegates(task('leave', { acceptance: ['`old` passes', '`check` passes', '`late` passes'] })),
        (request) => judges(request, 'accepted'),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'unchecked' },
    check(played) {
      const [first, second] = payloads(played, 'task.judged');
      expect(first).toMatchObject({
        acceptance: [{ before: 'passed' }, { before: 'passed' }],
        verification: { state: 'unchecked', reasons: [expect.stringContaining('passed before the work, too')] },
      });
      // One that failed before says enough: what comes after it is not run there.
      expect(second?.verification).toEqual({ state: 'verified' });
      expect(second?.acceptance.map(({ before }) => before)).toEqual(['passed', 'failed', undefined]);
      expect(told(askedOf(played, 'chief')[1])).toContain(
        '`old` passes: passed, run by the runtime; it passed before the work, too',
      );
      expect(told(askedOf(played, 'chief')[3])).toContain(
        '`check` passes: passed, run by the runtime; it failed before the work',
      );
    },
  }),
  row('an architect that answers itself has handed nothing over', {
    brain: byAgent({ chief: inTurn(() => reports('No need.')) }),
    expect: { body: 'No need.', finalAgent: 'chief', verification: 'unchecked' },
    check: (played) => expect(payloads(played, 'task.package')).toEqual([]),
  }),
  row('it has no hands, whatever its file says', {
    agents: [chief({}, { tools: ['act', 'look', 'prove'], permissions: { act: 'allow' }, agents: ['spare'] }), ...hands],
    engineOnly: 'the twin gives an agent the tools of its file',
    brain: byAgent({
      chief: inTurn(
        () => calls({ name: 'act' }),
        () => reports('I could not.'),
      ),
    }),
    expect: { body: 'I could not.', finalAgent: 'chief' },
    check(played) {
      const [asked] = askedOf(played, 'chief');
      expect(toolsOf(asked).toSorted()).toEqual(['clarify', 'delegate', 'final_report']);
      expect(eventsOf(played, 'tool.call')).toEqual([]);
    },
  }),
  row('the conversation goes on with the next prompt', {
    afterwards: 'And a farewell.',
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('Greeted.'),
        () => delegates(task('leave')),
        () => reports('Both are there.'),
      ),
      hand: works,
    }),
    expect: { body: 'Both are there.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const last = told(askedOf(played, 'chief').at(-1));
      expect(last).toContain('Add a greeting.');
      expect(last).toContain('And a farewell.');
      expect(occurrences(last, '## RESULT OF task-')).toBe(2);
    },
  }),
];

const refused: readonly Scenario[] = [
  row('after so many events its conversation is condensed, and what was condensed is referred to', {
    engineOnly: 'the events are counted and condensed by the engine',
    agents: [chief({ limits: { summarizeThreshold: 1 } }), ...hands],
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet')),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { finalAgent: 'chief' },
    check(played) {
      const [first] = payloads(played, 'run.started').flatMap(({ continues }) => continues ?? []);
      expect(payloads(played, 'task.summary').map(({ text }) => text)).toEqual([
        expect.stringContaining(`told: Add a greeting. [${first} input]`),
      ]);
    },
  }),
  row('a task without scope, constraints or acceptance is not handed over, and it is said why', {
    brain: byAgent({
      chief: inTurn(
        () => calls({ name: 'delegate', input: { tasks: [{ goal: 'greet' }] }, id: 'bare' }),
        () => delegates(task('greet', { include: ['../up.js'] })),
        () => delegates(task('greet', { more: { constraints: { max_cli_calls: 99, max_duration_seconds: 60, no_touch: [] } } })),
        () => delegates(task('greet')),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief' },
    check(played) {
      const words = told(askedOf(played, 'chief')[3]);
      for (const missing of ['include_paths', 'acceptance', 'constraints']) expect(words).toContain(missing);
      expect(words).toContain('leads out of the workspace');
      expect(words).toContain('architect.limits.maxCliCalls');
      expect(payloads(played, 'task.package')).toHaveLength(1);
    },
  }),
  row('work that fails its acceptance cannot be accepted, nor be about more than before', {
    brain: byAgent({
      chief: inTurn(
        () => delegates(task('greet', { include: ['src/'], acceptance: ['`fail` passes'] })),
        (request) => judges(request, 'accepted'),
        (request) => judges(request, 'again', { task: task('greet', { include: ['lib/'] }) }),
        (request) => judges(request, 'again', { task: task('greet', { include: ['src/a.js'] }) }),
        (request) => judges(request, 'accepted'),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief', verification: 'verified' },
    check(played) {
      const words = told(askedOf(played, 'chief').at(-1));
      expect(words).toContain('and cannot be accepted');
      expect(words).toContain('again means about no more than before: src/');
      expect(payloads(played, 'task.judged').map(({ verdict }) => verdict)).toEqual(['again', 'accepted']);
      const [first, again] = payloads(played, 'task.package');
      expect(again).toMatchObject({ again: first?.task, attempt: 2 });
      expect(told(askedOf(played, 'hand').at(-1))).toMatch(/<earlier-(\w+)>\n[\s\S]*it ended with 1[\s\S]*<\/earlier-\1>/);
    },
  }),
];

const asking: readonly Scenario[] = [
  row('questions come in rounds that are counted, and then it must decide', {
    agents: [chief({ limits: { maxClarifyRounds: 2 } }), ...hands],
    answer: (question) => (question.includes('whom') ? 'Everybody.' : 'English.'),
    brain: byAgent({
      chief: inTurn(
        () => asks('For whom?'),
        () => asks('In which language?'),
        () => asks('And why?'),
        () => delegates(task('greet')),
        () => reports('Done.'),
      ),
      hand: works,
    }),
    expect: { body: 'Done.', finalAgent: 'chief' },
    check(played) {
      expect(payloads(played, 'task.clarify').map(({ question, round }) => [question, round?.number, round?.most])).toEqual([
        ['For whom?', 1, 2],
        ['In which language?', 2, 2],
      ]);
      expect(toolsOf(askedOf(played, 'chief')[2])).toEqual(['delegate', 'final_report']);
      expect(told(askedOf(played, 'chief')[2])).toMatch(/For whom\?\n\n<answer-\w+>\nEverybody\.[\s\S]*the last round/);
      const [snapshot] = payloads(played, 'task.snapshot');
      expect(snapshot?.events.map(({ type }) => type)).toEqual([
        ...['run.started', 'task.clarify', 'approval.answered', 'task.clarify', 'approval.answered'],
      ]);
      expect(snapshot?.context).toContain('Asked: For whom?\nAnswered: Everybody.');
    },
  }),
];

export const architectScenarios: readonly Scenario[] = [...handing, ...refused, ...asking, ...sideBySideScenarios];
