/** Runs in place of a runner, as confined as one, and tries what a runner must not be able to do. Prints what came of it. */
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { Worker } from 'node:worker_threads';

const [outside = '', ledger = ''] = process.argv.slice(2);

function attempt(what: () => unknown): string {
  try {
    what();
    return 'done';
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const outcome = {
  environment: { ...process.env },
  folder: process.cwd(),
  readOutside: attempt(() => readFileSync(outside)),
  listOutside: attempt(() => readdirSync('/')),
  write: attempt(() => writeFileSync(`${outside}.new`, 'x')),
  overwriteItself: attempt(() => writeFileSync(import.meta.filename, 'x')),
  spawn: attempt(() => spawnSync('true').error ?? 0),
  worker: attempt(() => new Worker('0', { eval: true })),
  // Asked for when it is needed: a runner may have no SQLite at all.
  ledger: attempt(() => new (createRequire(import.meta.url)('node:sqlite').DatabaseSync)(ledger).prepare('SELECT 1').get()),
};
process.stdout.write(JSON.stringify(outcome));
