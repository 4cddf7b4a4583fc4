import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAssignments } from './assignments.ts';
import { assignmentForm, nudge, planningPrompt, replanPrompt } from './prompts.ts';

const WORKERS = ['coder', 'tester', 'Security Auditor', 'worker-1', 'worker-10'];

/** What is said, who gets what, and which names nobody has. */
type Row = readonly [name: string, text: string, tasks: Record<string, string>, unknown?: string[], empty?: string[]];
const TABLE: readonly Row[] = [
  ['one line', '@worker:coder Write it.', { coder: 'Write it.' }],
  ['one line each', '@worker:coder Write it.\n@worker:tester Test it.', { coder: 'Write it.', tester: 'Test it.' }],
  [
    'several on one line',
    '@worker:coder Write it. @end @worker:tester Test it. @end',
    { coder: 'Write it.', tester: 'Test it.' },
  ],
  ['prose around it', 'My plan:\n\n@worker:coder Write it.\n@end\nThat is all.', { coder: 'Write it.' }],
  ['a block', '@worker:coder\nWrite it.\n\nCarefully.\n@end', { coder: 'Write it.\n\nCarefully.' }],
  ['a block without its end', '@worker:coder\nWrite it.\n@worker:tester\nTest\nit.', { coder: 'Write it.', tester: 'Test\nit.' }],
  [
    'windows line ends',
    '@worker:coder\r\nWrite\r\nit.\r\n@end\r\n@worker:tester Test it.\r\n',
    { coder: 'Write\nit.', tester: 'Test it.' },
  ],
  ['other cases', '@Worker:CODER Write it.\n@END', { coder: 'Write it.' }],
  ['backticks', '@worker:`coder` Write it.', { coder: 'Write it.' }],
  ['quotes and a colon', '@worker:"Security Auditor": Look.', { 'Security Auditor': 'Look.' }],
  ['spaces in a name', '@worker:Security Auditor Look at it.', { 'Security Auditor': 'Look at it.' }],
  ['spaces in a name, as a block', '@worker:security auditor\nLook.', { 'Security Auditor': 'Look.' }],
  ['a list', '- @worker:coder Write it.\n2. @worker:tester Test it.', { coder: 'Write it.', tester: 'Test it.' }],
  ['bold', '**@worker:coder** Write it.\n**@worker:tester:** Test it.', { coder: 'Write it.', tester: 'Test it.' }],
  ['a colon behind the name', '@worker:coder: Write it.', { coder: 'Write it.' }],
  ['another spelling', '@worker:security-auditor Look.', { 'Security Auditor': 'Look.' }],
  ['the only name it can be', '@worker:auditor Look.', { 'Security Auditor': 'Look.' }],
  [
    'duplicates are merged',
    '@worker:coder One.\n@worker:tester Two.\n@worker:coder Three.',
    { coder: 'One.\n\n---\n\nThree.', tester: 'Two.' },
  ],
  ['nobody of that name', '@worker:nobody Do it.', {}, ['nobody']],
  ['one known, one not', '@worker:nobody Do it.\n@worker:coder Write it.', { coder: 'Write it.' }, ['nobody']],
  ['two that it could be', '@worker:worker Do it.', {}, ['worker']],
  ['a number that nobody has', '@worker:worker-100 Do it.', {}, ['worker-100']],
  ['the longer number', '@worker:worker-10 Do it.', { 'worker-10': 'Do it.' }],
  ['the shorter number', '@worker:worker-1 Do it.', { 'worker-1': 'Do it.' }],
  ['both numbers', '@worker:worker-10 Ten.\n@worker:worker-1 One.', { 'worker-10': 'Ten.', 'worker-1': 'One.' }],
  ['a name that only begins like one', '@worker:coder2 Do it.', {}, ['coder2']],
  ['a name that goes on', '@worker:worker-1.5 Do it.', {}, ['worker-1.5']],
  ['a name without a task', '@worker:coder\n@worker:tester Test it.', { tester: 'Test it.' }, [], ['coder']],
  ['a task without a name', '@worker:\nDo it.', {}, ['(no name)']],
  ['in a code block', 'Like this:\n```\n@worker:coder Write it.\n```\nSee?', {}],
  ['in a tilde block', '~~~text\n@worker:coder Write it.\n~~~', {}],
  [
    'in a code block of a task',
    '@worker:coder Explain:\n```\n@worker:tester No.\n@end\n```\nWell.',
    { coder: 'Explain:\n```\n@worker:tester No.\n@end\n```\nWell.' },
  ],
  [
    'a fence that is never closed',
    '@worker:coder\n```ts\nWrite it.\n@worker:tester Test it.',
    { coder: '```ts\nWrite it.', tester: 'Test it.' },
  ],
  ['quoted', '> @worker:coder Write it.', {}],
  ['inside a sentence', 'I would use @worker:coder for it.', {}],
  ['text behind `@end`', '@worker:coder\nWrite it.\n@end Thank you!\nThat is all.', { coder: 'Write it.' }],
  ['`@end` behind the task', '@worker:coder\nWrite\nit. @end\nThat is all.', { coder: 'Write\nit.' }],
  ['`@end` in the middle of a line', '@worker:coder Write it. @end That is all.\nReally.', { coder: 'Write it.' }],
  ['a full stop behind `@end`', '@worker:coder\nWrite it.\n@end.\nThat is all.', { coder: 'Write it.' }],
  ['bold `@end`', '@worker:coder\nWrite it.\n**@end**\nThat is all.', { coder: 'Write it.' }],
  ['another one behind `@end`', '@worker:coder\nWrite it. @end, then @worker:tester Test it.', { coder: 'Write it.' }],
  ['`@end` in code', '@worker:coder\nRemove the `@end` tag.\n@end', { coder: 'Remove the `@end` tag.' }],
  ['a slip of the pen', '@worker:testr Test it.\n@worker:codr\nWrite it.', { tester: 'Test it.', coder: 'Write it.' }],
  ['swapped letters', '@worker:tetser Test it.', { tester: 'Test it.' }],
  ['a slip in JSON', '[{"worker":"testr","task":"Test it."}]', { tester: 'Test it.' }],
  ['a slip in a number', '@worker:worker-2 Do it.', {}, ['worker-2']],
  ['a slip in a name with a number', '@worker:wroker-1 Do it.', { 'worker-1': 'Do it.' }],
  ['too far off', '@worker:tsr Do it.', {}, ['tsr']],
  [
    '`@end` inside a word',
    '@worker:coder\nCheck the\n@end-user docs and\n@endpoint.\n@end',
    { coder: 'Check the\n@end-user docs and\n@endpoint.' },
  ],
  [
    'JSON',
    '[{"worker":"coder","task":"Write it."},{"worker":"tester","task":"Test it."}]',
    { coder: 'Write it.', tester: 'Test it.' },
  ],
  ['JSON in a fence', 'Here:\n\n```json\n[\n  {"worker": "coder", "task": "Write\\nit."}\n]\n```\n', { coder: 'Write\nit.' }],
  ['JSON in lines of its own', 'The plan [draft]:\n[\n{"worker":"coder","task":"Write it."}\n]\nDone.', { coder: 'Write it.' }],
  ['JSON duplicates', '[{"worker":"coder","task":"One."},{"worker":"Coder","task":"Two."}]', { coder: 'One.\n\n---\n\nTwo.' }],
  ['JSON with an unknown name', '[{"worker":"ghost","task":"Boo."}]', {}, ['ghost']],
  ['JSON inside a sentence', 'Write [{"worker":"coder","task":"x"}] to assign.', {}],
  ['malformed JSON falls through to text', '[{"worker":"coder","task":]\n@worker:tester Test it.', { tester: 'Test it.' }],
  ['JSON of another shape falls through', '[1, 2]\n@worker:tester Test it.', { tester: 'Test it.' }],
  [
    'JSON in a task stays in the task',
    '@worker:coder Send this:\n```json\n[{"worker":"tester","task":"x"}]\n```',
    { coder: 'Send this:\n```json\n[{"worker":"tester","task":"x"}]\n```' },
  ],
  ['nothing', '', {}],
  ['no plan at all', 'I did it myself: `@worker:coder` was not needed.', {}],
];

describe('the ways to write an assignment', () => {
  it.each(TABLE.map((row) => [row[0], row] as const))('%s', (_name, [, text, tasks, unknown = [], empty = []]) => {
    const plan = parseAssignments(text, WORKERS);
    expect(Object.fromEntries(plan.assignments.map(({ worker, task }) => [worker, task]))).toEqual(tasks);
    expect(plan.unknown).toEqual(unknown);
    expect(plan.empty).toEqual(empty);
  });

  it('takes the longest known name', () => {
    const workers = ['Test', 'Test Writer', 'Test Writer Two'];
    expect(parseAssignments('@worker:Test Writer Two go\n@worker:Test Writer go\n@worker:Test go', workers).assignments).toEqual([
      { worker: 'Test Writer Two', task: 'go' },
      { worker: 'Test Writer', task: 'go' },
      { worker: 'Test', task: 'go' },
    ]);
  });

  it('refuses to guess between two names that differ only in case', () => {
    const plan = parseAssignments('@worker:BOB go', ['Bob', 'bob']);
    expect(plan).toEqual({ assignments: [], unknown: ['BOB'], empty: [] });
    expect(parseAssignments('@worker:"bob" go', ['Bob', 'bob']).assignments).toEqual([{ worker: 'bob', task: 'go' }]);
  });

  it('finds a name in another Unicode form', () => {
    expect(parseAssignments('@worker:Rene\u0301 geh hin', ['Ren\u00e9']).assignments).toEqual([
      { worker: 'Ren\u00e9', task: 'geh hin' },
    ]);
  });
});

describe('the form that prompts show', () => {
  const workers = ['Security Auditor', 'coder'].map((name) => ({ name, agent: name }));
  const names = workers.map((worker) => worker.name);

  it.each([
    ['the form itself', assignmentForm(workers)],
    ['the nudge', nudge({ unknown: [], empty: [], taken: [] }, workers)],
    ['the nudge about unknown names', nudge({ unknown: ['x'], empty: ['coder'], taken: ['coder'] }, workers)],
    ['the planning prompt', planningPrompt('Do it.', workers, undefined, 'n')],
    ['the prompt to plan again', replanPrompt('Too short.', workers, undefined, 'n')],
  ])('%s is understood by the parser', (_name, text) => {
    expect(parseAssignments(text, names)).toMatchObject({
      assignments: [{ worker: 'Security Auditor', task: '<the whole task for this worker>' }],
      unknown: [],
    });
  });
});

describe('any text', () => {
  const name = fc.constantFrom(...WORKERS, 'worker-2', 'nobody', '', '`coder`', '"x', 'Security');
  const piece = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom(
      '```',
      '~~~',
      '```json',
      '[',
      ']',
      '@end',
      '@worker:',
      '> ',
      '\r\n',
      '\n',
      ' ',
      '{"worker":"coder","task":"x"}',
      ',',
    ),
    name.map((one) => `\n@worker:${one} `),
  );
  const text = fc.array(piece, { maxLength: 60 }).map((pieces) => pieces.join(''));

  it('gives at most one task per worker, only to workers, never an empty one, and does not throw', () => {
    fc.assert(
      fc.property(text, (said) => {
        const { assignments, unknown, empty } = parseAssignments(said, WORKERS);
        const named = assignments.map(({ worker }) => worker);
        expect(new Set(named).size).toBe(named.length);
        for (const { worker, task } of assignments) {
          expect(WORKERS).toContain(worker);
          expect(task.trim()).not.toBe('');
          expect(task.length).toBeLessThanOrEqual(said.length + 7 * said.length);
        }
        expect(unknown.length).toBeLessThanOrEqual(20);
        for (const one of unknown) expect(one.length).toBeLessThanOrEqual(100);
        for (const one of empty) expect(WORKERS).toContain(one);
      }),
      { numRuns: 2_000 },
    );
  });

  it('gives back what was written, whatever the tasks and the form', () => {
    const task = fc
      .string({ minLength: 1, maxLength: 80 })
      .filter((one) => one.trim() === one && one !== '' && !/@end|@worker:|```|~~~|[\r\n]|^[[:,;*_]/i.test(one));
    const plan = fc.uniqueArray(fc.record({ worker: fc.constantFrom(...WORKERS), task }), {
      selector: (one) => one.worker,
      minLength: 1,
    });
    const write = [
      (one: { worker: string; task: string }[]) => one.map(({ worker, task: body }) => `@worker:${worker}\n${body}`).join('\n'),
      (one: { worker: string; task: string }[]) =>
        one.map(({ worker, task: body }) => `@worker:${worker}\r\n${body}\r\n@end`).join('\r\n'),
      (one: { worker: string; task: string }[]) =>
        one.map(({ worker, task: body }) => `@worker:\`${worker}\` ${body}`).join('\n'),
      (one: { worker: string; task: string }[]) => JSON.stringify(one),
      (one: { worker: string; task: string }[]) => `So:\n\n\`\`\`json\n${JSON.stringify(one, undefined, 1)}\n\`\`\``,
    ];
    fc.assert(
      fc.property(plan, fc.constantFrom(...write), (wanted, form) => {
        expect(parseAssignments(form(wanted), WORKERS)).toEqual({ assignments: wanted, unknown: [], empty: [] });
      }),
      { numRuns: 1_000 },
    );
  });

  it('nobody is guessed any more behind twenty names that nobody has', () => {
    const strangers = (count: number): string =>
      Array.from({ length: count }, (_, at) => `@worker:stranger${at}x Go.\n`).join('');
    const meant = '@worker:testr Test it.\n@worker:coder Write it.';
    expect(parseAssignments(strangers(19) + meant, WORKERS).assignments.map(({ worker }) => worker)).toEqual(['tester', 'coder']);
    expect(parseAssignments(strangers(20) + meant, WORKERS).assignments.map(({ worker }) => worker)).toEqual(['coder']);
  });

  it.each([
    ['marks', '@worker:coder x\n'.repeat(200_000)],
    ['unknown marks', Array.from({ length: 200_000 }, (_, index) => `@worker:w${index} x`).join('\n')],
    ['marks on one line', '@worker:coder x '.repeat(200_000)],
    ['brackets', '[\n'.repeat(500_000)],
    ['fences', '```\n'.repeat(500_000)],
    ['blank lines behind a fence', `\`\`\`json${'\n'.repeat(2_000_000)}`],
    ['spaces', `@worker:${' '.repeat(2_000_000)}x`],
    ['quotes', `@worker:${'"a'.repeat(1_000_000)}`],
  ])('a flood of %s is only walked through: anything else would not come back', (_name, flood) => {
    parseAssignments(flood, WORKERS);
  });
});
