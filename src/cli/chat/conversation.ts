/**
 * A conversation at the keyboard. What was said, how it stands and what it cost is in the ledger and read from there; what is
 * kept here is only what the next message is to be sent with.
 */
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { EventOf } from '../../events/envelope.ts';
import { standingNext, type stateOf } from '../../front/standing.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { LeaseOwner, Ledger, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { foldCosts, initialCosts } from '../../projections/costs.ts';
import type { RunTermsOptions } from '../drive/finish-run.ts';
import type { CommandContext } from '../terminal/command.ts';
import { saidAgain } from './attachments.ts';
import type { ChatDraft, Recalled } from './draft.ts';
import type { Typing } from './typing.ts';

export interface ChatOptions extends Pick<RunTermsOptions, 'model' | 'maxTurns' | 'budgetUsd' | 'yes' | 'notify'> {
  readonly session?: string | undefined;
  readonly continue?: boolean | undefined;
  readonly workspace?: string | undefined;
  readonly var?: Readonly<Record<string, string>> | undefined;
}

export interface Chat {
  /** Asking a person lets go of the keyboard first. */
  readonly context: CommandContext;
  readonly project: Project;
  readonly options: ChatOptions;
  readonly typing: Typing;
  /** Aborts when the process is told to end. */
  readonly leaving: AbortSignal;
  agent: string;
  /** Takes the place of the agent's own. */
  model: string | undefined;
  /** Begins with the first message. */
  session: SessionId | undefined;
  /** The newest run of the session that was shown here. */
  seen: RunId | undefined;
  /** The one that had no answer when it was shown: another process may go on with it. */
  unanswered: RunId | undefined;
  /** The next message begins condensed. */
  condense: boolean;
  /** They have left. */
  over: boolean;
  /** What stands on the next line: what was typed meanwhile, or could not be sent. */
  draft: ChatDraft;
  /** Newest first. */
  readonly history: Recalled[];
}

/** How the conversation stands: whether something can be said now. */
export type ChatStanding =
  | { readonly kind: 'free' }
  /** The last message has no answer yet, and nobody works on it. */
  | { readonly kind: 'unfinished'; readonly row: RunRow; readonly state: ReturnType<typeof stateOf> }
  /** Another process does. */
  | { readonly kind: 'held'; readonly row: RunRow; readonly owner: LeaseOwner };

export async function standingNow({
  project: { ledger, engine },
  session,
}: Pick<Chat, 'project' | 'session'>): Promise<ChatStanding> {
  if (session === undefined) return { kind: 'free' };
  const [newest] = await ledger.runs({ session, roots: true, limit: 1 });
  if (newest === undefined || newest.endedAt !== null) return { kind: 'free' };
  if (newest.owner !== null) return { kind: 'held', row: newest, owner: newest.owner };
  return { kind: 'unfinished', row: newest, state: (await standingNext(engine, newest)).state };
}

export async function startOfRun(ledger: Ledger, { session, run }: Pick<RunRow, 'session' | 'run'>) {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  return started?.event_type === 'run.started' ? started.payload : undefined;
}

/** What a person typed; what was sent along is not part of it. */
export function typedText({ input }: Pick<EventOf<'run.started'>['payload'], 'input'>): string {
  const [first] = input.role === 'user' ? input.content : [];
  return first?.type === 'text' ? first.text : '';
}

/** What people have said in this project, newest first, each once: redacted as the ledger keeps it. */
export async function saidBefore(ledger: Ledger): Promise<Recalled[]> {
  const said = new Map<string, Recalled>();
  for (const row of await ledger.runs({ roots: true, limit: limits.chatHistory })) {
    const started = await startOfRun(ledger, row).catch(() => undefined);
    if (started?.origin.kind !== 'person') continue;
    const { input } = started;
    const text = typedText(started);
    if (text.trim() !== '' && input.role === 'user' && !said.has(text)) said.set(text, () => saidAgain(input));
  }
  return [...said.values()];
}

/** Root runs of the session that somebody else started since, oldest first. */
export async function meanwhile({ project, session, seen }: Chat): Promise<readonly RunRow[]> {
  if (session === undefined) return [];
  const rows = await project.ledger.runs({ session, roots: true, limit: limits.chatHistory });
  const known = rows.findIndex(({ run }) => run === seen);
  return rows.slice(0, known === -1 ? 0 : known).toReversed();
}

/** In billionths of a dollar, what was cut off included: as budgets count it. */
export async function spentSoFar({ project, session }: Chat): Promise<number> {
  if (session === undefined) return 0;
  const { total, inDoubt } = await foldSession(project.ledger, session, initialCosts(), foldCosts);
  return total.nanoUsd + inDoubt.nanoUsd;
}
