import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../base/json.ts';
import { fail, ok } from '../../base/result.ts';
import {
  CLOSED,
  createPeer,
  INTERNAL_ERROR,
  INVALID_PARAMS,
  METHOD_NOT_FOUND,
  type Method,
  type Peer,
  rpcRefusal,
  TOO_MANY,
} from './rpc.ts';

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

/** A peer whose frames are kept instead of sent. */
function alone(methods: Readonly<Record<string, Method>> = {}, maxOpen = 10) {
  const sent: JsonObject[] = [];
  const peer = createPeer({
    send: (frame) => ok(void sent.push(frame)),
    method: (name) => (Object.hasOwn(methods, name) ? methods[name] : undefined),
    maxOpen,
  });
  return { peer, sent };
}

/** Two peers with a wire between them. */
function pair(methods: Readonly<Record<string, Method>>): Peer {
  const far = createPeer({
    send: (frame) => ok(near.receive(JSON.parse(JSON.stringify(frame)))),
    method: (name) => methods[name],
    maxOpen: 10,
  });
  const near: Peer = createPeer({
    send: (frame) => ok(far.receive(JSON.parse(JSON.stringify(frame)))),
    method: () => undefined,
    maxOpen: 10,
  });
  return near;
}

describe('a request of JSON-RPC', () => {
  const near = pair({
    double: (params) => (typeof params === 'number' ? ok(params * 2) : rpcRefusal(INVALID_PARAMS, 'a number, please')),
    broken: () => {
      throw new Error('oh');
    },
  });

  it.each([
    ['double', 21, ok(42)],
    ['double', 'x', fail({ code: INVALID_PARAMS, message: 'a number, please' })],
    ['triple', 1, fail({ code: METHOD_NOT_FOUND, message: 'There is no method "triple".' })],
    ['broken', 1, fail({ code: INTERNAL_ERROR, message: 'oh' })],
  ])('%s of %j is answered', async (method, params, expected) => {
    expect(await near.request(method, params)).toEqual(expected);
  });

  it('is answered in any order', async () => {
    const waiting: (() => void)[] = [];
    const peer = pair({ later: (params) => new Promise((resolve) => waiting.push(() => resolve(ok(params ?? null)))) });
    const answers = Promise.all([1, 2, 3].map((number) => peer.request('later', number)));
    await settled();
    for (const resolve of waiting.toReversed()) resolve();
    expect(await answers).toEqual([ok(1), ok(2), ok(3)]);
  });
});

describe('bounds', () => {
  it('refuses to have too many requests open, in both directions', async () => {
    const { peer, sent } = alone({ wait: () => new Promise(() => {}) }, 2);
    const open = [1, 2, 3].map((number) => peer.request('m', number));
    expect(await open[2]).toMatchObject({ error: { code: TOO_MANY } });
    for (const id of [1, 2, 3]) peer.receive({ jsonrpc: '2.0', id, method: 'wait' });
    await settled();
    expect(sent.at(-1)).toMatchObject({ id: 3, error: { code: TOO_MANY } });
  });

  it('answers everything that is open when it closes, and sends nothing after', async () => {
    const { peer, sent } = alone();
    const open = peer.request('m', null);
    peer.close('it died');
    expect(await open).toEqual(rpcRefusal(CLOSED, 'it died'));
    expect(await peer.request('m', null)).toEqual(rpcRefusal(CLOSED, 'it died'));
    peer.notify('m', null);
    peer.receive({ jsonrpc: '2.0', id: 1, method: 'm' });
    await settled();
    expect(sent).toHaveLength(1);
  });

  it('says so when an answer cannot be sent', async () => {
    const sent: JsonObject[] = [];
    const peer = createPeer({
      send: (frame) => (JSON.stringify(frame).length > 100 ? fail('too long') : ok(void sent.push(frame))),
      method: () => () => ok('x'.repeat(200)),
      maxOpen: 1,
    });
    peer.receive({ jsonrpc: '2.0', id: 7, method: 'm' });
    await settled();
    expect(sent).toEqual([{ jsonrpc: '2.0', id: 7, error: { code: INTERNAL_ERROR, message: 'too long' } }]);
  });
});

describe('whatever comes in', () => {
  const anything: fc.Arbitrary<Json> = fc.jsonValue().map((value) => JSON.parse(JSON.stringify(value)));
  const frames = fc.record(
    {
      id: fc.oneof(anything, fc.integer({ min: 0, max: 5 })),
      method: fc.oneof(anything, fc.constantFrom('m', 'constructor', '__proto__', 'toString')),
      params: anything,
      result: anything,
      error: fc.oneof(anything, fc.record({ code: anything, message: anything })),
    },
    { requiredKeys: [] },
  );

  it('nothing throws, and every proper request gets one answer', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(frames), async (given) => {
        const { peer, sent } = alone({ m: (params) => ok(params ?? null) }, 100);
        const open = [1, 2, 3].map((number) => peer.request('ask', number));
        for (const frame of given) peer.receive({ jsonrpc: '2.0', ...frame });
        await settled();
        const requests = given.filter(({ id, method }) => typeof method === 'string' && id !== undefined);
        const answers = sent.filter((frame) => frame['method'] === undefined);
        expect(answers).toHaveLength(requests.length);
        for (const { error } of answers) if (error !== undefined) expect(isJsonObject(error)).toBe(true);
        peer.close('over');
        await Promise.all(open);
      }),
    );
  });
});
