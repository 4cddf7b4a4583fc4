/**
 * What reads text of others takes time in proportion to it: a text that keeps the event loop busy for minutes would stop every
 * run, lease and server of the process. No time is measured: the texts are so long that whatever looks at each character once
 * for each other one takes far longer than anybody waits here.
 */
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { LONG_TEST_MS, PATIENCE_MS } from './support/patience.ts';
import { runs, scanners } from './support/scanners.ts';

const CHARACTERS = 500_000;
/** What no pattern expects behind it, on the same line and on the next: all that was tried is given up again. */
const ENDS = ['\0', '\n\0'];

let worker: Worker;
beforeAll(() => {
  worker = new Worker(new URL('./support/scanner-main.ts', import.meta.url), { env: {}, execArgv: [] });
});
afterAll(async () => void (await worker.terminate()));

async function read(name: string, text: string): Promise<'read' | 'stuck'> {
  const { promise, resolve, reject } = Promise.withResolvers<'read' | 'stuck'>();
  const patience = setTimeout(() => resolve('stuck'), PATIENCE_MS);
  worker.once('message', resolve).once('error', reject);
  worker.postMessage({ name, text });
  try {
    return await promise;
  } finally {
    clearTimeout(patience);
    worker.off('message', resolve).off('error', reject);
  }
}

describe.each(Object.keys(scanners))('%s', (name) => {
  it('goes through long texts of one thing', { timeout: LONG_TEST_MS }, async () => {
    for (const run of runs) {
      for (const end of ENDS) {
        const text = run.repeat(Math.ceil(CHARACTERS / run.length)) + end;
        expect({ run, end, read: await read(name, text) }).toEqual({ run, end, read: 'read' });
      }
    }
  });
});
