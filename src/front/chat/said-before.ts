/**
 * Which conversation a request goes on with, for programs that send all of it again each time. Recognised by what was said: the
 * id of a run follows from its caller, its agent and all that the caller had said up to then, so that nothing has to be kept to
 * find it again. What was said otherwise than we know it, or somewhere else, is another conversation, which begins with that as
 * text.
 */
import { createHash } from 'node:crypto';
import { fenced, fenceNote } from '../../base/fence.ts';
import { type RunId, runIdFrom, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { textOf, type UserMessage } from '../../events/messages.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { ChatCaller, ChatNeeds } from './needs.ts';
import type { Prompt } from './turn.ts';

/** What the caller said, and what it was answered, as far as it was. */
export interface SaidTurn {
  readonly content: UserMessage['content'];
  readonly answer?: string | undefined;
}

/** All of it; the last turn has no answer yet. */
export interface SaidBefore {
  readonly agent: string;
  /** What the caller wants of the agent besides: the agent has a prompt of its own. */
  readonly instructions: string;
  readonly turns: readonly SaidTurn[];
}

export interface FoundConversation {
  readonly prompt: Prompt;
  /** What the run before came to after its program had heard the last of it: it asked something, and went on when answered. */
  readonly unseen?: string | undefined;
}

export async function recognised(needs: ChatNeeds, { name }: ChatCaller, said: SaidBefore): Promise<FoundConversation> {
  const { agent, turns } = said;
  const last = turns.at(-1)?.content ?? [];
  const run = runOf(name, said, turns.length, await timesAsked(needs, name, said, turns.length));
  const found = await sessionBefore(needs, name, said);
  const text = textOf(last);
  if (found === undefined) return { prompt: { agent, run, text, input: wholeInput(said, needs.ids.nonce()) } };
  const { session, unseen } = found;
  return { prompt: { agent, run, text, session, input: { role: 'user', content: [...last] } }, ...present({ unseen }) };
}

/** The n-th run that this caller asked for with the same words: what is asked twice is answered twice. */
function runOf(caller: string, { agent, instructions, turns }: SaidBefore, upTo: number, times: number): RunId {
  const words = JSON.stringify([caller, agent, instructions, turns.slice(0, upTo).map(({ content }) => content)]);
  return runIdFrom(JSON.stringify(['chat', createHash('sha256').update(words).digest('hex'), times]));
}

/** How many there are: they are without gaps, so that few have to be looked for. */
async function timesAsked({ ledger }: ChatNeeds, caller: string, said: SaidBefore, upTo: number): Promise<number> {
  const isThere = async (times: number): Promise<boolean> =>
    (await ledger.runs({ run: runOf(caller, said, upTo, times), limit: 1 })).length > 0;
  let [low, high] = [0, 1];
  if (!(await isThere(0))) return 0;
  while (await isThere(high)) [low, high] = [high, high * 2];
  while (high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    if (await isThere(middle)) low = middle;
    else high = middle;
  }
  return high;
}

interface SessionBefore {
  readonly session: SessionId;
  readonly unseen?: string | undefined;
}

/**
 * The session whose latest run was asked for with what stands before the last turn. A turn that was the answer to a question has
 * no run of its own: then it is the run that asked.
 */
async function sessionBefore(needs: ChatNeeds, caller: string, said: SaidBefore): Promise<SessionBefore | undefined> {
  const newest = said.turns.length - 1;
  for (let upTo = newest; upTo > Math.max(0, newest - limits.chatTurnsBack); upTo -= 1) {
    const times = await timesAsked(needs, caller, said, upTo);
    for (let time = times - 1; time >= Math.max(0, times - limits.chatSameAsked); time -= 1) {
      const [row] = await needs.ledger.runs({ run: runOf(caller, said, upTo, time), limit: 1 });
      const found = row === undefined ? undefined : await goesOnFrom(needs, row, said.turns[newest - 1]?.answer, upTo === newest);
      if (found !== undefined) return found;
    }
  }
  return undefined;
}

async function goesOnFrom(
  { ledger }: ChatNeeds,
  { run, session }: RunRow,
  answer: string | undefined,
  isLast: boolean,
): Promise<SessionBefore | undefined> {
  const [latest] = await ledger.runs({ session, roots: true, limit: 1 });
  if (latest?.run !== run) return undefined;
  const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
  const body = ended?.event_type === 'run.ended' ? reportIn(ended.payload) : undefined;
  if (body !== undefined && answer !== undefined && squeezed(answer).includes(squeezed(body))) return { session };
  const asked = await ledger.read({ session, root: run, types: ['task.clarify', 'approval.asked'], limit: 1 });
  if (asked.length > 0) return { session, ...present({ unseen: body }) };
  // Nothing came of it that could have been heard; otherwise somebody has changed what was answered.
  return isLast && body === undefined ? { session } : undefined;
}

const reportIn = ({ report }: Payloads['run.ended']): string | undefined =>
  report.synthetic === true || report.body.trim() === '' ? undefined : report.body;

/** Programs trim, and break lines anew. */
const squeezed = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** A conversation that begins here, with what was said before somewhere else. */
function wholeInput({ instructions, turns }: SaidBefore, nonce: string): UserMessage {
  const last = turns.at(-1)?.content ?? [];
  const wanted = instructions === '' ? [] : [`What I want of you throughout:\n${instructions}`];
  const past = turns
    .slice(0, -1)
    .flatMap(({ content, answer }) => [`I said: ${textOf(content)}`, ...(answer === undefined ? [] : [`You said: ${answer}`])]);
  const history = past.length === 0 ? [] : [`${fenced('conversation', nonce, newestOf(past.join('\n\n')))}\n${fenceNote(nonce)}`];
  const before = [...wanted, ...history].map((text) => ({ type: 'text', text: `${text}\n\n` }) as const);
  return { role: 'user', content: [...before, ...last] };
}

function newestOf(text: string): string {
  const left = text.length - limits.chatHistoryCharacters;
  return left <= 0 ? text : `(${left} characters before this are left out: chatHistoryCharacters)\n${text.slice(left)}`;
}
