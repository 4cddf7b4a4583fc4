/** Sends a message: a root run that goes on with the conversation. What cannot be sent stands on the next line again. */
import { unreachable } from '../../base/errors.ts';
import { createIds, type RunId, type SessionId, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { systemRandom } from '../../base/random.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { endedText } from '../../events/verification-text.ts';
import type { RunRow } from '../../ledger/port.ts';
import { createFollower } from '../../library/follow.ts';
import { hear } from '../../library/hear.ts';
import { firstLine, readableMoney } from '../../projections/readable.ts';
import { printReport } from '../drive/finish-run.ts';
import { asCalled, callOf } from '../terminal/command.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { wrapToWidth } from '../terminal/text-width.ts';
import { withFiles } from './attachments.ts';
import { type Chat, type ChatStanding, meanwhile, spentSoFar, standingNow, startOfRun, typedText } from './conversation.ts';
import { type ChatDraft, draftAt } from './draft.ts';
import { begunTurn, takeTurn } from './turn.ts';

const SHOWN_CHARACTERS = 70;
const NANO_PER_USD = 1_000_000_000;

/** A sentence about what went wrong, and what to do about it. */
export function complain({ context }: Pick<Chat, 'context'>, { message, fix }: Omit<Failure, 'code'>): void {
  const { progress } = context.terminal;
  const [first = '', ...rest] = wrapToWidth(`error: ${safeText(message)}`, progress.width());
  progress.line(first.replace('error', progress.paint.red('error')));
  for (const line of rest) progress.line(line);
  if (fix !== undefined)
    for (const line of wrapToWidth(`fix: ${safeText(asCalled(fix, callOf(context)))}`, progress.width() - 2))
      progress.line(`  ${line}`);
}

export async function say(chat: Chat, draft: ChatDraft): Promise<void> {
  const { context, project, options } = chat;
  const { workspace } = project.config;
  const refuse = (error: Omit<Failure, 'code'>): void => {
    complain(chat, error);
    chat.draft = draft;
  };
  const nonce = createIds(context.clock, systemRandom).nonce();
  const sent = await withFiles(draft, workspace, nonce);
  if (!sent.ok) return refuse({ message: sent.error });
  for (const word of sent.value.notFiles)
    context.terminal.progress.line(context.terminal.progress.paint.dim(`@${safeLine(word)} is no file; it is sent as it is`));
  await showMeanwhile(chat);
  const standing = await standingNow(chat);
  if (standing.kind !== 'free') return refuse(notNow(standing));
  const budget = options.budgetUsd === undefined ? undefined : await whatIsLeft(chat, options.budgetUsd);
  if (budget?.usd === 0) return refuse(usedUp(options.budgetUsd ?? 0));
  const { agent, session, model, condense } = chat;
  const input = sent.value.message;
  const heard = hear(project.engine, true);
  const started = await project.engine.start({ agent, input, workspace, ...present({ session, model, budget, condense }) });
  if (started.kind === 'refused') {
    heard.close();
    return refuse(await notAfterAll(chat, started.error));
  }
  // Somebody may have spoken, and been answered, since it was looked.
  await showMeanwhile(chat, started.handle.run);
  chat.condense = false;
  chat.history.unshift(() => draftAt(draft, draft.cells.length));
  await takeTurn(chat, await begunTurn(chat, started.handle, heard, sent.value.images));
}

async function whatIsLeft(chat: Chat, budgetUsd: number): Promise<{ readonly usd: number }> {
  return { usd: Math.max(0, budgetUsd - (await spentSoFar(chat)) / NANO_PER_USD) };
}

const usedUp = (budgetUsd: number): Omit<Failure, 'code'> => ({
  message: `The budget of this chat, ${readableMoney(budgetUsd * NANO_PER_USD)}, is used up`,
  fix: 'leave, and come back with a higher --budget-usd',
});

/** Who was a moment faster is named as if they had been there before. */
async function notAfterAll(chat: Chat, error: Failure): Promise<Omit<Failure, 'code'>> {
  const standing = error.code === 'session_busy' ? await standingNow(chat) : undefined;
  if (standing === undefined || standing.kind === 'free') return error;
  await showMeanwhile(chat);
  return notNow(standing);
}

/** What others have said in the same session since, and what they were told: the answer will rest on it. */
export async function showMeanwhile(chat: Chat, own?: RunId): Promise<void> {
  const { progress } = chat.context.terminal;
  const { dim } = progress.paint;
  if (chat.unanswered !== undefined) await showLateAnswer(chat);
  for (const row of await meanwhile(chat)) {
    if (row.run === own) continue;
    const started = await startOfRun(chat.project.ledger, row);
    const text = started === undefined ? '' : firstLine(typedText(started), SHOWN_CHARACTERS);
    progress.line(dim(`said elsewhere meanwhile, to ${safeLine(row.agent)}: ${safeLine(text)}`));
    const { session, run } = row;
    const last = await lastWord(chat, session, run);
    // It is shown again with its answer, once there is one.
    if (last === undefined) return;
    chat.seen = run;
    await showAnswer(chat, last);
  }
}

/** What was left without an answer here, or came without one, has been gone on with elsewhere. */
async function showLateAnswer(chat: Chat): Promise<void> {
  const { session, unanswered: run } = chat;
  if (session === undefined || run === undefined) return;
  const last = await lastWord(chat, session, run);
  if (last === undefined) return;
  chat.unanswered = undefined;
  chat.context.terminal.progress.line(chat.context.terminal.progress.paint.dim('gone on with elsewhere meanwhile'));
  await showAnswer(chat, last);
}

async function lastWord({ project: { ledger } }: Chat, session: SessionId, run: RunId): Promise<LedgerEvent | undefined> {
  const types = ['run.ended', 'run.withdrawn'] as const;
  const [row] = await ledger.runs({ run });
  const [last] = await ledger.read({ session, run, types, newest: true, limit: 1 });
  // One that has ended and was taken up again has an end, and is at work.
  return row?.endedAt === null ? undefined : last;
}

async function showAnswer(chat: Chat, last: LedgerEvent): Promise<void> {
  const { progress } = chat.context.terminal;
  const { dim } = progress.paint;
  if (last.event_type === 'run.withdrawn') return progress.line(dim('it was left out again'));
  if (last.event_type !== 'run.ended') return;
  const { status, report } = last.payload;
  if (status !== 'completed' && status !== 'completed_unverified')
    return progress.line(dim(`it has no answer (${endedText(status, null)})`));
  progress.line();
  await printReport(chat.context, report);
  progress.line();
}

export function notNow(standing: Exclude<ChatStanding, { readonly kind: 'free' }>): Omit<Failure, 'code'> {
  switch (standing.kind) {
    case 'held':
      return {
        message: `Process ${standing.owner.pid} on ${standing.owner.host} works in this conversation now`,
        fix: 'wait until it is done, and say it again',
      };
    case 'unfinished':
      return {
        message: `The message before has no answer yet (${standing.state})`,
        fix: 'an empty line goes on with it, /stop ends it; then say it again',
      };
    default:
      return unreachable(standing);
  }
}

/** Goes on with a run that was cut off, waits or stands still, or that ended for a reason outside of it. */
export async function goOnWith(chat: Chat, row: RunRow): Promise<void> {
  const { run, session } = row;
  const follower = createFollower(chat.project.ledger, session);
  await follower.catchUp(run);
  // A model that was chosen since takes the place of the one that it was begun with.
  const begun = await startOfRun(chat.project.ledger, row);
  const terms = chat.model === begun?.model ? {} : present({ model: chat.model });
  const heard = hear(chat.project.engine, true);
  const resumed = await chat.project.engine.resume(run, terms);
  if (resumed.kind !== 'resumed') heard.close();
  switch (resumed.kind) {
    case 'resumed':
      chat.agent = row.agent;
      return await takeTurn(chat, { handle: resumed.handle, follower, heard, images: 0 });
    case 'ended':
      return complain(chat, { message: `Run ${shortId(run)} has ended, and there is nothing to go on with` });
    case 'held':
      return complain(chat, notNow({ kind: 'held', row, owner: resumed.owner }));
    case 'unknown':
      return complain(chat, { message: `There is no run ${run} any more` });
    case 'refused':
      return complain(chat, resumed.error);
    default:
      return unreachable(resumed);
  }
}

/** Ends what is unfinished and driven by nobody; the run, if there was one. */
export async function endUnfinished(chat: Chat): Promise<RunId | undefined> {
  const standing = await standingNow(chat);
  if (standing.kind === 'free') return undefined;
  if (standing.kind === 'held') {
    complain(chat, notNow(standing));
    return undefined;
  }
  const outcome = await chat.project.engine.cancel(standing.row.run, 'ended at the keyboard');
  if (outcome.kind === 'accepted' && outcome.unended !== undefined) {
    complain(chat, outcome.unended);
    return undefined;
  }
  chat.unanswered = undefined;
  return standing.row.run;
}
