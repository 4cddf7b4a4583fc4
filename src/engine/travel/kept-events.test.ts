import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../events/envelope.ts';
import type { TravellingFile } from '../options.ts';
import { keptPoint, keptRecord } from './kept-events.ts';

const SECRET = 'sk-secret-of-the-environment';
const redact = (text: string): string => text.replaceAll(SECRET, '[redacted]');

const FILES: readonly TravellingFile[] = [
  { path: 'plain.txt', mode: '100644', content: Buffer.from('plain\n') },
  { path: 'gone.txt' },
  { path: '.env.local', mode: '100600', content: Buffer.from(`KEY=${SECRET}\n`) },
  { path: 'binary', mode: '100755', content: Buffer.from([0, 1, 255]) },
  { path: 'empty', mode: '100644', content: Buffer.alloc(0) },
  { path: 'same-again', back: true },
];

describe('what is kept of a place', () => {
  it('comes back as it was, with its secrets nowhere but in what is sealed', async () => {
    const { payload, attachment } = keptRecord('task-1', { by: 'me', point: 3, files: FILES }, redact);
    expect(Buffer.from(attachment ?? []).toString('latin1')).not.toContain(SECRET);
    expect(payload.files.filter(({ text }) => text !== undefined).map(({ path }) => path)).toEqual(['.env.local']);
    const event = { payload, attachment_ref: 'ref', event_id: 'evt' } as unknown as EventOf<'workspace.kept'>;
    const back = await keptPoint({ payload: async () => attachment }, event);
    expect(back.files.map(({ content, ...rest }) => ({ ...rest, ...(content && { content: Buffer.from(content) }) }))).toEqual(
      FILES,
    );
    expect(back).toMatchObject({ by: 'me', point: 3 });
  });

  it('is without a file that holds a secret which cannot be sealed, and says so', () => {
    const content = Buffer.concat([Buffer.from([0]), Buffer.from(SECRET)]);
    const { payload, attachment } = keptRecord(
      'task-1',
      { by: 'me', point: 1, files: [{ path: 'x', mode: '100644', content }] },
      redact,
    );
    expect(payload).toMatchObject({ files: [], without: ['x'] });
    expect(attachment).toBeUndefined();
  });

  it('is refused when it cannot be had exactly, or was collected', async () => {
    const { payload } = keptRecord('task-1', { by: 'me', point: 1, files: FILES.slice(0, 1) }, redact);
    const event = { payload, attachment_ref: 'ref', event_id: 'evt' } as unknown as EventOf<'workspace.kept'>;
    const ledger = { payload: async () => undefined };
    await expect(keptPoint(ledger, { ...event, inexact: 'no key' } as never)).rejects.toMatchObject({ code: 'sealed' });
    await expect(keptPoint(ledger, event)).rejects.toMatchObject({ code: 'ledger_collected' });
  });
});
