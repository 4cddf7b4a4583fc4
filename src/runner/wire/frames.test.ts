import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { linked } from '../../../test/support/runner/link.ts';
import { anyPlay } from '../../../test/support/runner/scenarios.ts';
import { type PortScript, scriptedPorts, testLimits } from '../../../test/support/runner/scripted-ports.ts';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { runLoop } from '../../loop/loop.ts';
import { createPortCalls } from '../host/port-calls.ts';
import { servePorts } from '../host/served-ports.ts';
import { INVALID_PARAMS } from './rpc.ts';

describe('the wire', () => {
  it('changes nothing, whatever is said', async () => {
    await fc.assert(
      fc.asyncProperty(anyPlay, async (script) => {
        const here = scriptedPorts(script());
        const there = scriptedPorts(script());
        const expected = await runLoop(here.input, here.ports);
        expect(await linked(there.input, there.ports, () => {})).toEqual(expected);
        expect(there.protocol.toSorted()).toEqual(here.protocol.toSorted());
        expect(there.lists.size).toBe(here.lists.size);
      }),
      { numRuns: 300 },
    );
  });

  it.each([
    ['that only grows', 100_000_000, /./],
    // Digests are as long as what they stand for: they are the loop's own cost, not that of carrying it.
    ['that is condensed again and again', 60_000, /"on_llm_request"/],
  ])('carries only what is new of a conversation %s', async (_name, contextWindow, counted) => {
    const bytes = async (turns: number): Promise<number> => {
      let sum = 0;
      const { input, ports } = scriptedPorts({
        replies: (turn) => (turn < turns ? [{ input: { turn } }] : 'done'),
        result: () => 'x'.repeat(5_000),
        input: { limits: { ...testLimits, maxTurns: turns, contextWindow } },
      });
      await linked(input, ports, (text) => {
        if (counted.test(text)) sum += text.length;
      });
      return sum;
    };
    const [few, many] = [await bytes(50), await bytes(200)];
    expect(many / few).toBeLessThan(5);
  });

  it('carries no picture, nothing that is only for the provider, and no tool but its name', async () => {
    const { input, ports } = scriptedPorts({ replies: () => 'seen' });
    const seen: string[] = [];
    const frames: string[] = [];
    await linked(
      {
        ...input,
        history: [
          { role: 'assistant', content: [{ type: 'reasoning', text: 'hm', provider: 'p', opaque: { signature: 'SIGNED' } }] },
          { role: 'user', content: [{ type: 'image', mediaType: 'image/png', data: 'PICTURE' }] },
        ],
      },
      {
        ...ports,
        tools: { ...ports.tools, specs: [{ name: 'look', description: 'DESCRIBED', inputSchema: { type: 'object' } }] },
        model: {
          ask: (request) => {
            seen.push(JSON.stringify([request.messages, request.tools]));
            return ports.model.ask(request);
          },
        },
      },
      (text) => frames.push(text),
    );
    for (const word of ['SIGNED', 'PICTURE', 'DESCRIBED']) {
      expect(seen[0]).toContain(word);
      expect(frames.join('\n')).not.toContain(word);
    }
  });

  it('names its methods and fields as they are documented', async () => {
    const frames: JsonObject[] = [];
    const script: PortScript = { replies: (turn) => (turn === 1 ? [{ input: { path: 'a' } }] : 'done'), incoming: () => [] };
    const { input, ports } = scriptedPorts(script);
    await linked(input, ports, (text, from) => {
      const frame: unknown = JSON.parse(text);
      if (from === 'runner' && isJsonObject(frame)) frames.push(frame);
    });
    const about = { thread_id: 'thr_linked', turn: 1 };
    expect(frames.slice(0, 4)).toEqual([
      { jsonrpc: '2.0', id: 1, method: 'on_aggregate_service_context', params: { ...about, room_tokens: 98_993 } },
      { jsonrpc: '2.0', method: 'progress', params: about },
      {
        ...{ jsonrpc: '2.0', id: 2, method: 'on_llm_request' },
        params: { ...about, keep: 0, messages: [{ given: 0 }], new_from: 0, tools: [0, 1, 2] },
      },
      {
        ...{ jsonrpc: '2.0', id: 3, method: 'on_tool_call' },
        params: { ...about, index: 0, part: 0, tool_name: 'look', arguments: { path: 'a' } },
      },
    ]);
  });
});

describe('what a runner may ask for', () => {
  const served = () => {
    const { input, ports, protocol } = scriptedPorts({ replies: () => [{ input: { path: 'a' } }, { name: 'act' }] });
    const methods = servePorts(
      input,
      ports,
      createPortCalls(() => {}),
    ).methods(() => {});
    return {
      protocol,
      ask: async (name: string, params: JsonObject) => await methods[name]?.({ thread_id: 't', turn: 1, ...params }),
    };
  };
  const request = { keep: 0, messages: [{ given: 0 }], new_from: 0, tools: [0] };
  const call = { index: 0, part: 0, tool_name: 'look', arguments: { path: 'a' } };

  it('is what the model asked for', async () => {
    const { ask, protocol } = served();
    expect(await ask('on_tool_call', call)).toMatchObject({ error: { code: INVALID_PARAMS } });
    // The message with number 0 is given with `start`, which was not asked for here.
    expect(await ask('on_llm_request', request)).toMatchObject({ error: { code: INVALID_PARAMS } });
    expect(protocol).toEqual([]);
  });

  it.each([
    ['a call that differs', 'on_tool_call', { ...call, arguments: { path: '/etc/passwd' } }],
    ['a call of another tool', 'on_tool_call', { ...call, tool_name: 'act' }],
    ['a call that is none', 'on_tool_call', { ...call, part: 7 }],
    ['a call of another turn', 'on_tool_call', { ...call, turn: 2 }],
    ['a message that was never given', 'on_llm_request', { ...request, turn: 2, messages: [{ given: 99 }] }],
    ['a message that was never made', 'on_llm_request', { ...request, turn: 2, messages: [{ own: 99 }] }],
    ['a conversation that does not go on from the last', 'on_llm_request', { ...request, turn: 2, keep: 5 }],
    ['tools that there are not', 'on_llm_request', { ...request, turn: 2, tools: [99] }],
    ['a turn beyond the last', 'on_llm_request', { ...request, turn: 7 }],
    ['a summary of nothing', 'condense', { text: 'x', leads: true, unsent: 0, kept: [{ given: 99 }] }],
  ])('is not %s', async (_name, method, params) => {
    const { input, ports, protocol } = scriptedPorts({ replies: () => [{ input: { path: 'a' } }, { name: 'act' }] });
    const ported = servePorts(
      input,
      ports,
      createPortCalls(() => {}),
    );
    ported.start('t');
    const methods = ported.methods(() => {});
    expect(await methods['on_llm_request']?.({ thread_id: 't', turn: 1, ...request })).toMatchObject({ ok: true });
    expect(await methods[method]?.({ thread_id: 't', turn: 1, ...params })).toMatchObject({ error: { code: INVALID_PARAMS } });
    expect(protocol).toHaveLength(1);
  });

  it('is never anything else, however it is asked', async () => {
    const { ask } = served();
    const names = fc.constantFrom(
      ...['on_llm_request', 'on_tool_call', 'on_aggregate_service_context', 'condense', 'unheard', 'progress'],
    );
    await fc.assert(
      fc.asyncProperty(
        names,
        fc.dictionary(fc.constantFrom(...Object.keys({ ...request, ...call })), fc.jsonValue()),
        async (name, params) => {
          const reply = await ask(name, JSON.parse(JSON.stringify(params)));
          expect(typeof reply?.ok).toBe('boolean');
        },
      ),
    );
  });
});
