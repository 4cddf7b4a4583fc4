/**
 * The command line on a stage: the same program on a machine where every screen can be foretold. Its clock stands at the time
 * that it is given, timers ring as ever; its chance is seeded; the person at the keyboard is you@desk.
 */
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { type Clock, systemClock } from '../../../src/base/clock.ts';
import { seededRandom } from '../../../src/base/random.ts';
import { runProgram } from '../../../src/cli/program/program.ts';
import { concealEnvironment } from '../../../src/cli/terminal/conceal-environment.ts';
import { createTerminal } from '../../../src/cli/terminal/terminal.ts';
import { openProject } from '../../../src/project/open.ts';
import { STAGE_SEED, STAGE_TIME } from './stage-variables.ts';

const now = Number(process.env[STAGE_TIME]);
const random = seededRandom(Number(process.env[STAGE_SEED]));
delete process.env[STAGE_TIME];
delete process.env[STAGE_SEED];
concealEnvironment(process.env);

os.hostname = () => 'desk';
os.userInfo = (() => ({
  username: 'you',
  uid: 1_000,
  gid: 1_000,
  shell: '/bin/sh',
  homedir: os.homedir(),
})) as typeof os.userInfo;
syncBuiltinESMExports();

const clock: Clock = {
  now: () => now,
  elapsed: () => 0,
  // What is to happen later happens later: only what is shown of it stands still.
  after: systemClock.after,
};

process.exitCode = await runProgram(
  process.argv.slice(2),
  createTerminal(process),
  (options) => openProject({ ...options, clock, random }),
  clock,
);
