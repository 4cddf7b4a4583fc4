/** Tells Restate where workers answer. Telling it again with the same address takes the newest version from there. */

import { type Clock, sleep } from '../base/clock.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { startOf } from '../base/whole-words.ts';
import { request } from './request.ts';

export async function registerWorkers(admin: string, workers: string): Promise<void> {
  const problem = await register(admin, workers);
  if (problem !== undefined) throw notTaken(workers, problem.text);
}

export interface PatientOptions {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Told once for each new reason to wait. */
  onWait(problem: string): void;
}

/** The same, while Restate or the way to the workers is not there yet. Says whether it got that far before being stopped. */
export async function registerPatiently(admin: string, workers: string, options: PatientOptions): Promise<boolean> {
  let said = '';
  for (let attempt = 0; attempt < limits.registerAttempts && !options.signal.aborted; attempt += 1) {
    const problem = await register(admin, workers);
    if (problem === undefined) return true;
    if (!problem.passes) throw notTaken(workers, problem.text);
    if (problem.text !== said) options.onWait(problem.text);
    said = problem.text;
    await sleep(options.clock, limits.registerRetryMs, options.signal);
  }
  if (options.signal.aborted) return false;
  throw notTaken(workers, `${said} (given up after ${limits.registerAttempts} attempts, limit registerAttempts)`);
}

/** A refusal that will not pass is one of what was asked for; anything else may be better in a moment. */
async function register(admin: string, workers: string): Promise<{ text: string; passes: boolean } | undefined> {
  const answered = await request(`${admin}/deployments`, { uri: workers, use_http_11: true, force: true });
  if (answered.kind === 'silent') return { text: `${admin} does not answer: ${answered.problem}`, passes: true };
  if (answered.ok) return undefined;
  const passes = answered.status >= 500 || answered.text.includes('META0003');
  return { text: `status ${answered.status}: ${startOf(answered.text, 300)}`, passes };
}

function notTaken(workers: string, problem: string): TroupeError {
  return new TroupeError('restate_register', `Restate did not take ${workers} as the address of workers: ${problem}`, {
    fix: 'Check that Restate can reach that address (--url), and that --admin names its admin port (9070 by default).',
  });
}
