/** The stream of all sessions on a real port: one order for everybody, and of what is others' nothing. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, type Writer, writeNotes } from '../../../test/conformance/ledger/support.ts';
import { handClock } from '../../../test/support/hand-clock.ts';
import { type ApiServer, openMemoryLedger, startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { type Listener, listenTo } from '../../../test/support/http/sse.ts';
import { eventLoopTurn, systemClock } from '../../base/clock.ts';
import { createIds, eventId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { systemRandom } from '../../base/random.ts';
import type { FeedPlace, Ledger } from '../../ledger/port.ts';
import { encodedEvent } from './encoded-events.ts';
import { createEncodedFeed } from './encoded-feed.ts';

const STREAM = '/api/v1/stream';

async function follow(
  server: ApiServer,
  query = '',
  more: { token?: string; headers?: Record<string, string> } = {},
): Promise<Listener> {
  const stop = new AbortController();
  const response = await server.ask(`${STREAM}${query}`, { ...more, signal: stop.signal });
  expect(response.status).toBe(200);
  return listenTo(response, stop);
}

/** The ledger itself, event by event in its order. */
async function inOrder(ledger: Ledger): Promise<readonly string[]> {
  const { entries } = await ledger.feed({ limit: 10_000 });
  const texts: string[] = [];
  for (const { session, position } of entries)
    for (const event of await ledger.read({ session, after: position - 1, limit: 1 })) texts.push(encodedEvent(event, 'small'));
  return texts;
}

const ids = createIds(systemClock, systemRandom);
const started = (ledger: Ledger): Promise<Writer> => givenRun({ ledger, newSession: ids.session, newRun: ids.run });

describe('the stream of all sessions', () => {
  it('is the same for whoever comes early, late or again, byte for byte, also from another server', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ writer: fc.nat(2), notes: fc.integer({ min: 1, max: 30 }), leaves: fc.boolean() }), {
          minLength: 1,
          maxLength: 6,
        }),
        async (rounds) => {
          const ledger = openMemoryLedger();
          const kept = { ...ledger, close: async () => undefined };
          let server = await startApi({ ledger: kept });
          const writers = [await started(ledger), await started(ledger), await started(ledger)];
          let early = await follow(server);
          let cursor = '0';
          const seen: string[] = [];
          for (const { writer, notes, leaves } of rounds) {
            const chosen = writers[writer] as Writer;
            await appendOrFail(
              chosen,
              Array.from({ length: notes }, (_, at) => note(chosen, `"${at}"`)),
            );
            if (!leaves) continue;
            // The server dies, and a client comes back with what it had.
            await server[Symbol.asyncDispose]();
            await early.ended;
            seen.push(...early.events());
            cursor = early.lastId() ?? cursor;
            server = await startApi({ ledger: kept });
            early = await follow(server, '', { headers: { 'last-event-id': cursor } });
          }
          const late = await follow(server);
          const expected = await inOrder(ledger);
          await expect.poll(() => late.events()).toEqual(expected);
          await expect.poll(() => [...seen, ...early.events()]).toEqual(expected);
          for (const one of [early, late]) one.stop();
          await server[Symbol.asyncDispose]();
          await ledger.close();
        },
      ),
      { numRuns: 8, endOnFailure: true },
    );
  });

  it('goes on where a large frame was cut', async () => {
    await using server = await startApi();
    const [one, two] = [await server.run(), await server.run()];
    const large = 'x'.repeat(400_000);
    for (const writer of [one, two, one]) await appendOrFail(writer, [note(writer, large), note(writer, large)]);
    // Read to its end as a stream does, so that what is left out is missed at once.
    const feed = createEncodedFeed(server.ledger);
    const batches: string[] = [];
    let after: FeedPlace | undefined;
    for (;;) {
      const page = await feed.page({ after, form: 'all' });
      if (typeof page === 'string') break;
      batches.push(Buffer.from(page.batch ?? '').toString());
      after = page.place;
    }
    const told = batches.flatMap((batch) => [...batch.matchAll(/"event_id":"([^"]+)"/g)].map(([, id]) => id));
    const { entries } = await server.ledger.feed({ limit: 100 });
    expect(told).toEqual(entries.map(({ session, position }) => eventId(session, position)));
    expect(batches.length).toBeGreaterThan(2);
    const listener = await follow(server, '?payloads=all');
    await expect.poll(() => listener.events().length).toBe(8);
    expect(listener.frames.length).toBeGreaterThan(2);
    listener.stop();
  });

  it('begins now for whoever asks so, tells only the types that are wanted, and where the ledger ends', async () => {
    const clock = handClock();
    await using server = await startApi({ clock });
    const [one, two] = [await server.run(), await server.run()];
    const ended = await follow(server, '?types=run.ended,run.started');
    const now = await follow(server, '?after=now&payloads=none');
    await expect.poll(() => ended.events().length).toBe(2);
    await writeNotes(one, 2);
    await appendOrFail(two, [two.ending()]);
    await expect.poll(() => now.events().length).toBe(3);
    await expect.poll(() => ended.events().length).toBe(3);
    expect(now.frames.map(({ event }) => event)).toEqual(['event', 'event', 'event']);
    expect(now.events().some((text) => text.includes('"payload"'))).toBe(false);
    expect(JSON.parse(ended.events()[2] ?? '')).toMatchObject({ event_type: 'run.ended', session_id: two.session });
    await expect
      .poll(async () => {
        await eventLoopTurn();
        if (ended.comments.length < 2) clock.advance(limits.streamHeartbeatMs);
        return ended.comments.length;
      })
      .toBeGreaterThan(1);
    expect(ended.comments[1]).toBe(`head ${now.lastId()}`);
    for (const after of ['x', '1', `${one.session}.1`, '1.ab'])
      expect([after, (await server.ask(`${STREAM}?after=${after}`)).status]).toEqual([after, 400]);
    for (const cursor of ['1.0123456789ab', `999.${now.lastId()?.split('.')[1]}`]) {
      const refused = await server.ask(STREAM, { headers: { 'last-event-id': cursor } });
      // A stream that began instead would have no end.
      expect(refused.status).toBe(409);
      expect(await refused.json()).toMatchObject({ error: { code: 'foreign_cursor', head: now.lastId() } });
    }
    expect((await server.ask(`${STREAM}?types=run.ended,nothing`)).status).toBe(400);
    for (const open of [ended, now]) open.stop();
  });

  it('tells nobody of what is others’, and leaves out what was collected', async () => {
    const callers = {
      alice: { name: 'alice', sees: 'own' },
      vera: { name: 'vera', sees: 'everything', role: 'viewer' },
    } as const;
    await using server = await startApi({ callers });
    const [old, own] = [await server.run(), await server.run()];
    await appendOrFail(old, [old.ending()]);
    await server.ledger.release(old.fence);
    const alice = await follow(server, '', { token: tokenOf('alice') });
    const vera = await follow(server, '', { token: tokenOf('vera') });
    await writeNotes(own, 1);
    await expect.poll(() => vera.events().length).toBe(4);
    expect(alice.events()).toEqual([]);
    await server.ledger.gc({ olderThanMs: 0, now: systemClock.now(), dryRun: false });
    const late = await follow(server, '?payloads=all', { token: tokenOf('vera') });
    await writeNotes(own, 1);
    await expect.poll(() => late.events().length).toBe(3);
    expect(late.events().every((text) => text.includes(own.session))).toBe(true);
    for (const open of [alice, vera, late]) open.stop();
    expect(server.errors).toEqual([]);
  });
});
