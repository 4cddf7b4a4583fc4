/** Pages of events and payloads by their hashes: for whoever may see the session, and nobody else. */
import { describe, expect, it } from 'vitest';
import { appendOrFail, note, writeNotes } from '../../../test/conformance/ledger/support.ts';
import { startApi, tokenOf } from '../../../test/support/http/api-server.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

const stranger = { name: 'stranger', sees: 'own' } as const;

describe('events', () => {
  it('come in pages, with the payloads that were asked for', async () => {
    await using server = await startApi();
    const writer = await server.run();
    const large = 'x'.repeat(limits.streamPayloadBytes);
    await appendOrFail(writer, [note(writer, 'small'), note(writer, large)]);
    const page = async (query: string) => {
      const response = await server.ask(`/api/v1/sessions/${writer.session}/events${query}`);
      return (await response.json()) as { events: LedgerEvent[]; head: number };
    };
    const all = await server.ledger.read({ session: writer.session });
    expect(await page('?payloads=all')).toEqual({ events: all, head: 3 });
    expect((await page('')).events.map((event) => 'payload' in event)).toEqual([true, true, false]);
    expect((await page('?payloads=none')).events.some((event) => 'payload' in event)).toBe(false);
    expect((await page('?after=1&limit=1')).events.map(({ position }) => position)).toEqual([2]);
    expect((await page(`?after=${writer.session}.2`)).events.map(({ position }) => position)).toEqual([3]);
    for (const query of ['?limit=0', '?limit=9999', '?more=1', '?payloads=some'])
      expect((await server.ask(`/api/v1/sessions/${writer.session}/events${query}`)).status).toBe(400);
  });

  it('name payloads that are fetched by their hashes, kept for ever, and opened by no hash alone', async () => {
    await using server = await startApi({ callers: { stranger } });
    const [writer, other] = [await server.run(), await server.run()];
    await appendOrFail(writer, [{ ...note(writer, 'small'), attachment: '<script>alert(1)</script>' }]);
    await writeNotes(other, 1, 'of somebody else');
    const [, event] = await server.ledger.read({ session: writer.session });
    const path = (ref: string | null | undefined, at = 2, session: string = writer.session) =>
      `/api/v1/sessions/${session}/payloads/${ref}?at=${at}`;
    const response = await server.ask(path(event?.payload_ref));
    expect([response.status, await response.json()]).toEqual([200, { value: 'small' }]);
    expect(response.headers.get('cache-control')).toBe('private, max-age=31536000, immutable');
    const etag = response.headers.get('etag') ?? '';
    expect((await server.ask(path(event?.payload_ref), { headers: { 'if-none-match': etag } })).status).toBe(304);
    const attached = await server.ask(path(event?.attachment_ref));
    expect(await attached.text()).toBe('<script>alert(1)</script>');
    expect([attached.headers.get('content-type'), attached.headers.get('content-disposition')]).toEqual([
      'application/octet-stream',
      'attachment',
    ]);
    const [, foreign] = await server.ledger.read({ session: other.session });
    const closed = [path(foreign?.payload_ref), path(event?.payload_ref, 1), path('..%2f..%2fetc'), path('f'.repeat(64))];
    for (const one of closed) expect([one, (await server.ask(one)).status]).toEqual([one, 404]);
    expect((await server.ask(path(event?.payload_ref), { token: tokenOf('stranger') })).status).toBe(404);
  });

  it('are for whoever spawned the session, and for those who see everything', async () => {
    const vera = { name: 'vera', sees: 'everything', role: 'viewer' } as const;
    await using server = await startApi({ callers: { stranger, vera } });
    const { session } = await server.run();
    for (const path of ['events', 'stream']) {
      const status = async (token: string) => {
        const response = await server.ask(`/api/v1/sessions/${session}/${path}`, { token });
        await response.body?.cancel();
        return response.status;
      };
      expect([await status(tokenOf('vera')), await status(tokenOf('stranger')), await status('')]).toEqual([200, 404, 401]);
    }
  });
});
