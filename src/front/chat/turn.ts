/** A prompt of a program: it begins a run, answers what a run asks, or tells something to one at work. */
import { mayAnswer } from '../../assistants/clients/answers.ts';
import { type RunId, runIdFrom, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok } from '../../base/result.ts';
import type { UserMessage } from '../../events/messages.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { ActOutcome, NotDone } from '../acts.ts';
import { mayDo, roleOfCaller } from '../roles.ts';
import { findVisibleSession } from '../sight.ts';
import { accountOf, usedUp } from './account.ts';
import { type ChatCaller, type ChatNeeds, openAgents } from './needs.ts';

/** What a program follows: a run, and where in its session what it has to be shown begins. */
export interface ChatTurn {
  readonly run: RunId;
  readonly session: SessionId;
  readonly agent: string;
  readonly after: number;
  /** Somebody else's request began it, or an earlier one of the same words. */
  readonly before: boolean;
}

export interface Prompt {
  readonly agent: string;
  readonly input: UserMessage;
  /** Its words alone, as an answer or as a message. */
  readonly text: string;
  /** Goes on there; it need not be there yet. */
  readonly session?: SessionId | undefined;
  /** The same id twice is one run. */
  readonly run?: RunId | undefined;
}

/** What a caller calls a conversation, as a session of that caller. */
export const sessionNamed = (door: string, caller: string, word: string): SessionId =>
  runIdFrom(JSON.stringify([door, caller, 'session', word])).replace(/^run_/, 'ses_') as SessionId;

export async function beginTurn(needs: ChatNeeds, caller: ChatCaller, prompt: Prompt): ActOutcome<ChatTurn> {
  const refused = await refusedPrompt(needs, caller, prompt);
  if (refused !== undefined) return fail(refused);
  const { session } = prompt;
  if (session === undefined) return await begin(needs, caller, prompt);
  return await needs.inTurn(session, async () => {
    const [newest] = await needs.ledger.runs({ session, roots: true, limit: 1 });
    if (newest === undefined) return await begin(needs, caller, prompt);
    if ((await findVisibleSession(needs.ledger, { name: caller.name, sees: 'own' }, session)) === undefined) return fail(UNKNOWN);
    if (newest.run === prompt.run) return ok({ ...turnOf(newest, 0), before: true });
    return newest.endedAt === null ? await goOn(needs, caller, newest, prompt) : await begin(needs, caller, prompt);
  });
}

const UNKNOWN: NotDone = { why: 'unknown', code: 'not_found', message: 'There is no such conversation.' };

async function refusedPrompt(needs: ChatNeeds, caller: ChatCaller, { agent, text }: Prompt): Promise<NotDone | undefined> {
  if (!mayDo(roleOfCaller(caller), 'work'))
    return {
      ...{ why: 'forbidden', code: 'not_allowed', message: `${caller.name} may not do this: its role is viewer.` },
      fix: 'The owner can give another role: serve.callers in troupe.yaml.',
    };
  if (!(await openAgents(needs, caller)).some(({ name }) => name === agent))
    return { why: 'unknown', code: 'no_agent', message: `There is no agent ${JSON.stringify(agent.slice(0, 100))}.` };
  if (agent === caller.name)
    return {
      why: 'never',
      code: 'same_name',
      message: 'The agent has your own name: in its thread nobody could tell you apart.',
    };
  if (Buffer.byteLength(text) > limits.promptBytes)
    return {
      why: 'limit',
      code: 'too_long',
      message: `At most ${limits.promptBytes} bytes can be said at once (limit promptBytes).`,
    };
  return undefined;
}

const turnOf = ({ run, session, agent }: Pick<RunRow, 'run' | 'session' | 'agent'>, after: number): ChatTurn => ({
  ...{ run, session, agent, after, before: false },
});

async function begin(needs: ChatNeeds, caller: ChatCaller, prompt: Prompt): ActOutcome<ChatTurn> {
  const account = accountOf(needs, caller);
  const spent = await usedUp(needs, account);
  if (spent !== undefined) return fail(spent);
  const { agent, input, session, run } = prompt;
  const { name: by, rights, workspace = needs.workspace } = caller;
  const origin = { kind: 'client', by, ...present({ rights, account }) } as const;
  const started = await needs.engine.start({ agent, input, session, run, workspace, origin });
  if (started.kind === 'refused') {
    const { error } = started;
    return fail({ ...error, why: error.code === 'session_busy' ? 'late' : error.code === 'no_agent' ? 'unknown' : 'never' });
  }
  const { handle, before = false } = started;
  const [first] = await needs.ledger.read({ session: handle.session, run: handle.run, limit: 1 });
  return ok({ ...turnOf({ ...handle, agent }, (first?.position ?? 1) - 1), before });
}

/** The run asks something, is at work, or stands still. */
async function goOn(needs: ChatNeeds, caller: ChatCaller, row: RunRow, { text }: Prompt): ActOutcome<ChatTurn> {
  const { engine, ledger } = needs;
  const [newest] = await ledger.read({ session: row.session, newest: true, limit: 1 });
  const turn = turnOf(row, newest?.position ?? 0);
  const waits = await engine.waits(row.run);
  const client = { kind: 'client', name: caller.name, ...present({ rights: caller.rights }) } as const;
  const question = waits.find((wait) => wait.kind === 'question' && mayAnswer(client, wait));
  if (question !== undefined) {
    // Somebody may have been faster: then their answer counts, and the run goes on with it.
    await engine.answer(question.run, question.wait, { kind: 'text', text }, { by: caller.name, where: needs.door });
  } else if (waits.length === 0) {
    const sent = await engine.send(row.run, text, { by: caller.name, where: needs.door });
    if (sent.kind === 'full' || sent.kind === 'too long')
      return fail({ why: 'limit', code: 'limit', message: 'The run before has not ended, and cannot be told more now.' });
  } else return ok(turn);
  return (await drivenOn(needs, row)) ?? ok(turn);
}

/** It goes on here unless somebody drives it. */
async function drivenOn({ engine }: ChatNeeds, { run }: RunRow): Promise<Awaited<ActOutcome<never>> | undefined> {
  const resumed = await engine.resume(run);
  return resumed.kind === 'refused' ? fail({ ...resumed.error, why: 'never' }) : undefined;
}
