/** `troupe answer`, `approve` and `deny`: record what a person says, and go on with the run if nobody else does. */

import { resolve } from 'node:path';
import { TroupeError } from '../../base/errors.ts';
import { shortId } from '../../base/ids.ts';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { refuseImported } from '../../engine/imported-sessions.ts';
import type { FirstAnswer, OpenWait } from '../../engine/port.ts';
import { isWithin, rootOf } from '../../engine/record/root-of.ts';
import type { Answer } from '../../events/catalogue.ts';
import type { RunRow } from '../../ledger/port.ts';
import { personHere } from '../../library/person-here.ts';
import type { Project } from '../../project/project.ts';
import { approvedText, confirmApproval } from '../drive/ask-person.ts';
import { createDesk } from '../drive/desk.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import type { OutputOptions } from '../drive/finish-run.ts';
import { requireOwn } from '../drive/not-imported.ts';
import { firstOf, firstText, notRecorded } from '../drive/not-recorded.ts';
import { cameTooLate, endsElsewhere, tooLateText } from '../drive/too-late.ts';
import { type CommandContext, callOf, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { readInput } from '../terminal/read-input.ts';
import { waitLines } from '../view/run-summary.ts';
import { createSilentView } from '../view/run-view.ts';
import { resumeRun } from './resume.ts';

export interface AnswerOptions extends OutputOptions {
  readonly wait?: string | undefined;
  /** What was shown: an approval is for nothing else. */
  readonly shown?: string | undefined;
  /** `--no-resume`: only record. */
  readonly resume?: boolean | undefined;
}

export async function answerCommand(
  context: CommandContext,
  text: string,
  answer: Answer,
  options: AnswerOptions,
): Promise<ExitCode> {
  return withProject(context, { existing: true }, async (project) => {
    const meant = await readMeant(project, text, options);
    const { row } = meant;
    await requireOwn(project.ledger, row);
    const wait = await findWait(context, project, meant, answer);
    await requireFitting(context, project, wait, answer);
    const given = await givenTo(context, wait, answer, options);
    if (given === undefined) {
      context.terminal.progress.line('nothing was recorded; the question stays open');
      return exitCodes.needsInput;
    }
    if (given.unseen !== undefined) for (const line of ['approving:', given.unseen]) context.terminal.progress.line(line);
    const answering = { by: personHere(), where: 'command', ...present({ shown: given.shown }) } as const;
    const outcome = await project.engine.answer(wait.run, wait.wait, given.answer, answering);
    if (outcome.kind !== 'accepted') throw notRecorded(context, wait, outcome);
    const code = await goOn(context, project, { row, wait, live: outcome.live }, options);
    if (await cameTooLate(project.ledger, row.session, wait)) {
      const late = tooLateText(wait);
      if (code === undefined) throw usageError(late, `see what became of it: ${callOf(context)} show ${shortId(wait.run)}`);
      context.terminal.progress.line(late);
    }
    if (code !== undefined) return code;
    if (options.json) printJson(context, 'answer', { run: wait.run, wait: wait.wait, answer, live: outcome.live });
    else context.terminal.out.line(`recorded for ${wait.run}`);
    return exitCodes.completed;
  });
}

interface Answered {
  readonly row: RunRow;
  readonly wait: OpenWait;
  /** Somebody drives the run. */
  readonly live: boolean;
}

/** How the run came out that went on here; `undefined` when others go on with it, or nobody is to. */
async function goOn(
  context: CommandContext,
  project: Project,
  { row, wait, live }: Answered,
  options: AnswerOptions,
): Promise<ExitCode | undefined> {
  const root = await rootOf(project.ledger, row);
  const mayGoOn = options.resume !== false;
  const resumed = async (): Promise<ExitCode | 'held'> =>
    mayGoOn ? await resumeRun(context, project, root, options).catch(ifHeld) : 'held';
  // On a cluster it goes on by itself; whoever answered sees how.
  const first = project.config.cluster !== undefined || (!live && root.owner === null) ? await resumed() : 'held';
  if (first !== 'held') return first;
  // Who drives it may do so only to end what was cancelled: what is left of it is not theirs to go on with.
  const second = (await endsElsewhere(project.ledger, context.clock, wait)) ? await resumed() : 'held';
  return second === 'held' ? undefined : second;
}

/** Before anybody is asked whether they mean it. */
async function requireFitting(context: CommandContext, { engine }: Project, wait: OpenWait, answer: Answer): Promise<void> {
  if (wait.kind !== 'permission' || answer.kind !== 'approved' || answer.input === undefined) return;
  const refused = await engine.refusedChange(wait, answer.input);
  if (refused !== undefined) throw notRecorded(context, wait, refused);
}

interface Given {
  readonly answer: Answer;
  readonly shown: string | undefined;
  /** What was approved by somebody who has not said that they saw it, and could not be asked. */
  readonly unseen?: string;
}

/**
 * A person approves only what they can see: who does not name what they have seen is shown all of it and asked, and where nobody
 * can be asked it is printed before it is recorded. `undefined` when they would rather not.
 */
async function givenTo(
  { terminal }: CommandContext,
  wait: OpenWait,
  answer: Answer,
  { shown, json, jsonl, quiet }: AnswerOptions,
): Promise<Given | undefined> {
  if (answer.kind !== 'approved' || wait.kind !== 'permission' || shown !== undefined) return { answer, shown };
  if (!terminal.interactive || json === true || jsonl === true)
    return { answer, shown, ...(quiet === true ? {} : { unseen: approvedText(wait, answer.input) }) };
  const desk = createDesk(terminal, createSilentView(terminal.progress), new AbortController().signal);
  const means = await confirmApproval(desk, terminal.progress, wait, answer);
  return means ? { answer: { ...answer, whole: true }, shown: wait.shown } : undefined;
}

export interface ApproveOptions extends AnswerOptions {
  readonly remember?: true | 'session' | 'project';
  readonly whole?: true;
  /** Where the arguments are that the call is made with instead. */
  readonly input?: string;
}

export async function approveCommand(context: CommandContext, run: string, options: ApproveOptions): Promise<ExitCode> {
  const { remember, whole } = options;
  const kept =
    remember === undefined ? {} : ({ remember: true, ...(remember === 'project' ? { scope: remember } : {}) } as const);
  const input = options.input === undefined ? undefined : await readArguments(context, options.input);
  return await answerCommand(context, run, { kind: 'approved', ...kept, ...present({ whole, input }) }, options);
}

/** All of what the call is made with: whoever gives it replaces what was asked for, and leaves nothing of it. */
async function readArguments({ terminal, cwd }: CommandContext, file: string): Promise<JsonObject> {
  const text = await readInput(terminal, file === '-' ? file : resolve(cwd, file));
  if (!text.ok) throw text.error;
  const parsed = parseJson(text.value);
  if (!parsed.ok) throw usageError(`--input ${file} is not JSON: ${parsed.error}`);
  if (!isJsonObject(parsed.value))
    throw usageError(`--input ${file} is not an object`, 'give the arguments of the call by their names');
  return parsed.value;
}

/** A server took it up in the moment after the answer: it goes on there, which is what was wanted. */
function ifHeld(error: unknown): 'held' {
  if (error instanceof TroupeError && error.code === 'held') return 'held';
  throw error;
}

/** The answer that a question of the run has, or that its last one got. */
async function firstAnswer(
  { ledger }: Project,
  { run, session }: RunRow,
  wait: string | undefined,
): Promise<FirstAnswer | undefined> {
  const given = await ledger.read({ session, run, types: ['approval.answered'], newest: true, limit: limits.questionsPerRun });
  for (const event of given) {
    if (event.event_type !== 'approval.answered' || (wait !== undefined && event.payload.wait !== wait)) continue;
    const first = firstOf(event);
    if (first !== undefined) return first;
  }
  return undefined;
}

/** The wait that is meant: the named one, or the only one that this kind of answer fits. */
async function findWait(
  context: CommandContext,
  project: Project,
  { row, waits, options }: Meant,
  answer: Answer,
): Promise<OpenWait> {
  const kind = answer.kind === 'text' ? 'question' : 'permission';
  const { wait: named } = options;
  const fits = named === undefined ? (one: OpenWait) => one.kind === kind : (one: OpenWait) => one.wait === named;
  const own = waits.filter((one) => one.run === row.run && fits(one));
  const first = named === undefined || own.length > 0 ? undefined : await firstAnswer(project, row, named);
  if (first !== undefined) throw notRecorded(context, row, { kind: 'answered', first });
  await requireUnanswered(context, project, { row, waits, options });
  const fitting = seenAmong(own.length > 0 ? own : waits.filter(fits), options.shown);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) return only;
  if (waits.length === 0) await refuseImported(project.ledger, row.session);
  if (waits.length === 0 && named === undefined) {
    const last = firstText(await firstAnswer(project, row, undefined));
    const said = last === '' ? '' : `; its last question was answered${last}`;
    throw usageError(`${row.run} is not waiting for an answer${said}`, `see how it stands: troupe show ${shortId(row.run)}`);
  }
  const choices = (among: readonly OpenWait[]): string => waitLines(among, callOf(context)).join('\n');
  if (fitting.length > 0) {
    const several = named === undefined ? 'waits for several answers' : `has several below it that wait for "${named}"`;
    throw usageError(`${row.run} ${several}`, choices(fitting));
  }
  if (named === undefined) throw usageError(`${row.run} waits for something else`, choices(waits));
  throw usageError(`${row.run} does not wait for "${named}"`, `open: ${waits.map((one) => one.wait).join(', ') || 'nothing'}`);
}

/** Whoever names what they have seen means that question: when it is answered already, by whom, and not what is asked since. */
async function requireUnanswered(context: CommandContext, { ledger }: Project, { row, waits, options }: Meant): Promise<void> {
  const { shown } = options;
  const isSeen = (one: string | undefined): boolean =>
    shown !== undefined && shown.length >= limits.shownCharacters && one?.startsWith(shown) === true;
  if (shown === undefined || waits.length === 0) return;
  if (waits.some((one) => one.kind === 'permission' && isSeen(one.shown))) return;
  const types = ['approval.asked', 'approval.answered'] as const;
  const events = await ledger.read({ session: row.session, types, newest: true, limit: limits.questionsPerRun });
  const asked = events.find((event) => event.event_type === 'approval.asked' && isSeen(event.payload.shown));
  if (asked === undefined) return;
  const answered = events.find(
    (event) => event.event_type === 'approval.answered' && event.run_id === asked.run_id && event.step === asked.step,
  );
  const first = answered?.event_type === 'approval.answered' ? firstOf(answered) : undefined;
  if (first !== undefined) throw notRecorded(context, { run: asked.run_id }, { kind: 'answered', first });
}

/** Of several, the one that the person names by what they have seen of it. */
function seenAmong(waits: readonly OpenWait[], shown: string | undefined): readonly OpenWait[] {
  const seen = waits.filter((one) => shown !== undefined && one.kind === 'permission' && one.shown?.startsWith(shown));
  return seen.length === 1 ? seen : waits;
}

/** The run that a person names, and what is open in it and below it; of a session that they name, all of it. */
interface Meant {
  readonly row: RunRow;
  readonly waits: readonly OpenWait[];
  readonly options: AnswerOptions;
}

async function readMeant({ ledger, engine }: Project, text: string, options: AnswerOptions): Promise<Meant> {
  const row = await findRun(ledger, text);
  const all = await engine.waits(row.run);
  if (!isNamedBy(row, text)) return { row, waits: all, options };
  const waits: OpenWait[] = [];
  for (const one of all) if (await isWithin(ledger, one.run, row.run)) waits.push(one);
  return { row, waits, options };
}
