/**
 * `troupe inbox`: everything in the project that waits for a person, whoever runs it and however deep it is; and a place to
 * answer it, beside the terminals in which the runs go on.
 */

import { sleep } from '../../base/clock.ts';
import { codeOf } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { RunEnd } from '../../engine/port.ts';
import { type EventType, eventTypes, inboundTypes } from '../../events/catalogue.ts';
import { type InboxItem, inboxKey, inboxValue, readInbox } from '../../front/inbox.ts';
import type { Ledger } from '../../ledger/port.ts';
import { personHere } from '../../library/person-here.ts';
import type { Project } from '../../project/project.ts';
import { askPerson } from '../drive/ask-person.ts';
import { createDesk } from '../drive/desk.ts';
import { headLine, type Picked, pick } from '../drive/inbox-list.ts';
import { notRecorded } from '../drive/not-recorded.ts';
import { answerTo, takenBackText } from '../drive/taken-back.ts';
import { cameTooLate, endsElsewhere, tooLateText } from '../drive/too-late.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { proseLines } from '../terminal/text-width.ts';
import { waitLines } from '../view/run-summary.ts';
import { createSilentView } from '../view/run-view.ts';

export interface InboxOptions extends JsonOption {
  /** Only look, also where answers could be given. */
  readonly list?: true;
}

export async function inboxCommand(context: CommandContext, { json, list }: InboxOptions): Promise<ExitCode> {
  const { terminal } = context;
  const answers = json !== true && list !== true && terminal.interactive;
  try {
    return await withProject(context, { readOnly: !answers }, async (project) => {
      if (answers) return await answerAll(context, project);
      const items = await readInbox(project, context.clock.now());
      if (json) printJson(context, 'inbox', items.map(inboxValue));
      else if (items.length === 0) terminal.progress.line('nothing waits for you');
      else for (const item of items) for (const line of itemLines(context, items, item)) terminal.out.line(line);
      return exitCodes.completed;
    });
  } catch (error) {
    // A project without a ledger has no runs; that is not an error.
    if (codeOf(error) !== 'ledger_missing') throw error;
    if (json) printJson(context, 'inbox', []);
    else terminal.progress.line('nothing waits for you');
    return exitCodes.completed;
  }
}

function itemLines(context: CommandContext, items: readonly InboxItem[], item: InboxItem): readonly string[] {
  const open = items.map(({ wait }) => wait);
  return [headLine(item), ...waitLines([item.wait], callOf(context), open)];
}

/**
 * Shows what there is and asks about what they pick, or one after the other; has what nobody else drives go on here, until
 * nothing is left to ask or to wait for.
 */
async function answerAll(context: CommandContext, project: Project): Promise<ExitCode> {
  const { terminal, clock } = context;
  const driven = createDriven(context, project);
  const left = new Set<string>();
  const leaving = new AbortController();
  let terminated = false;
  const stop = terminal.onStop((signal) => {
    if (leaving.signal.aborted) return leaveAtOnce(context, driven);
    terminated = signal === 'SIGTERM';
    leaving.abort();
  });
  let asked = 0;
  let oneByOne = false;
  try {
    while (!leaving.signal.aborted) {
      const open = (await readInbox(project, context.clock.now())).filter(({ wait }) => !left.has(inboxKey({ wait })));
      for (const line of driven.news()) terminal.progress.line(line);
      const picked: Picked = oneByOne || open.length < 2 ? 'all' : await pickedAmong(context, open, leaving.signal);
      if (leaving.signal.aborted) break;
      if (picked === undefined) for (const { wait } of open) left.add(inboxKey({ wait }));
      oneByOne ||= picked === 'all' && open.length > 1;
      const next = picked === 'all' ? open[0] : picked;
      if (next !== undefined) {
        asked += 1;
        if ((await answerOne(context, project, next, leaving.signal)) === 'answered') driven.goOn(next);
        else left.add(inboxKey(next));
      } else if (driven.size() > 0) await Promise.race([driven.one(), sleep(clock, limits.inboxLookMs)]);
      else break;
    }
    if (leaving.signal.aborted) {
      if (terminated) await giveBack(context, project, driven);
      else await leave(context, project, driven);
      return exitCodes.interrupted;
    }
  } finally {
    stop();
  }
  const open = (await readInbox(project, context.clock.now())).filter(({ wait }) => left.has(inboxKey({ wait }))).length;
  if (open > 0) terminal.progress.line(`${counted(open, 'question')} left open`);
  else terminal.progress.line(asked === 0 ? 'nothing waits for you' : 'nothing else waits for you');
  return exitCodes.completed;
}

async function pickedAmong({ terminal }: CommandContext, open: readonly InboxItem[], leaving: AbortSignal): Promise<Picked> {
  const desk = createDesk(terminal, createSilentView(terminal.progress), leaving);
  return await pick(desk, open, () => terminal.progress.width());
}

/** Whoever leaves is asked nothing more. What they have allowed goes on to its end, or to its next question. */
async function leave(context: CommandContext, project: Project, driven: Driven): Promise<void> {
  const { progress } = context.terminal;
  const tell = (): void => {
    for (const line of driven.news()) progress.line(line);
  };
  tell();
  const names = driven.runs().map(({ root, path }) => `${safeLine(path[0] ?? '')} (${shortId(root)})`);
  if (names.length > 0 && project.config.cluster !== undefined)
    return progress.prose(`leaving; what you have answered goes on in the cluster: ${names.join(', ')}`);
  if (names.length > 0)
    progress.prose(
      `leaving; what you have answered goes on here until it rests: ${names.join(', ')}. Once more to leave at once.`,
    );
  for (; driven.size() > 0; tell()) await driven.one();
  const open = (await readInbox(project, context.clock.now())).length;
  if (open > 0) progress.line(`${counted(open, 'question')} left open; back with: ${callOf(context)} inbox`);
}

/** Whoever ends the process has no time to wait for an end. */
async function giveBack(context: CommandContext, project: Project, driven: Driven): Promise<void> {
  context.terminal.progress.prose('stopping; what is done is kept. Once more to leave at once.');
  const runs = driven.runs();
  await project.engine.close();
  if (project.config.cluster === undefined) sayHowToGoOn(context, runs);
}

function leaveAtOnce(context: CommandContext, driven: Driven): void {
  sayHowToGoOn(context, driven.runs());
  context.terminal.exitNow(exitCodes.interrupted);
}

function sayHowToGoOn(context: CommandContext, runs: readonly InboxItem[]): void {
  for (const { root, path } of runs)
    context.terminal.progress.prose(
      `${safeLine(path[0] ?? '')} was stopped; go on with: ${callOf(context)} resume ${shortId(root)}`,
    );
}

async function answerOne(
  context: CommandContext,
  project: Project,
  item: InboxItem,
  leaving: AbortSignal,
): Promise<'answered' | 'left'> {
  const { terminal } = context;
  const { ledger, engine } = project;
  const { wait, session } = item;
  const gone = new AbortController();
  const over = new AbortController();
  // Where it cannot be seen now, the answer is refused.
  const looking = untilGone(project, item, over.signal).then(
    (how) => (how === 'gone' ? gone.abort() : undefined),
    () => undefined,
  );
  try {
    const desk = createDesk(terminal, createSilentView(terminal.progress), AbortSignal.any([gone.signal, leaving]));
    desk.say('', headLine(item));
    const answer = await askPerson(desk, terminal.progress, wait, engine.refusedChange);
    if (answer === undefined) {
      const why = gone.signal.aborted ? await takenBackText(ledger, session, wait) : undefined;
      if (why !== undefined) desk.say(...proseLines(`  ${why}`, terminal.progress.width(), { indent: 4 }));
    }
    if (answer === undefined) return 'left';
    const shown = wait.kind === 'permission' ? wait.shown : undefined;
    const answering = { by: personHere(), where: 'inbox', ...present({ shown }) } as const;
    const outcome = await engine.answer(wait.run, wait.wait, answer, answering);
    if (outcome.kind === 'accepted') return 'answered';
    desk.say(`  ${notRecorded(context, wait, outcome).message}`);
    return outcome.kind === 'other' || outcome.kind === 'unfit' || outcome.kind === 'forbidden' ? 'answered' : 'left';
  } finally {
    over.abort();
    await looking;
  }
}

/** Until somebody else has answered, the run has ended, or nobody wants to know any more. */
async function untilGone({ ledger, engine }: Project, { wait, session }: InboxItem, over: AbortSignal): Promise<'gone' | 'over'> {
  const isGone = async (): Promise<boolean> =>
    !(await engine.waits(wait.run)).some((one) => inboxKey({ wait: one }) === inboxKey({ wait }));
  const [newest] = await ledger.read({ session, newest: true, limit: 1 });
  if (await isGone()) return 'gone';
  for await (const { event_type: type } of ledger.tail(session, newest?.position ?? 0, over))
    if ((type === 'approval.answered' || type === 'run.ended') && (await isGone())) return 'gone';
  return 'over';
}

const FROM_OUTSIDE: ReadonlySet<EventType> = new Set(inboundTypes);
const OWN = eventTypes.filter((type) => !FROM_OUTSIDE.has(type));

/** Whoever stays with the run has heard the answer: they work on it, have ended it, or have left it again since. */
async function isTakenUp(ledger: Ledger, { wait, root, session }: InboxItem): Promise<boolean> {
  const [row] = await ledger.runs({ run: root });
  if (row === undefined || row.owner !== null || row.endedAt !== null) return true;
  const answer = await answerTo(ledger, session, wait);
  if (answer === undefined) return false;
  return (await ledger.read({ session, root, after: answer.position, types: OWN, limit: 1 })).length > 0;
}

type Driven = ReturnType<typeof createDriven>;

/** The runs that nobody else goes on with, driven here in the background. */
function createDriven({ clock }: CommandContext, { engine, ledger }: Project) {
  const driven = new Map<RunId, { readonly item: InboxItem; readonly done: Promise<unknown> }>();
  /** Kept until nobody is being asked: a line in between would stand in what they type. */
  let news: readonly string[] = [];
  const drive = async (item: InboxItem): Promise<void> => {
    const { root } = item;
    // Whoever stays with the run takes it up with the answer; a moment is enough for that.
    for (const since = clock.elapsed(); clock.elapsed() - since < limits.inboxTakeUpMs; ) {
      if (await isTakenUp(ledger, item)) {
        if (await endsElsewhere(ledger, clock, item.wait)) break;
        return;
      }
      await sleep(clock, limits.inboxLookMs);
    }
    const resumed = await engine.resume(root);
    const end = resumed.kind === 'resumed' ? await resumed.handle.done : undefined;
    if (await cameTooLate(ledger, item.session, item.wait)) news = [...news, tooLateText(item.wait)];
    // That it waits again is asked about next.
    if (end !== undefined && end.kind !== 'waiting') news = [...news, `${shortId(root)}: ${endText(end)}`];
  };
  return {
    news: (): readonly string[] => {
      const told = news;
      news = [];
      return told;
    },
    size: () => driven.size,
    runs: (): readonly InboxItem[] => [...driven.values()].map(({ item }) => item),
    one: () => Promise.race([...driven.values()].map(({ done }) => done)),
    goOn(item: InboxItem): void {
      // What is driven may be just about to be left, without this answer.
      const done = Promise.resolve(driven.get(item.root)?.done)
        .then(() => drive(item))
        .finally(() => {
          if (driven.get(item.root)?.done === done) driven.delete(item.root);
        });
      driven.set(item.root, { item, done });
      // Whoever waits for one of them hears of a failure.
      done.catch(() => undefined);
    },
  };
}

function endText(end: RunEnd): string {
  if (end.kind === 'ended') return `ended ${end.result.status}`;
  return end.kind === 'paused' || end.kind === 'interrupted' ? `${end.kind}: ${safeLine(end.reason)}` : end.kind;
}
