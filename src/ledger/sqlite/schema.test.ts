/** A file that somebody else has for a moment: who puts its log in order after a kill, or clears it away when they leave. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it } from 'vitest';
import { openTestLedger, testFolder } from '../../../test/support/ledger/sqlite-folder.ts';

/** Has the file for itself, says so, and leaves it only a moment later. */
const HOLDER = `
const { DatabaseSync } = require('node:sqlite');
const { parentPort, workerData } = require('node:worker_threads');
const database = new DatabaseSync(workerData);
database.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
parentPort.postMessage('held');
Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
database.exec('COMMIT');
database.close();
`;

it.each([true, false])('is waited for by whoever opens it, only to read: %s', async (readOnly) => {
  const path = `${testFolder()}/ledger.db`;
  await openTestLedger({ path }).close();
  const holder = new Worker(HOLDER, { eval: true, workerData: path });
  const left = once(holder, 'exit');
  await once(holder, 'message');
  const ledger = openTestLedger({ path, readOnly });
  expect(await ledger.runs({ roots: true })).toEqual([]);
  await ledger.close();
  await left;
});
