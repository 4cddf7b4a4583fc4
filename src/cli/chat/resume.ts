/** `/resume`: goes on with what is unfinished here; otherwise lists what is unfinished in other conversations of the project. */
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { standingNext } from '../../front/standing.ts';
import type { RunRow } from '../../ledger/port.ts';
import { firstLine } from '../../projections/readable.ts';
import { findRun } from '../drive/find-run.ts';
import { conversations, findSession } from '../drive/find-session.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type Chat, standingNow, startOfRun, typedText } from './conversation.ts';
import { complain, goOnWith, notNow } from './say.ts';

const TEXT_CHARACTERS = 50;

export async function resume(chat: Chat, argument: string): Promise<void> {
  if (argument !== '') return await resumeNamed(chat, argument);
  const standing = await standingNow(chat);
  if (standing.kind === 'unfinished') return await goOnWith(chat, standing.row);
  if (standing.kind === 'held') return complain(chat, notNow(standing));
  const failed = await failedLast(chat);
  if (failed !== undefined) return await goOnWith(chat, failed);
  await listUnfinished(chat);
}

/** Moves to the conversation of that run. */
async function resumeNamed(chat: Chat, text: string): Promise<void> {
  const { ledger } = chat.project;
  await findSession(ledger, text);
  const named = await findRun(ledger, text);
  const [row = named] = await ledger.runs({ session: named.session, roots: true, limit: 1 });
  await goOnWith(chat, row);
}

/** The last run here, when it ended for a reason outside of it. */
async function failedLast({ project: { ledger }, seen, session }: Chat): Promise<RunRow | undefined> {
  if (seen === undefined || session === undefined) return undefined;
  const [ended] = await ledger.read({ session, run: seen, types: ['run.ended', 'run.withdrawn'], newest: true, limit: 1 });
  if (ended?.event_type !== 'run.ended' || ended.payload.reason === undefined) return undefined;
  return (await ledger.runs({ run: seen }))[0];
}

async function listUnfinished(chat: Chat): Promise<void> {
  const { ledger, engine } = chat.project;
  const { progress } = chat.context.terminal;
  let listed = 0;
  for await (const [, roots] of conversations(ledger)) {
    const row = roots.find(({ endedAt, owner }) => endedAt === null && owner === null);
    if (row === undefined) continue;
    listed += 1;
    if (listed > limits.completedRuns) break;
    const started = await startOfRun(ledger, row);
    const text = started === undefined ? '' : firstLine(typedText(started), TEXT_CHARACTERS);
    const { state } = await standingNext(engine, row);
    progress.line(`  ${shortId(row.run)}  ${state}  ${safeLine(row.agent)}: ${safeLine(text)}`);
  }
  if (listed === 0) progress.line('nothing is unfinished');
  else progress.line('to go on with one, in its own conversation: /resume <run>');
}
