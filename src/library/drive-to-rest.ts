/** Keeps a run going until it ends, or until it waits for somebody who is not here: follows it, answers, and has it go on. */
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { RunEnd, RunHandle } from '../engine/port.ts';
import type { EventType } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { type Answerer, createQuestions } from './questions.ts';

export interface Company extends Answerer {
  /** Shows what happens until `done`, and then what had been written by then. `asked` is told what may be about a question. */
  follow(done: Promise<unknown>, asked: (event: LedgerEvent) => void): Promise<void>;
  /** How a run comes to rest that another process has taken up; `free` when nobody drives it any more. */
  elsewhere?(run: RunHandle['run']): Promise<RunEnd | 'free'>;
}

/** Who has ended, however that came about, asks nothing any more. */
const ABOUT_QUESTIONS: ReadonlySet<EventType> = new Set(['approval.asked', 'task.clarify', 'approval.answered', 'run.ended']);

export async function driveToRest(company: Company, started: RunHandle): Promise<RunEnd> {
  const questions = createQuestions(company, started.run);
  const asked = ({ event_type: type }: LedgerEvent): void => {
    if (ABOUT_QUESTIONS.has(type)) questions.look();
  };
  const { elsewhere } = company;
  /** Who lost it to another process stays with it there. */
  const drivenHere = async (done: Promise<RunEnd>): Promise<RunEnd | 'free'> => {
    const end = await done;
    return end.kind === 'lost' && elsewhere !== undefined ? await elsewhere(started.run) : end;
  };
  try {
    let rest = drivenHere(started.done);
    for (let round = 0; round < limits.questionsPerRun; round += 1) {
      const before = questions.answered();
      await company.follow(rest, asked);
      const end = await rest;
      if (end !== 'free' && end.kind !== 'waiting') return end;
      // What comes meanwhile from elsewhere is heard too.
      const more = end === 'free' ? Promise.resolve(true) : questions.more(before);
      await company.follow(more, asked);
      if (end !== 'free' && !(await more)) return end;
      const resumed = await company.engine.resume(started.run);
      if (resumed.kind === 'ended') {
        // On a cluster the answer alone lets it go on, and it may have ended already.
        await company.follow(Promise.resolve(), asked);
        return { kind: 'ended', result: resumed.result };
      }
      if (resumed.kind === 'refused') return { kind: 'interrupted', reason: resumed.error.message, error: resumed.error };
      if (resumed.kind === 'resumed') rest = drivenHere(resumed.handle.done);
      else if (resumed.kind === 'held' && elsewhere !== undefined) rest = elsewhere(started.run);
      else return { kind: 'lost' };
    }
  } finally {
    await questions.close();
  }
  throw new TroupeError('limit', `The run asked more than ${limits.questionsPerRun} times (limit questionsPerRun)`);
}
