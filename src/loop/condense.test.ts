import { describe, expect, it } from 'vitest';
import { type AssistantMessage, type Message, textOf, userText } from '../events/messages.ts';
import { estimateTokens } from '../models/tokens.ts';
import { digest } from './condense.ts';
import { runLoop } from './loop.ts';
import type { Checkpoint, Condensing, LoopInput, LoopPorts } from './port.ts';

const KIB = 1024;
const MAX_OUTPUT = 4 * KIB;

interface Long {
  readonly turns: number;
  readonly contextWindow: number;
  /** Of each result, as the model is given it. */
  readonly resultCharacters: number;
  readonly repeat?: (turn: number) => boolean;
  readonly from?: Checkpoint;
}

const request = userText('Do it, however long it takes.');

/** An agent that works on and on, with a provider that counts what it is sent. */
async function work({ turns, contextWindow, resultCharacters, repeat, from }: Long) {
  const condensed: (Condensing & { readonly checkpoint: Checkpoint })[] = [];
  const requests: { readonly turn: number; readonly tokens: number; readonly messages: string; readonly newFrom: number }[] = [];
  const ports: LoopPorts = {
    model: {
      async ask({ turn, messages, newFrom, tools }) {
        const tokens = estimateTokens(messages, 'S');
        requests.push({ turn, tokens, messages: turns < 2_000 ? JSON.stringify(messages) : '', newFrom });
        const same = repeat?.(turn) === true;
        const message: AssistantMessage =
          turn < turns && tools.length > 0
            ? {
                role: 'assistant',
                content: [{ type: 'tool-call', id: `c${turn}`, name: 'look', input: { at: same ? 0 : turn } }],
              }
            : { role: 'assistant', content: [{ type: 'text', text: `done at ${turn}` }] };
        return { kind: 'answer', answer: { message, finish: 'stop', usage: { inputTokens: tokens }, served: 'x' } };
      },
    },
    tools: {
      specs: [{ name: 'look', description: 'look', inputSchema: { type: 'object' } }],
      async call(turn, _index, call) {
        const text = `${repeat?.(turn) === true ? 'same' : turn} `.padEnd(resultCharacters, 'lorem ipsum ');
        return { type: 'tool-result', id: call.id, name: call.name, content: [{ type: 'text', text }] };
      },
    },
    async condense(condensing) {
      const summary = userText(condensing.text);
      const messages = [...condensing.leads, summary, ...condensing.kept];
      const { turn, unsent, ending } = condensing;
      condensed.push({ ...condensing, checkpoint: { turn, messages, unsent, ending } });
      return summary;
    },
    reference: (item) => ('role' in item ? 'run_1 turn/1/model' : 'run_1 turn/1/tool/0'),
    signal: new AbortController().signal,
  };
  const input: LoopInput = {
    agent: 'a',
    system: 'S',
    history: [],
    request,
    from,
    exits: [],
    plain: (text) => ({ ok: true, value: { report: { format: 'text', body: text }, success: true, claims: [] } }),
    limits: {
      maxTurns: 2_100,
      turnsBefore: 0,
      maxToolCallsPerTurn: 3,
      contextWindow,
      maxOutputTokens: MAX_OUTPUT,
      loopNudgeAt: 3,
      loopStopAt: 5,
    },
  };
  return { result: await runLoop(input, ports), condensed, requests };
}

describe.each([16, 32, 64, 128])('a window of %i k', (thousands) => {
  const contextWindow = thousands * KIB;
  const room = contextWindow - MAX_OUTPUT;

  it.each([
    ['small results', 200],
    ['results of two kilobytes', 2_000],
    ['the largest results', Math.min(12_288, Math.floor((room * 4) / 20))],
  ])('holds 2,000 turns with %s, and is condensed at most once in ten turns', async (_name, resultCharacters) => {
    const { result, condensed, requests } = await work({ turns: 2_000, contextWindow, resultCharacters });
    expect(result).toMatchObject({ status: 'completed', turns: 2_000, report: { body: 'done at 2000' } });
    expect(condensed.length).toBeGreaterThan(0);
    expect(condensed.length).toBeLessThanOrEqual(200);
    for (const [index, { turn }] of condensed.entries())
      expect(turn - (condensed[index - 1]?.turn ?? 0)).toBeGreaterThanOrEqual(10);
    for (const { tokens } of requests) expect(tokens).toBeLessThanOrEqual(room);
    for (const { text } of condensed) expect(text.length / 4).toBeLessThanOrEqual(room / 10);
  });
});

describe('a digest', () => {
  const turn = (at: number): Message[] => [
    { role: 'assistant', content: [{ type: 'tool-call', id: `c${at}`, name: 'look', input: { at } }] },
    {
      role: 'tool',
      content: [{ type: 'tool-result', id: `c${at}`, name: 'look', content: [{ type: 'text', text: `seen ${at}` }] }],
    },
  ];
  const reference = (): string => 'run turn/1';

  it('names the newest steps and counts those that it does not name, however often it is condensed', () => {
    let text = '';
    for (let at = 0; at < 50; at += 1) text = digest([...(text === '' ? [] : [userText(text)]), ...turn(at)], reference, 300);
    const lines = text.split('\n').filter((line) => line.startsWith('- '));
    expect(lines.at(-1)).toContain('seen 49');
    expect(text).toContain(`(${100 - lines.length} still older steps are not listed)`);
    expect(text.length / 4).toBeLessThanOrEqual(300);
  });

  it('shows no more of a long text than its beginning', () => {
    const long: Message = { role: 'user', content: [{ type: 'text', text: `${' \n'.repeat(50)}${'🎭'.repeat(1_000_000)}` }] };
    const line = digest([long], reference, 1_000).split('\n')[1] ?? '';
    expect([...line].filter((character) => character === '🎭')).toHaveLength(160);
  });
});

describe('a loop that goes on from where it was condensed', () => {
  it.each([
    ['an agent that gets on', { turns: 300, resultCharacters: 2_000 }],
    ['one that goes round in circles', { turns: 300, resultCharacters: 2_000, repeat: (turn: number) => turn > 150 }],
    // Of what is said again and again less is kept than would be noticed.
    ['one whose circles are condensed', { turns: 60, resultCharacters: 12_000, repeat: (turn: number) => turn > 10 }],
  ])('says, sends and ends the same: %s', async (_name, long) => {
    const script = { contextWindow: 16 * KIB, ...long };
    const whole = await work(script);
    expect(whole.condensed.length).toBeGreaterThan(5);
    for (const { checkpoint } of whole.condensed) {
      const again = await work({ ...script, from: checkpoint });
      expect(again.result).toEqual(whole.result);
      expect(again.requests).toEqual(whole.requests.filter(({ turn }) => turn >= checkpoint.turn));
    }
  });
});

describe('what was said before the request', () => {
  it('is condensed from its oldest part on, and the newest of it stays', async () => {
    const history = Array.from({ length: 300 }, (_, at): Message[] => [
      userText(`question ${at}`),
      { role: 'assistant', content: [{ type: 'text', text: `answer ${at}` }] },
    ]).flat();
    const seen: Message[][] = [];
    const ports: LoopPorts = {
      model: {
        async ask({ messages }) {
          seen.push([...messages]);
          const message: AssistantMessage = { role: 'assistant', content: [{ type: 'text', text: 'done' }] };
          return { kind: 'answer', answer: { message, finish: 'stop', usage: {}, served: 'x' } };
        },
      },
      tools: { specs: [], call: () => Promise.reject(new Error('none')) },
      condense: async ({ text }) => userText(text),
      reference: () => undefined,
      signal: new AbortController().signal,
    };
    await runLoop(
      {
        agent: 'a',
        system: 'S',
        history,
        request,
        exits: [],
        plain: (text) => ({ ok: true, value: { report: { format: 'text', body: text }, success: true, claims: [] } }),
        limits: {
          maxTurns: 2,
          turnsBefore: 0,
          maxToolCallsPerTurn: 1,
          contextWindow: 128 * KIB,
          maxOutputTokens: MAX_OUTPUT,
          loopNudgeAt: 3,
          loopStopAt: 5,
        },
      },
      ports,
    );
    const texts = (seen[0] ?? []).map(({ content }) => textOf(content as { type: string; text: string }[]));
    expect(texts.at(-1)).toBe(textOf(request.content as { type: string; text: string }[]));
    expect(texts.slice(-3, -1)).toEqual(['question 299', 'answer 299']);
    expect(texts[0]).toContain('condensed to save room');
    expect(texts.length).toBeGreaterThan(75);
    expect(texts.length).toBeLessThanOrEqual(102);
  });
});
