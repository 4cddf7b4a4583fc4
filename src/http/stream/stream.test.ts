/** Streams of a session on a real port: nothing is lost, nothing comes twice, and nobody is held up by somebody else. */
import { connect } from 'node:net';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { crc32 } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendOrFail, givenRun, note, type Writer, writeNotes } from '../../../test/conformance/ledger/support.ts';
import { handClock } from '../../../test/support/hand-clock.ts';
import { type ApiServer, OWNER_TOKEN, openMemoryLedger, startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { createReader } from '../../../test/support/http/crowd-reader.ts';
import { type Listener, listenTo } from '../../../test/support/http/sse.ts';
import { eventLoopTurn, systemClock } from '../../base/clock.ts';
import { createIds } from '../../base/ids.ts';
import { MIB } from '../../base/limits/units.ts';
import { limits } from '../../base/limits.ts';
import { seededRandom, systemRandom } from '../../base/random.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';
import { encodedEvent } from './encoded-events.ts';

const pathOf = ({ session }: Writer, query = ''): string => `/api/v1/sessions/${session}/stream${query}`;

async function follow(server: ApiServer, writer: Writer, query = '', headers = {}): Promise<Listener> {
  const stop = new AbortController();
  const response = await server.ask(pathOf(writer, query), { headers, signal: stop.signal });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
  return listenTo(response, stop);
}

async function ledgerTexts({ ledger, session }: Writer, form: 'small' | 'none' | 'all' = 'small'): Promise<readonly string[]> {
  const texts: string[] = [];
  for await (const event of readEvents(ledger, { session })) texts.push(encodedEvent(event, form));
  return texts;
}

const writeMany = (writer: Writer, count: number) =>
  appendOrFail(
    writer,
    Array.from({ length: count }, (_, index) => note(writer, `old "${index}", [${index}]`)),
  );

/** What is in use when everything was collected that could be. */
function memoryNow(): string {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
  const { heapUsed, external, rss } = process.memoryUsage();
  return `${Math.round((heapUsed + external) / MIB)} (${Math.round(rss / MIB)})`;
}

describe('a stream', () => {
  it('catches up in large frames, then tells one by one, and says where the session ends', async () => {
    await using server = await startApi();
    const writer = await server.run();
    await writeMany(writer, limits.streamBatchEvents + 10);
    const listener = await follow(server, writer);
    await expect.poll(() => listener.events().length).toBe(limits.streamBatchEvents + 11);
    expect(listener.frames.map(({ event }) => event)).toEqual(['events', 'events']);
    expect(listener.comments).toEqual([`head ${writer.session}.${limits.streamBatchEvents + 11}`]);
    await writeNotes(writer, 3);
    await expect.poll(() => listener.frames.length).toBe(5);
    expect(listener.frames.slice(2).map(({ event, id }) => [event, id])).toEqual(
      [12, 13, 14].map((more) => ['event', `${writer.session}.${limits.streamBatchEvents + more}`]),
    );
    expect(listener.events()).toEqual(await ledgerTexts(writer));
    listener.stop();
    expect(server.errors).toEqual([]);
  });

  it('is the same for whoever comes late, early, again or with a cursor, byte for byte', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ notes: fc.integer({ min: 1, max: 40 }), leaves: fc.boolean() }), { minLength: 1, maxLength: 6 }),
        fc.constantFrom('small', 'none', 'all'),
        async (rounds, form) => {
          await using server = await startApi();
          const writer = await server.run();
          const early = await follow(server, writer, `?payloads=${form}`);
          let coming = await follow(server, writer, `?payloads=${form}`);
          const seen: string[] = [];
          for (const { notes, leaves } of rounds) {
            await writeMany(writer, notes);
            if (!leaves) continue;
            // Wherever it was just then.
            coming.stop();
            await coming.ended;
            seen.push(...coming.events());
            const cursor = seen.length === 0 ? {} : { 'last-event-id': `${writer.session}.${seen.length}` };
            coming = await follow(server, writer, `?payloads=${form}`, cursor);
          }
          const late = await follow(server, writer, `?payloads=${form}`);
          const middle = await follow(server, writer, `?payloads=${form}&after=1`);
          const expected = await ledgerTexts(writer, form);
          await expect.poll(() => early.events()).toEqual(expected);
          await expect.poll(() => late.events()).toEqual(expected);
          await expect.poll(() => [...seen, ...coming.events()]).toEqual(expected);
          await expect.poll(() => middle.events()).toEqual(expected.slice(1));
          for (const one of [early, coming, late, middle]) one.stop();
        },
      ),
      { numRuns: 12, endOnFailure: true },
    );
  });

  it('refuses a cursor that is not of this session', async () => {
    await using server = await startApi();
    const [writer, other] = [await server.run(), await server.run()];
    for (const cursor of [`${other.session}.1`, `${writer.session}.2`, '2', '999999999999999']) {
      const response = await server.ask(pathOf(writer), { headers: { 'last-event-id': cursor } });
      expect([response.status, await response.json()]).toMatchObject([409, { error: { code: 'foreign_cursor', head: 1 } }]);
    }
    for (const cursor of ['x', '-1', '1.5', `${writer.session}.`, `${writer.session}.1.1`])
      expect((await server.ask(pathOf(writer, `?after=${cursor}`))).status).toBe(400);
    expect((await server.ask('/api/v1/sessions/ses_nowhere/stream')).status).toBe(404);
  });

  it('gives signs of life that tell where the session ends', async () => {
    const clock = handClock();
    await using server = await startApi({ clock });
    const writer = await server.run();
    const listener = await follow(server, writer);
    await expect.poll(() => listener.events().length).toBe(1);
    for (let beat = 1; beat <= 2; beat += 1) {
      await expect
        .poll(async () => {
          await eventLoopTurn();
          if (listener.comments.length <= beat) clock.advance(limits.streamHeartbeatMs);
          return listener.comments.length;
        })
        .toBeGreaterThan(beat);
    }
    expect(new Set(listener.comments)).toEqual(new Set([`head ${writer.session}.1`]));
    listener.stop();
  });

  it('cuts off whoever takes nothing, and keeps nothing for them meanwhile', async () => {
    const clock = handClock();
    await using server = await startApi({ clock });
    const writer = await server.run();
    const large = 'x'.repeat(200_000);
    const notes = Array.from({ length: 20 }, () => note(writer, large));
    for (let round = 0; round < 5; round += 1) await appendOrFail(writer, notes);
    const socket = connect(Number(new URL(server.origin).port), '127.0.0.1');
    const closed = new Promise<void>((resolve) => socket.on('close', () => resolve()).on('error', () => undefined));
    const { promise: began, resolve: begin } = Promise.withResolvers<void>();
    socket.once('data', () => {
      socket.pause();
      begin();
    });
    const head = `GET ${pathOf(writer, '?payloads=all')} HTTP/1.1\r\nhost: 127.0.0.1\r\n`;
    socket.write(`${head}authorization: Bearer ${OWNER_TOKEN}\r\n\r\n`);
    await began;
    // Somebody else is not held up by it.
    const listener = await follow(server, writer);
    await expect.poll(() => listener.events().length).toBe(101);
    await expect
      .poll(async () => {
        await eventLoopTurn();
        if (server.cuts() === 0) clock.advance(limits.streamStuckMs);
        return server.cuts();
      })
      .toBe(1);
    listener.stop();
    socket.resume();
    await closed;
  });

  it('ends when its server stops, and when too many are open for one caller another is refused', async () => {
    await using server = await startApi();
    const writer = await server.run();
    const open = await Promise.all(Array.from({ length: limits.streamsPerCaller }, () => follow(server, writer)));
    const refused = await server.ask(pathOf(writer));
    expect([refused.status, await refused.json()]).toMatchObject([429, { error: { code: 'too_many_streams' } }]);
    open[0]?.stop();
    await expect
      .poll(async () => {
        const response = await server.ask(pathOf(writer));
        await response.body?.cancel();
        return response.status;
      })
      .toBe(200);
    await server[Symbol.asyncDispose]();
    await Promise.all(open.map(({ ended }) => ended));
  });

  it('gives everybody exactly the ledger, slow, stopped and back at any place, also when its server goes away', async () => {
    const clients = Number(process.env['TROUPE_CLIENTS'] ?? 30);
    const names = Array.from({ length: Math.ceil(clients / limits.streamsPerCaller) }, (_, index) => `caller${index}`);
    const callers = Object.fromEntries(names.map((name): [string, McpCaller] => [name, { name, sees: 'everything' }]));
    const ledger = openMemoryLedger();
    const kept = { ...ledger, close: async () => undefined };
    const ids = createIds(systemClock, systemRandom);
    const writer = await givenRun({ ledger, newSession: ids.session, newRun: ids.run });
    const random = seededRandom(11);
    const crowd = Array.from({ length: clients }, (_, index) =>
      createReader(writer.session, pathOf(writer), tokenOf(names[index % names.length] ?? ''), index % 5 === 0),
    );
    const isLarge = clients > 30;
    const memory: string[] = [];
    for (let life = 0; life < (isLarge ? 10 : 4); life += 1) {
      const server = await startApi({ ledger: kept, callers });
      for (const reader of crowd) await reader.join(server.origin, random);
      for (let round = 0; round < 4; round += 1) {
        await writeMany(writer, 40);
        for (const reader of crowd) {
          const chance = random.fraction();
          if (chance < 0.1) reader.rest();
          else if (chance < 0.2) reader.leave();
          else if (chance < 0.4) await reader.join(server.origin, random);
        }
      }
      if (isLarge) memory.push(memoryNow());
      // Most are in the middle of something. Those who take nothing would only hold it up until they are cut off.
      for (const reader of crowd) if (reader.isResting()) reader.leave();
      await server[Symbol.asyncDispose]();
      expect(server.errors).toEqual([]);
    }
    const expected = (await ledgerTexts(writer)).map((text) => crc32(text));
    await using last = await startApi({ ledger: kept, callers });
    for (const reader of crowd) {
      await reader.join(last.origin, random);
      await expect.poll(() => reader.seen.length).toBe(expected.length);
      expect([reader.seen, reader.wrong]).toEqual([expected, []]);
      reader.leave();
    }
    if (isLarge) process.stderr.write(`${clients} clients, MiB in use (resident) in each life: ${memory.join(', ')}\n`);
    await ledger.close();
  });
});
