import { describe, expect, it } from 'vitest';
import type { Json } from '../base/json.ts';
import { present } from '../base/present.ts';
import { type AssistantMessage, type Message, type ToolCallPart, textOf, userText } from '../events/messages.ts';
import { finalReportExit, type OutputContract, plainReport } from './final-report.ts';
import { runLoop } from './loop.ts';
import type { Checkpoint, LoopInput, LoopLimits, LoopPorts, TurnOutcome, TurnRequest } from './port.ts';

const limits: LoopLimits = {
  maxTurns: 6,
  maxToolCallsPerTurn: 3,
  contextWindow: 100_000,
  maxOutputTokens: 1_000,
  turnsBefore: 0,
  loopNudgeAt: 3,
  loopStopAt: 5,
};

const contract = (output: OutputContract) => ({ exits: [finalReportExit(output)], plain: plainReport(output) });

const input = (changes: Partial<LoopInput> = {}): LoopInput => ({
  agent: 'a',
  system: 'S',
  history: [],
  request: userText('Do it.'),
  ...contract({ format: 'text' }),
  limits,
  ...changes,
});

type Reply = string | readonly Partial<ToolCallPart>[] | Exclude<TurnOutcome, { kind: 'answer' }>;

interface Script {
  readonly replies: readonly Reply[] | ((turn: number) => Reply);
  readonly inputTokens?: number;
  readonly result?: (call: ToolCallPart) => string;
  readonly signal?: AbortSignal;
}

/** Ports that play a script and keep what they were asked. */
function ports({ replies, inputTokens, result = (call) => `${call.name} ok`, signal }: Script) {
  const requests: (Omit<TurnRequest, 'messages'> & { readonly messages: Message[] })[] = [];
  const called: string[] = [];
  const summaries: string[] = [];
  const checkpoints: Checkpoint[] = [];
  const given: LoopPorts = {
    model: {
      async ask(request) {
        requests.push({ ...request, messages: [...request.messages] });
        const reply =
          typeof replies === 'function' ? replies(request.turn) : (replies[requests.length - 1] ?? 'the script has ended');
        if (typeof reply === 'object' && 'kind' in reply) return reply;
        const usage = present({ inputTokens });
        return { kind: 'answer', answer: { message: assistant(reply), finish: 'stop', usage, served: 'x' } };
      },
    },
    tools: {
      specs: ['look', 'act'].map((name) => ({ name, description: name, inputSchema: { type: 'object' } })),
      async call(turn, index, call) {
        called.push(`${turn}/${index} ${call.name}`);
        return { type: 'tool-result', id: call.id, name: call.name, content: [{ type: 'text', text: result(call) }] };
      },
    },
    async condense({ text, turn, leads, kept, unsent, ending }) {
      const summary = userText(text);
      summaries.push(text);
      checkpoints.push({ turn, messages: [...leads, summary, ...kept], unsent, ending });
      return summary;
    },
    reference: () => 'evt',
    signal: signal ?? new AbortController().signal,
  };
  return { given, requests, called, summaries, checkpoints };
}

function assistant(reply: string | readonly Partial<ToolCallPart>[]): AssistantMessage {
  if (typeof reply === 'string') return { role: 'assistant', content: [{ type: 'text', text: reply }] };
  return {
    role: 'assistant',
    content: reply.map((call, index) => ({ type: 'tool-call', id: `c${index}`, name: 'look', input: {}, ...call })),
  };
}

const report = (given: Json, more: { readonly [key: string]: Json } = {}) => [
  { name: 'final_report', input: { report: given, ...more } },
];
const lastText = (messages: readonly Message[]): string =>
  textOf((messages.at(-1)?.content ?? []) as { type: string; text: string }[]);

describe('the end of a loop', () => {
  it('takes a plain answer as the report', async () => {
    expect(await runLoop(input(), ports({ replies: ['42'] }).given)).toMatchObject({
      status: 'completed',
      report: { body: '42' },
      turns: 1,
    });
  });

  it('takes claims and failure from final_report, and runs what was asked beside it', async () => {
    const claims = [{ kind: 'file', path: 'a.txt' }];
    const played = ports({ replies: [[{ name: 'act', id: 'c9' }, ...report('no', { status: 'failure', claims })]] });
    expect(await runLoop(input(), played.given)).toMatchObject({
      status: 'failed',
      claims,
      error: { code: 'reported_failure' },
    });
    expect(played.called).toEqual(['1/0 act']);
  });

  it('allows only the report on the last turn, and says so', async () => {
    const played = ports({ replies: (turn) => (turn < 6 ? [{ input: { turn } }] : report('late')) });
    expect(await runLoop(input(), played.given)).toMatchObject({ status: 'completed', report: { body: 'late' }, turns: 6 });
    expect(played.requests.at(-1)).toMatchObject({ toolChoice: { name: 'final_report' }, tools: [{ name: 'final_report' }] });
    expect(lastText(played.requests.at(-1)?.messages ?? [])).toContain('last turn');
  });

  it('never ends without a result', async () => {
    const stubborn = ports({ replies: (turn) => [{ input: { turn } }] });
    const result = await runLoop(input(), stubborn.given);
    expect(result).toMatchObject({ status: 'failed', report: { synthetic: true }, error: { code: 'no_report' } });
    expect(stubborn.requests).toHaveLength(limits.maxTurns);
  });

  it.each([
    ['a model that fails', { kind: 'failed', error: { kind: 'auth', message: 'no key' } }, 'failed', 'model_auth'],
    [
      'an exhausted budget',
      { kind: 'no_budget', scope: 'project', message: 'nothing left' },
      'budget_exhausted',
      'budget_exhausted',
    ],
    ['a cancelled call', { kind: 'failed', error: { kind: 'cancelled', message: 'stop' } }, 'cancelled', 'cancelled'],
  ] as const)('%s keeps the last words', async (_name, reply, status, code) => {
    const played = ports({ replies: [[{ name: 'look' }], reply] });
    const result = await runLoop(input(), played.given);
    expect(result).toMatchObject({ status, error: { code }, report: { synthetic: true } });
  });

  it('quotes only what the agent said in this run', async () => {
    const cancelled = { kind: 'failed', error: { kind: 'cancelled', message: 'stop' } } as const;
    const history: readonly Message[] = [
      userText('Before?'),
      { role: 'assistant', content: [{ type: 'text', text: 'Old words.' }] },
    ];
    const silent = await runLoop(input({ history }), ports({ replies: [cancelled] }).given);
    expect(silent.report?.body).toBe('The run was cancelled.');
    const words = { type: 'text', text: 'Looking now.' } as const;
    const spoke = ports({ replies: [cancelled] });
    const request = userText('Go on.');
    const messages: readonly Message[] = [...history, request, { role: 'assistant', content: [words] }];
    const late = await runLoop(input({ history, request, from: { turn: 2, messages, unsent: 0 } }), spoke.given);
    expect(late.report?.body).toContain('Looking now.');
    expect(late.report?.body).not.toContain('Old words.');
  });

  it('does not start when it is cancelled already', async () => {
    const played = ports({ replies: ['x'], signal: AbortSignal.abort() });
    expect(await runLoop(input(), played.given)).toMatchObject({ status: 'cancelled', turns: 0 });
    expect(played.requests).toHaveLength(0);
  });
});

describe('what a model may do wrong', () => {
  it.each([
    ['broken arguments', [{ malformed: '{"a":' }], 'not valid JSON'],
    ['an unknown tool', [{ name: 'fly' }], 'no tool named'],
    ['a report that does not fit', [{ name: 'final_report', input: {} }], 'report is empty'],
  ] as const)('%s goes back as an error result', async (_name, call, words) => {
    const played = ports({ replies: [call, 'then so'] });
    expect(await runLoop(input(), played.given)).toMatchObject({ status: 'completed', report: { body: 'then so' } });
    expect(JSON.stringify(played.requests[1]?.messages.at(-1))).toContain(words);
    expect(played.called).toEqual([]);
  });

  it('refuses calls beyond the limit, each with a result', async () => {
    const played = ports({ replies: [[0, 1, 2, 3, 4].map((n) => ({ id: `n${n}`, input: { n } })), 'ok'] });
    await runLoop(input(), played.given);
    expect(played.called).toHaveLength(3);
    const results = played.requests[1]?.messages.at(-1);
    expect(results?.content.map((part) => ('id' in part ? part.id : ''))).toEqual(['n0', 'n1', 'n2', 'n3', 'n4']);
    expect(JSON.stringify(results)).toContain('maxToolCallsPerTurn');
  });

  it('asks again after an empty answer', async () => {
    const played = ports({ replies: ['', 'something'] });
    expect(await runLoop(input(), played.given)).toMatchObject({ report: { body: 'something' }, turns: 2 });
  });

  it('checks a JSON answer against its schema', async () => {
    const output = {
      format: 'json',
      schema: { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] },
    } as const;
    const played = ports({ replies: ['not json', '{"n":"x"}', '```json\n{"n":1}\n```'] });
    expect(await runLoop(input(contract(output)), played.given)).toMatchObject({
      status: 'completed',
      report: { format: 'json', body: '{"n":1}' },
      turns: 3,
    });
    const viaTool = ports({ replies: [report('text'), report({ n: 2 })] });
    expect(await runLoop(input(contract(output)), viaTool.given)).toMatchObject({ report: { body: '{"n":2}' }, turns: 2 });
  });
});

describe('an agent that goes round in circles', () => {
  it('is nudged at three and stopped at five', async () => {
    const played = ports({ replies: (turn) => (turn <= 5 ? [{}] : report('gave up')) });
    const result = await runLoop(input({ limits: { ...limits, maxTurns: 20 } }), played.given);
    expect(result).toMatchObject({ report: { body: 'gave up' }, turns: 6 });
    expect(lastText(played.requests[3]?.messages ?? [])).toContain('3 times in a row');
    expect(lastText(played.requests[5]?.messages ?? [])).toContain('too many times');
  });

  it('ends somebody who goes on although told to end, after a few calls and not after all its turns', async () => {
    const played = ports({ replies: () => [{}] });
    const result = await runLoop(input({ limits: { ...limits, maxTurns: 1_000 } }), played.given);
    expect(result).toMatchObject({ status: 'failed', error: { code: 'no_report' }, turns: 8 });
    expect(result.error?.message).toBe('The agent was told 3 times to give its answer and did not.');
    expect(played.requests).toHaveLength(8);
  });

  it('forgets when anything changes', async () => {
    let seen = 0;
    const played = ports({ replies: (turn) => (turn < 9 ? [{}] : 'done'), result: () => String(++seen) });
    await runLoop(input({ limits: { ...limits, maxTurns: 20 } }), played.given);
    expect(JSON.stringify(played.requests.at(-1)?.messages)).not.toContain('in a row');
  });
});

describe('a conversation that outgrows the window', () => {
  const small = { ...limits, maxTurns: 40, contextWindow: 3_000, maxOutputTokens: 500 };

  it('is condensed at a turn boundary and keeps the request and every pair', async () => {
    const played = ports({
      replies: (turn) => (turn < 15 ? [{ id: `t${turn}`, input: { turn } }] : 'done'),
      result: () => 'x'.repeat(1_200),
    });
    const result = await runLoop(input({ limits: small }), played.given);
    expect(result).toMatchObject({ status: 'completed', report: { body: 'done' } });
    expect(played.summaries.length).toBeGreaterThan(0);
    for (const { messages } of played.requests) {
      expect(textOf((messages[0]?.content ?? []) as { type: string; text: string }[])).toBe('Do it.');
      const called = messages.flatMap((message) =>
        message.role === 'assistant' ? message.content.flatMap((part) => (part.type === 'tool-call' ? [part.id] : [])) : [],
      );
      const answered = messages.flatMap((message) => (message.role === 'tool' ? message.content.map((part) => part.id) : []));
      expect(answered).toEqual(called);
    }
  });

  it('is asked for its report when condensing is not enough', async () => {
    const played = ports({ replies: (turn) => (turn === 1 ? [{}] : report('short')), result: () => 'y'.repeat(30_000) });
    expect(await runLoop(input({ limits: small }), played.given)).toMatchObject({ report: { body: 'short' }, turns: 2 });
    expect(lastText(played.requests[1]?.messages ?? [])).toContain('context window');
  });

  it('is told to report as often when it goes on from where it was condensed as when nothing was cut off', async () => {
    const overflow: Reply = { kind: 'failed', error: { kind: 'context_overflow', message: 'too long' } };
    const replies = (turn: number): Reply => (turn === 9 ? overflow : [{ id: `t${turn}`, input: { turn } }]);
    const script: Script = { replies, result: () => 'x'.repeat(1_200) };
    const given = input({ limits: small });
    const whole = ports(script);
    const result = await runLoop(given, whole.given);
    expect(result.error?.message).toContain('told 3 times');
    expect(whole.checkpoints.map(({ ending }) => ending?.told)).toEqual(expect.arrayContaining([0, 1]));
    for (const from of whole.checkpoints) expect(await runLoop({ ...given, from }, ports(script).given)).toEqual(result);
  });

  it('tries once more when the provider counts differently', async () => {
    const overflow: Reply = { kind: 'failed', error: { kind: 'context_overflow', message: 'too long' } };
    const played = ports({ replies: [[{}], overflow, report('saved')] });
    expect(await runLoop(input(), played.given)).toMatchObject({ status: 'completed', report: { body: 'saved' } });
  });
});
