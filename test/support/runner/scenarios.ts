/** What can happen in a loop, as scripts: a runner has to bring each to the end that the loop brings it to. */
import fc from 'fast-check';
import { userText } from '../../../src/events/messages.ts';
import { contract, type PortScript, report, type ScriptedReply, testLimits } from './scripted-ports.ts';

const inOrder =
  (replies: readonly ScriptedReply[]) =>
  (turn: number): ScriptedReply =>
    replies[turn - 1] ?? 'the script has ended';
const small = { ...testLimits, maxTurns: 40, contextWindow: 3_000, maxOutputTokens: 500 };
const long = { ...testLimits, maxTurns: 20 };
const json = {
  format: 'json',
  schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
} as const;
const claims = [{ kind: 'file', path: 'a.txt' }];

export const scenarios: Readonly<Record<string, () => PortScript>> = {
  'a plain answer': () => ({ replies: inOrder(['42']) }),
  'a failure with claims, and a call beside it': () => ({
    replies: inOrder([[{ name: 'act' }, ...report('no', { status: 'failure', claims })]]),
  }),
  'the last turn': () => ({ replies: (turn) => (turn < 6 ? [{ input: { turn } }] : report('late')) }),
  'no report at all': () => ({ replies: (turn) => [{ input: { turn } }] }),
  'a model that fails': () => ({
    replies: inOrder(['', { kind: 'failed', error: { kind: 'auth', message: 'no key' } }]),
  }),
  'an exhausted budget': () => ({ replies: inOrder([[{}], { kind: 'no_budget', scope: 'project', message: 'nothing left' }]) }),
  'a cancelled call': () => ({ replies: inOrder([[{}], { kind: 'failed', error: { kind: 'cancelled', message: 'stop' } }]) }),
  'a loop cancelled before it began': () => ({ replies: inOrder(['x']), signal: AbortSignal.abort() }),
  'a cancelled loop with turns to go through again': () => ({
    replies: (turn) => [{ input: { turn } }],
    signal: AbortSignal.abort(),
    begun: 2,
  }),
  'broken arguments': () => ({ replies: inOrder([[{ malformed: '{"a":' }], 'then so']) }),
  'an unknown tool': () => ({ replies: inOrder([[{ name: 'fly' }], 'then so']) }),
  'a report that does not fit': () => ({ replies: inOrder([[{ name: 'final_report', input: {} }], 'then so']) }),
  'too many calls': () => ({ replies: inOrder([[0, 1, 2, 3, 4].map((n) => ({ id: `n${n}`, input: { n } })), 'ok']) }),
  'an empty answer': () => ({ replies: inOrder(['', 'something']) }),
  'answers that do not fit their schema': () => ({
    replies: inOrder(['not json', '{"n":"x"}', '```json\n{"n":1}\n```']),
    input: contract(json),
  }),
  'a report by tool that does not fit its schema': () => ({
    replies: inOrder([report('text'), report({ n: 2 })]),
    input: contract(json),
  }),
  'going round in circles': () => ({ replies: (turn) => (turn <= 5 ? [{}] : report('gave up')), input: { limits: long } }),
  'something new each time': () => ({
    replies: (turn) => (turn < 9 ? [{}] : 'done'),
    result: (_call, turn) => String(turn),
    input: { limits: long },
  }),
  'a conversation that outgrows the window again and again': () => ({
    replies: (turn) => (turn < 25 ? [{ input: { turn } }, { name: 'fly' }] : 'done'),
    result: () => 'x'.repeat(1_200),
    input: { limits: small, history: [userText('before'), userText('y'.repeat(900))] },
  }),
  'a result too large for the window': () => ({
    replies: (turn) => (turn === 1 ? [{}] : report('short')),
    result: () => 'y'.repeat(30_000),
    input: { limits: small },
  }),
  'a provider that counts differently': () => ({
    replies: inOrder([[{}], { kind: 'failed', error: { kind: 'context_overflow', message: 'too long' } }, report('saved')]),
  }),
  'messages from others': () => ({
    replies: inOrder([[{}], 'early', report('early'), 'done']),
    incoming: (turn) => (turn === 3 ? [] : [`news of turn ${turn}`, 'and\u2028more']),
    unheard: (turn) => turn < 4,
    inputTokens: 321,
  }),
  'exits that go on, which the last turn does not offer': () => {
    const { exits, plain } = contract({ format: 'text' });
    const [last] = exits;
    const handoff = last === undefined ? [] : [{ ...last, spec: { ...last.spec, name: 'hand_off' }, goesOn: true }];
    return { replies: () => [{ name: 'hand_off', input: {} }], input: { exits: [...handoff, ...exits], plain } };
  },
};

const call = fc.record({
  name: fc.constantFrom('look', 'act', 'fly', 'final_report'),
  input: fc.jsonValue().map((value) => ({ report: JSON.stringify(value), value })),
});
const reply: fc.Arbitrary<ScriptedReply> = fc.oneof(
  { weight: 4, arbitrary: fc.array(call, { minLength: 1, maxLength: 5 }) },
  { weight: 1, arbitrary: fc.string({ unit: 'grapheme' }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<ScriptedReply>('', { kind: 'failed', error: { kind: 'context_overflow', message: 'x' } }),
  },
);

/** Any loop: what the model says, how much the tools say, who writes in between, how large the window is. */
export const anyPlay: fc.Arbitrary<() => PortScript> = fc
  .record({
    replies: fc.array(reply, { minLength: 1, maxLength: 12 }),
    resultLength: fc.nat(3_000),
    contextWindow: fc.constantFrom(2_000, 4_000, 100_000),
    maxTurns: fc.integer({ min: 1, max: 12 }),
    heard: fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 3 }),
  })
  .map(({ replies, resultLength, contextWindow, maxTurns, heard }) => () => ({
    replies: (turn) => replies[(turn - 1) % replies.length] ?? 'done',
    result: (_call, turn) => `${turn} ${'r'.repeat(resultLength)}`,
    incoming: (turn) => heard.slice(0, turn % 4),
    input: { limits: { ...testLimits, contextWindow, maxTurns } },
  }));
