/**
 * A process to be killed that starts others with `startTethered`. Arguments: the mark of what it starts, a folder, and
 * `hold` (keeps five, and lets the second and the last go), `suddenly` (dies in the same tick), `exit` or `return`.
 */
import { startTethered } from '../../../src/process/tethered-process.ts';

const [mark = '', folder = '', ending] = process.argv.slice(2);
const environment = { PATH: process.env['PATH'] ?? '', TROUPE_TEST_MARK: mark };
const start = (text: string) => startTethered('/bin/sh', ['-c', `${text}\n# ${mark}`], { folder, environment, input: 'none' });

if (ending === 'return') start('true');
else {
  const started = Array.from({ length: 5 }, (_, index) => start(`echo ${index} > began-${index}; echo; sleep 300`));
  if (ending === 'suddenly') process.kill(process.pid, 'SIGKILL');
  await Promise.all(started.map(({ child }) => new Promise((resolve) => child.stdout.once('data', resolve))));
  if (ending === 'exit') process.exit(3);
  for (const index of [1, 4]) started[index]?.release();
  process.stdout.write(`${[1, 4].map((index) => started[index]?.child.pid).join(' ')}\n`);
}
