/** `/undo`: the last exchange is left out of the conversation. What it did to files stays, and is named. */
import type { RunId, SessionId } from '../../base/ids.ts';
import { latestStanding } from '../../engine/record/past.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { firstLine } from '../../projections/readable.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type Chat, standingNow, startOfRun, typedText } from './conversation.ts';
import { complain, endUnfinished } from './say.ts';

const FILES_SHOWN = 20;
const TEXT_CHARACTERS = 60;

export async function undo(chat: Chat): Promise<void> {
  const { project, session, agent } = chat;
  const { progress } = chat.context.terminal;
  if (session === undefined) return progress.line('nothing was said yet');
  if ((await standingNow(chat)).kind !== 'free' && (await endUnfinished(chat)) === undefined) return;
  const last = await latestStanding(project.ledger, session, agent);
  if (last === undefined) return progress.line(`nothing that was said to ${safeLine(agent)} is left`);
  const outcome = await project.engine.withdraw(last);
  if (outcome.kind === 'refused') return complain(chat, outcome.error);
  const started = await startOfRun(project.ledger, { session, run: last });
  const text = started === undefined ? '' : firstLine(typedText(started), TEXT_CHARACTERS);
  progress.line(`left out: ${safeLine(text)}`);
  const files = await changedBy(project.ledger, session, last);
  if (files.length === 0) return;
  progress.line('it changed files, which stay as they are now:');
  for (const file of files.slice(0, FILES_SHOWN)) progress.line(`  ${safeLine(file)}`);
  if (files.length > FILES_SHOWN) progress.line(`  and ${files.length - FILES_SHOWN} more files`);
}

/** As far as the runtime saw it. */
async function changedBy(ledger: Ledger, session: SessionId, root: RunId): Promise<readonly string[]> {
  const files = new Set<string>();
  for await (const event of readEvents(ledger, { session, root, types: ['file.diff'] }))
    if (event.event_type === 'file.diff') files.add(event.payload.path);
  return [...files];
}
