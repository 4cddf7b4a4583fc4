/** One turn of the conversation: a run that is stayed with until it stands still, and what is printed of it then. */
import { messageOf } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { RunEnd, RunHandle } from '../../engine/port.ts';
import { reasonOutside } from '../../events/outside-reason.ts';
import { mayTakeOtherModel } from '../../front/after-failure.ts';
import { type RunSummary, summarise } from '../../front/summary.ts';
import { createFollower, type Follower } from '../../library/follow.ts';
import type { HeardPieces } from '../../library/hear.ts';
import { readableCost, readableDuration, readableMoney } from '../../projections/readable.ts';
import { printReport } from '../drive/finish-run.ts';
import { stayWithRun } from '../drive/stay-with-run.ts';
import { callOf } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { wrapToWidth } from '../terminal/text-width.ts';
import { createLiveTree } from '../view/live-tree.ts';
import { createLiveWords } from '../view/live-words.ts';
import { factLines, statusText, troubleLines } from '../view/run-summary.ts';
import type { RunView } from '../view/run-view.ts';
import { treeLines } from '../view/tree-lines.ts';
import { type Chat, spentSoFar } from './conversation.ts';
import { type ChatDraft, draftShown, editedDraft, emptyDraft, typedInto } from './draft.ts';
import { CHAT_PROMPT } from './layout.ts';
import type { KeyListener } from './typing.ts';

/** Where it goes on from: a run that has just begun, or one that is taken up. */
export interface Turn {
  readonly handle: RunHandle;
  readonly follower: Follower;
  readonly heard: HeardPieces;
  /** Pictures that were sent along: not every model takes them. */
  readonly images: number;
}

export async function begunTurn({ project }: Chat, handle: RunHandle, heard: HeardPieces, images: number): Promise<Turn> {
  const follower = createFollower(project.ledger, handle.session);
  await follower.beginAt(handle.run);
  return { handle, follower, heard, images };
}

const STOP = 'stopped at the keyboard';

export async function takeTurn(chat: Chat, { handle, follower, heard, images }: Turn): Promise<void> {
  const { context, project, typing, options } = chat;
  const shown = createTurnView(chat, handle.run);
  chat.session = handle.session;
  chat.seen = handle.run;
  const keys = whileItWorks(chat, handle.run, shown.view);
  const deaf = typing.listen(keys);
  // Before it is stopped, also where a question has the keyboard: the first picture afterwards would go over what the shell says.
  const stopPausing = context.terminal.keyboard.onPause(shown.view.leave, () => {
    typing.takeAgain();
    shown.view.back();
  });
  const { leaving } = chat;
  const { enough: stopped } = keys;
  const drive = { context, project, follower, heard, view: shown.view, approveAll: options.yes === true, leaving, stopped };
  const rested = await stayWithRun(drive, handle).finally(() => {
    stopPausing();
    deaf();
  });
  const end = (await keys.stopped()) ? await endedMeanwhile(chat, handle.run, follower, rested) : rested;
  chat.unanswered = end.kind === 'ended' ? undefined : handle.run;
  await printTurn(chat, { run: handle.run, follower, end, images, unfinished: shown.unfinished() });
}

/** One that stood still when it was stopped was ended without us. */
async function endedMeanwhile({ project }: Chat, run: RunId, follower: Follower, rested: RunEnd): Promise<RunEnd> {
  if (rested.kind === 'ended') return rested;
  const [row] = await project.ledger.runs({ run });
  if (row === undefined || row.endedAt === null) return rested;
  await follower.catchUp(run);
  const told = await project.engine.resume(run);
  return told.kind === 'ended' ? { kind: 'ended', result: told.result } : rested;
}

interface TurnView {
  readonly view: RunView;
  /** What was being written when it stopped. */
  unfinished(): string;
}

/** The answer as it is being written, below the tree; when the turn is over only what was done stays. */
function createTurnView({ context }: Chat, root: RunId): TurnView {
  const { terminal, clock } = context;
  const screen = terminal.progress;
  const tree = createLiveTree({
    ...{ screen, clock, root, call: callOf(context), textRows: screen.height() },
    still: (last, standing) => {
      const look = { now: clock.now(), width: screen.width(), paint: screen.paint, brief: true, ...present({ standing }) };
      const lines = treeLines(last, root, look);
      // What stands on the line of the root is said below the answer.
      return lines.slice(1);
    },
  });
  const words = createLiveWords();
  const view: RunView = {
    ...tree,
    piece(piece) {
      words.piece(piece);
      tree.piece(piece);
    },
    event(event, next) {
      // What it was saying when it was ended is what is wanted.
      if (event.event_type !== 'run.ended') words.event(event);
      tree.event(event, next);
    },
  };
  return { view, unfinished: words.text };
}

interface Stopping {
  /** Whether somebody stopped it; resolves when that is done. */
  stopped(): Promise<boolean>;
  /** Aborts as soon as they do. */
  readonly enough: AbortSignal;
}

/** Ctrl-C stops the turn; what else is typed stands on the next line, and is neither sent nor an answer to anything. */
function whileItWorks(chat: Chat, run: RunId, view: RunView): KeyListener & Stopping {
  const { context, project, typing } = chat;
  let draft: ChatDraft = emptyDraft;
  let stops = 0;
  let stopping: Promise<unknown> | undefined;
  const enough = new AbortController();
  const failed = (error: unknown): void => view.say([`it cannot be stopped: ${safeLine(messageOf(error))}`]);
  const stop = (): void => {
    stops += 1;
    enough.abort();
    if (stops > 2) context.terminal.exitNow(exitCodes.interrupted);
    view.say([stops === 1 ? 'stopping' : 'still stopping; once more leaves the chat at once, and what is done is kept']);
    stopping ??= project.engine.cancel(run, STOP).catch(failed);
  };
  return {
    enough: enough.signal,
    async stopped() {
      await stopping;
      return stopping !== undefined;
    },
    async key(key) {
      if (key.kind === 'gone') return;
      if (key.kind !== 'key') draft = typedInto(draft, key) ?? draft;
      else if (key.name === 'interrupt') stop();
      else if (key.name === 'suspend') {
        await context.terminal.keys.suspend();
        typing.take();
      } else if (key.name !== 'enter') draft = editedDraft(draft, key.name);
      chat.draft = draft;
    },
    idle() {
      const text = draftShown(draft);
      const cursor = draftShown({ cells: draft.cells.slice(0, draft.cursor) }).length;
      view.typing(text === '' ? undefined : { prompt: CHAT_PROMPT, text, cursor });
    },
  };
}

interface Printed {
  readonly run: RunId;
  readonly follower: Follower;
  readonly end: RunEnd;
  readonly images: number;
  readonly unfinished: string;
}

async function printTurn(chat: Chat, { run, follower, end, images, unfinished }: Printed): Promise<void> {
  const { context, project } = chat;
  const { progress } = context.terminal;
  const node = follower.tree.runs.get(run);
  if (node === undefined) {
    progress.prose(`run ${shortId(run)} left no trace in the ledger; look at it: ${callOf(context)} doctor`);
    return;
  }
  const { ledger } = project.config;
  const now = context.clock.now();
  const summary = summarise(follower.tree, node, { session: chat.session ?? '', ledger, now, end });
  const isAnswer = summary.status === 'completed' || summary.status === 'completed_unverified';
  const words = wrapToWidth(safeText(unfinished).trimEnd(), progress.width()).filter((line) => line !== '');
  progress.line();
  if (isAnswer && summary.report !== null) await printReport(context, summary.report);
  else for (const line of words) progress.line(line);
  // Where nothing was said one empty line is enough.
  if (isAnswer || words.length > 0) progress.line();
  const look = { paint: progress.paint, width: progress.isTty ? progress.width() : undefined, call: callOf(context) };
  // Whoever stopped it knows why.
  const trouble = summary.error?.message.includes(STOP) === true ? [] : troubleLines(summary, look);
  for (const line of trouble) progress.line(line);
  const { status, error } = summary;
  const refused = reasonOutside({ status, error: error ?? undefined }) === 'model' ? [OTHER_MODEL] : [];
  const notes = [...(images > 0 && status === 'failed' ? [MAYBE_BLIND] : refused), ...restLines(end)];
  for (const note of notes) for (const line of wrapToWidth(note, progress.width())) progress.line(line);
  for (const line of factLines(await quietFacts(chat, summary), progress.paint, progress.width())) progress.line(line);
}

const MAYBE_BLIND = 'a picture was sent along, which not every model takes: /undo leaves the message out, /model names another';

const OTHER_MODEL = 'another model may do it: /model names one, then /resume goes on';

const GOES_ON = 'Enter goes on with it, /stop ends it';

function restLines(end: RunEnd): readonly string[] {
  switch (end.kind) {
    case 'waiting':
      return [`it waits for you: ${GOES_ON}`];
    case 'parked':
      return [`parked: ${GOES_ON}${mayTakeOtherModel(end.error) ? ', /model names another model for it' : ''}`];
    case 'paused':
      return [`paused: ${safeLine(end.reason)}; ${GOES_ON}`];
    case 'lost':
      return ['another process works on it now'];
    case 'interrupted':
      return end.error === undefined ? [] : [GOES_ON];
    default:
      return [];
  }
}

async function quietFacts(chat: Chat, summary: RunSummary): Promise<readonly string[]> {
  const { paint } = chat.context.terminal.progress;
  const { budgetUsd } = chat.options;
  const facts = [counted(summary.turns, 'turn'), readableDuration(summary.durationMs), readableCost(summary.cost)];
  const status = summary.status === 'completed' ? [] : [statusText(summary, paint)];
  const spent =
    budgetUsd === undefined ? [] : [`chat ${readableMoney(await spentSoFar(chat))} of ${readableMoney(budgetUsd * 1e9)}`];
  return [...status, ...[...facts, ...spent].map((fact) => paint.dim(fact))];
}
