/** Keeps a run going until it ends, or until it waits for somebody who is not here: follows it, answers, and has it go on. */
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Engine, OpenWait, RunEnd, RunHandle } from '../engine/port.ts';
import type { Answer, Answering } from '../events/catalogue.ts';

export interface Company {
  readonly engine: Pick<Engine, 'answer' | 'resume'>;
  /** Shows what happens until `done`, and then what had been written by then. */
  follow(done: Promise<unknown>): Promise<void>;
  /** `undefined` when there is none now. */
  answer(wait: OpenWait): Promise<GivenAnswer | undefined>;
}

export interface GivenAnswer {
  readonly answer: Answer;
  readonly answering: Answering;
}

export async function driveToRest(company: Company, started: RunHandle): Promise<RunEnd> {
  let handle = started;
  for (let round = 0; round < limits.questionsPerRun; round += 1) {
    await company.follow(handle.done);
    const end = await handle.done;
    if (end.kind !== 'waiting' || !(await answerAll(company, end.waits))) return end;
    const resumed = await company.engine.resume(handle.run);
    if (resumed.kind === 'ended') {
      // On a cluster the answer alone lets it go on, and it may have ended already.
      await company.follow(Promise.resolve());
      return { kind: 'ended', result: resumed.result };
    }
    if (resumed.kind === 'refused') return { kind: 'interrupted', reason: resumed.error.message, error: resumed.error };
    if (resumed.kind !== 'resumed') return { kind: 'lost' };
    handle = resumed.handle;
  }
  throw new TroupeError('limit', `The run asked more than ${limits.questionsPerRun} times (limit questionsPerRun)`);
}

/** Says whether anything was answered, so that it is worth going on. */
async function answerAll({ engine, answer }: Company, waits: readonly OpenWait[]): Promise<boolean> {
  let answered = false;
  for (const wait of waits) {
    const given = await answer(wait);
    if (given === undefined) continue;
    await engine.answer(wait.run, wait.wait, given.answer, given.answering);
    answered = true;
  }
  return answered;
}
