/**
 * Stays with a run until it ends, waits for somebody who is not here, or is interrupted: shows it, puts its questions to the
 * person at the terminal, and turns Ctrl-C into an orderly stop.
 */
import { shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { AnswerOutcome, OpenWait, RunEnd, RunHandle } from '../../engine/port.ts';
import type { Failure } from '../../events/catalogue.ts';
import { endedText } from '../../events/verification-text.ts';
import { type Company, driveToRest } from '../../library/drive-to-rest.ts';
import type { Follower } from '../../library/follow.ts';
import type { HeardPieces } from '../../library/hear.ts';
import { personHere } from '../../library/person-here.ts';
import type { GivenAnswer } from '../../library/questions.ts';
import { restElsewhere } from '../../library/rest-elsewhere.ts';
import type { Project } from '../../project/project.ts';
import type { CommandContext } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { createNotifier, type Notifier } from '../terminal/notify.ts';
import { proseLines } from '../terminal/text-width.ts';
import type { RunView } from '../view/run-view.ts';
import { askPerson } from './ask-person.ts';
import { createDesk } from './desk.ts';
import { leftStanding } from './left-standing.ts';
import { notRecorded } from './not-recorded.ts';
import { takenBackText } from './taken-back.ts';
import { whichOf } from './which-of.ts';

export interface Drive {
  readonly context: CommandContext;
  readonly project: Project;
  readonly follower: Follower;
  /** From before the run began. */
  readonly heard: HeardPieces;
  readonly view: RunView;
  /** Every permission is given without asking. */
  readonly approveAll: boolean;
  /** Somebody else hears keys and signals, decides what they do, and leaves when this aborts. */
  readonly leaving?: AbortSignal | undefined;
  /** Aborts when they have had the run stopped: nothing more is asked, and its end is waited for. */
  readonly stopped?: AbortSignal | undefined;
}

export async function stayWithRun(drive: Drive, started: RunHandle): Promise<RunEnd> {
  const { project, view, follower } = drive;
  const unwatch = drive.heard.to((piece) => view.piece(piece));
  const here = drive.leaving === undefined;
  const stopping = new AbortController();
  const leaving = drive.leaving ?? stopping.signal;
  const enough = drive.stopped === undefined ? leaving : AbortSignal.any([leaving, drive.stopped]);
  const stopListening = here ? stopOnSignal(drive, stopping) : () => undefined;
  const keysAgain = here ? keysAside(drive) : () => undefined;
  const notifier = createNotifier(drive.context.terminal, project.config.notify, process.platform);
  const follow: Company['follow'] = (done, asked) =>
    follower.follow(done, (event, tree) => {
      view.event(event, tree);
      asked(event);
    });
  const answer: Company['answer'] = async (wait, gone) =>
    enough.aborted ? undefined : await answerTo(drive, notifier, { wait, started }, gone, enough);
  const told = (wait: OpenWait, outcome: AnswerOutcome): void => {
    if (outcome.kind !== 'accepted') view.say([`  ${notRecorded(drive.context, wait, outcome).message}`]);
  };
  let end: RunEnd | undefined;
  try {
    const { answer: send, waits } = project.engine;
    // What is answered in the last moment is for whoever takes the run up next.
    const resume: Company['engine']['resume'] = async (run) =>
      leaving.aborted ? { kind: 'refused', error: LEFT } : await project.engine.resume(run);
    const engine = { answer: send, waits, resume };
    const beside = { ledger: project.ledger, engine: project.engine, clock: drive.context.clock, leaving };
    const elsewhere: Company['elsewhere'] = (run) => restElsewhere(beside, run);
    const company = { engine, follow, answer, told, elsewhere, oneByOne: true };
    end = leftBy(await driveToRest(company, started), leaving);
    tellEnd(notifier, follower.tree.runs.get(started.run)?.agent ?? shortId(started.run), end);
    return end;
  } finally {
    await notifier.settled();
    stopListening();
    unwatch();
    view.rest(follower.tree, isGivenBack(end, project) ? leftStanding(follower.tree, started.run) : undefined);
    keysAgain();
  }
}

/** Whether nobody works on it now, as far as is known here. */
const isGivenBack = (end: RunEnd | undefined, { config }: Project): boolean =>
  end !== undefined && end.kind !== 'ended' && end.kind !== 'lost' && config.cluster === undefined;

const LEFT: Failure = { code: 'interrupted', message: 'Troupe was stopped.' };

/** Whoever has stopped it would not answer now: that it waits for them is not how it ended here. */
function leftBy(end: RunEnd, leaving: AbortSignal): RunEnd {
  const stands = end.kind === 'waiting' || (end.kind === 'interrupted' && end.error === LEFT);
  return leaving.aborted && stands ? { kind: 'interrupted', reason: LEFT.message } : end;
}

/** Not what somebody here did themselves, and not a question: that was told when it came. */
function tellEnd(notifier: Notifier, agent: string, end: RunEnd): void {
  if (end.kind === 'waiting' || (end.kind === 'interrupted' && end.error === undefined)) return;
  const how = end.kind === 'ended' ? endedText(end.result.status, end.result.verification) : end.kind;
  notifier.tell(`Run of ${agent}: ${how}`);
}

async function answerTo(
  { approveAll, context: { terminal }, project: { ledger, engine }, view, follower: { tree } }: Drive,
  notifier: Notifier,
  { wait, started: { session, run: root } }: { readonly wait: OpenWait; readonly started: RunHandle },
  gone: AbortSignal,
  enough: AbortSignal,
): Promise<GivenAnswer | undefined> {
  const by = personHere();
  if (approveAll && wait.kind === 'permission')
    return { answer: { kind: 'approved', whole: true }, answering: { by, where: 'flag' } };
  notifier.tell(`Needs you: ${wait.member ?? wait.agent}`);
  if (!terminal.interactive) return undefined;
  const desk = createDesk(terminal, view, AbortSignal.any([gone, enough]));
  const which = await whichOf({ ledger, session, tree, root }, wait);
  const answer = await askPerson(desk, terminal.progress, wait, engine.refusedChange, which);
  const isTakenBack = answer === undefined && gone.aborted && !enough.aborted;
  const takenBack = isTakenBack ? await takenBackText(ledger, session, wait) : undefined;
  if (takenBack !== undefined) desk.say(...proseLines(`  ${takenBack}`, terminal.progress.width(), { indent: 4 }));
  const shown = wait.kind === 'permission' ? wait.shown : undefined;
  return answer === undefined ? undefined : { answer, answering: { by, where: 'terminal', ...present({ shown }) } };
}

/** What is typed, and Ctrl-Z, must not tear what is drawn in place. */
function keysAside({ view, context: { terminal } }: Drive): () => void {
  if (!view.draws) return () => undefined;
  const stopPausing = terminal.keyboard.onPause(view.leave, view.back);
  const echoAgain = terminal.keyboard.hush();
  return () => {
    stopPausing();
    echoAgain();
  };
}

/** The first signal lets what is under way be recorded and gives the run back; the second leaves at once. */
function stopOnSignal({ context, project, view }: Drive, leaving: AbortController): () => void {
  const { terminal } = context;
  let stopping = false;
  return terminal.onStop(() => {
    if (stopping) {
      view.leave();
      return terminal.exitNow(exitCodes.interrupted);
    }
    stopping = true;
    leaving.abort();
    view.say([
      project.config.cluster === undefined
        ? 'stopping; what is done is kept. Once more to leave at once.'
        : 'leaving; the run goes on in the cluster. Once more to leave at once.',
    ]);
    void project.engine.close();
  });
}
