/** Long runs are compared page by page; what cannot be read is refused with words. */
import { expect, it } from 'vitest';
import { TroupeError } from '../../base/errors.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { Ledger, ReadQuery, RunRow } from '../../ledger/port.ts';
import { compareRows } from './compare-runs.ts';

const PER_TURN = 4;

/** A ledger that makes its events when they are asked for, so that none of them is held. */
function made(events: number, change: (event: LedgerEvent) => LedgerEvent = (event) => event) {
  const row = (name: string): RunRow => ({
    ...{ run: `run_${name}` as RunId, session: `ses_${name}` as SessionId, parent: null, agent: 'boss', state: 'completed' },
    ...{ startedAt: 0, endedAt: 0, owner: null },
  });
  let pages = 0;
  const read = async ({ session, after = 0, limit = 1_000, types }: ReadQuery): Promise<readonly LedgerEvent[]> => {
    if (types !== undefined) return [];
    pages += 1;
    const amount = Math.max(0, Math.min(limit, events - after));
    return Array.from({ length: amount }, (_, at) => change(eventAt(session, after + at + 1, events)));
  };
  const ledger = { read, runs: async () => [] } as Pick<Ledger, 'read' | 'runs'>;
  return { ledger, row, pages: () => pages };
}

function eventAt(session: SessionId, position: number, last: number): LedgerEvent {
  const run = session.replace('ses', 'run') as RunId;
  const turn = Math.ceil((position - 1) / PER_TURN);
  const step = `turn/${turn}/tool/0`;
  const of = (event_type: string, payload: object, key: string): LedgerEvent =>
    ({
      ...{ event_id: `${session}.${position}`, parent_event_id: null, session_id: session, run_id: run, position, step: key },
      ...{ timestamp: new Date(position).toISOString(), event_type, payload, schema_version: 1 },
    }) as unknown as LedgerEvent;
  const input = { role: 'user', content: [{ type: 'text', text: 'Go.' }] };
  if (position === 1) return of('run.started', { agent: 'boss', input, origin: { kind: 'person' }, depth: 0 }, 'input');
  const report = { format: 'text', body: 'Done.' };
  if (position === last) return of('run.ended', { status: 'completed', report, verification: { state: 'unchecked' } }, 'end');
  const call = {
    type: 'tool-call',
    id: 'c',
    name: 'read',
    input: { path: `file-${session === 'ses_b' && turn === 9_000 ? 'x' : turn}` },
  };
  switch ((position - 2) % PER_TURN) {
    case 0:
      return of('model.request', { turn, model: 'm', added: [] }, `turn/${turn}/model`);
    case 1:
      return of('model.response', { turn, message: { role: 'assistant', content: [call] }, usage: {} }, `turn/${turn}/model`);
    case 2:
      return of('tool.call', { turn, id: 'c', name: 'read', replay: 'safe' }, step);
    default:
      return of('tool.result', { id: 'c', name: 'read', content: [{ type: 'text', text: 'x'.repeat(5_000) }] }, step);
  }
}

const options = { prose: false, now: 0 };

it('compares runs of 100,000 events, and holds none of them', async () => {
  const { ledger, row, pages } = made(100_002);
  const before = process.memoryUsage().heapUsed;
  const compared = await compareRows(ledger, row('a'), row('b'), options);
  if (!compared.ok) throw new Error(compared.error.message);
  const { counts, first, a } = compared.value;
  expect(counts).toEqual({ same: 25_000, moved: 0, changed: 1, answers: 0, results: 0, onlyA: 0, onlyB: 0 });
  expect(first).toMatchObject({ kind: 'changed', b: { given: '{"path":"file-x"}', path: 'turn/9000/tool/0' } });
  expect([a.turns, a.events, pages()]).toEqual([25_000, 100_002, 202]);
  // The texts of the results alone are 250 MB.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(400 * 1_024 * 1_024);
});

it('refuses what is too long, newer, collected or not there', async () => {
  const refused = async ({ ledger, row }: ReturnType<typeof made>) => {
    const compared = await compareRows(ledger, row('a'), row('b'), options);
    return compared.ok ? compared.value : compared.error;
  };
  const newer = made(10, (event) => ({ ...event, schema_version: 2 }));
  expect(await refused(newer)).toMatchObject({ code: 'newer_version' });
  expect(await refused(made(0))).toMatchObject({ code: 'unreadable', message: expect.stringContaining('gone') });
  const collected = made(10, () => {
    throw new TroupeError('ledger_collected', 'The payloads were removed');
  });
  expect(await refused(collected)).toMatchObject({ code: 'ledger_collected', fix: expect.stringContaining('collected') });
  const page = limits.readPageEvents;
  const long = made(limits.comparedEvents + page, (event) => event);
  const short = { ...long, ledger: { ...long.ledger, read: async (query: ReadQuery) => (query.types ? [] : endless(query)) } };
  expect(await refused(short)).toMatchObject({ code: 'too_long', message: expect.stringContaining('comparedEvents') });
});

/** Always the same page, of the first run. */
function endless({ session, after = 0 }: ReadQuery): readonly LedgerEvent[] {
  const event = eventAt(session, 2, 10);
  return Array.from({ length: limits.readPageEvents }, (_, at) => ({ ...event, position: after + at + 1 }));
}
