/** A process on the artifacts of a ledger: `collect` drops old logs, `read` reads all of them until it is told to stop. */
import { createArtifactArchive } from '../../../src/artifacts/archive.ts';
import { artifactRetention } from '../../../src/artifacts/retention.ts';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { codeOf } from '../../../src/base/errors.ts';
import { openTestLedger } from '../ledger/sqlite-folder.ts';

const say = (line: string): void => void process.stdout.write(`${line}\n`);
const [, , what = '', path = '', at = '0'] = process.argv;
const clock: Clock = { ...systemClock, now: () => Number(at) };
const ledger = openTestLedger({ path, readOnly: what === 'read' });

if (what === 'collect') {
  const attachments = await artifactRetention(ledger, clock, { keep: { log_bundle: 1, patch: 'forever' } });
  say('begins');
  await ledger.gc({ olderThanMs: Number.MAX_SAFE_INTEGER, now: clock.now(), dryRun: false, attachments });
  say('done');
} else {
  const archive = createArtifactArchive(ledger, clock);
  const [row] = await ledger.runs({ limit: 1 });
  let stop = false;
  process.stdin.once('data', () => {
    stop = true;
  });
  const told = { rounds: 0, patches: 0, logs: 0, collected: 0, wrong: [] as string[] };
  say('begins');
  while (!stop && row !== undefined) {
    for (const artifact of await archive.list({ session: row.session })) {
      try {
        for await (const _part of archive.bytes(artifact)) told[artifact.type === 'patch' ? 'patches' : 'logs'] += 1;
      } catch (error) {
        if (codeOf(error) === 'artifact_collected' && artifact.type === 'log_bundle') told.collected += 1;
        else told.wrong.push(`${artifact.ref}: ${String(error)}`);
      }
    }
    told.rounds += 1;
    await new Promise((resolve) => setImmediate(resolve));
  }
  say(JSON.stringify(told));
  process.stdin.destroy();
}
await ledger.close();
