/** The one writer of a driven session: what it does when an append fails. */
import { expect, it } from 'vitest';
import type { RunId, SessionId } from '../../base/ids.ts';
import type { Append, AppendOutcome, Ledger } from '../../ledger/port.ts';
import { createWriter } from './writer.ts';

const SESSION = 'ses_0000000000000writer' as SessionId;
const RUN = 'run_0000000000000writer' as RunId;

it.each<[string, () => Promise<AppendOutcome>, string]>([
  ['by a full disk', () => Promise.reject(new Error('the disk is full')), 'interrupted'],
  ['because the lease is gone', async () => ({ kind: 'lease_lost', run: RUN }), 'lost'],
])('nothing is written after an append that failed %s', async (_how, failing, kind) => {
  const asked: Append[] = [];
  const append = async (request: Append): Promise<AppendOutcome> => {
    asked.push(request);
    return asked.length === 2 ? await failing() : { kind: 'appended', events: [] };
  };
  const failures: string[] = [];
  const writer = createWriter({ append } as Ledger, SESSION, { run: RUN, epoch: 1 }, (why) => failures.push(why.kind));
  await writer.write([]);
  writer.enqueue([]);
  await expect(writer.flushed()).rejects.toMatchObject({ kind });
  await expect(writer.write([])).rejects.toMatchObject({ kind });
  writer.enqueue([]);
  await expect(writer.writeIfHeard([], {})).rejects.toMatchObject({ kind });
  expect(asked).toHaveLength(2);
  expect(failures).toEqual([kind]);
});
