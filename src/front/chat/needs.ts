/**
 * What programs talk with agents through: chat programs and other front-ends, each by a protocol of its own. Here is what they
 * have in common; how it goes over a wire is the protocol's.
 *
 * - C1 A prompt is a root run of its caller. What was heard is in the ledger before the program hears of it.
 * - C2 A conversation is a session, and one caller's alone. What somebody else has is not there.
 * - C3 Whatever is said to a run that asks something is the answer to it; a permission is never given by words.
 * - C4 All runs of a caller through a door share one budget a day, held before a model is asked, by whichever process.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { Clock } from '../../base/clock.ts';
import type { Ids } from '../../base/ids.ts';
import { oneAtATime } from '../../base/one-at-a-time.ts';
import type { Engine } from '../../engine/port.ts';
import type { ClientRights } from '../../events/assistants.ts';
import type { Budget } from '../../events/catalogue.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { GivenRole } from '../roles.ts';
import type { Seer } from '../sight.ts';
import type { HearWords } from './heard-words.ts';

/** By what they come in. */
export type ChatDoor = 'openai' | 'agui';

export interface ChatSettings {
  /** Whom one may talk with through this door; without it every agent that the caller may spawn. */
  readonly agents?: readonly string[] | undefined;
  /** What each caller may use in a day. */
  readonly budget?: ChatBudget | undefined;
  /** The same for some of them, by their names. */
  readonly budgets?: Readonly<Record<string, ChatBudget>> | undefined;
}

export type ChatBudget = Pick<Budget, 'usd' | 'tokens' | 'calls'>;

export interface ChatNeeds {
  readonly door: ChatDoor;
  readonly settings: ChatSettings;
  readonly engine: Engine;
  readonly ledger: Ledger;
  readonly agents: { list(): Promise<readonly AgentDefinition[]> };
  readonly hear: HearWords;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  readonly workspace: string;
  /** Where a person answers what is asked. */
  answerLink(wait: { readonly run: string; readonly wait: string }): string;
  /** Aborts when the server stops: whoever follows is left, and what was followed goes on. */
  readonly stopping: AbortSignal;
  /** One after the other for each session: what has begun counts before the next is looked at. */
  readonly inTurn: ReturnType<typeof oneAtATime>;
}

/** Who asks. */
export interface ChatCaller extends Seer {
  readonly role?: GivenRole | undefined;
  readonly rights?: ClientRights | undefined;
  readonly workspace?: string | undefined;
}

export const createChat = (needs: Omit<ChatNeeds, 'inTurn'>): ChatNeeds => ({ ...needs, inTurn: oneAtATime() });

/** Those that this caller may talk with here. */
export async function openAgents({ agents, settings }: ChatNeeds, { rights }: ChatCaller): Promise<readonly AgentDefinition[]> {
  const isOpen = (name: string): boolean => (settings.agents?.includes(name) ?? true) && (rights?.spawn?.includes(name) ?? true);
  return (await agents.list()).filter(({ name }) => isOpen(name));
}
