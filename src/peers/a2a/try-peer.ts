/** Whether an agent that lives elsewhere can be talked to: its card, its pin, and whether who we say we are is believed. */
import type { AgentCard } from '@a2a-js/sdk';
import type { RemoteAgent } from '../../agents/definition/remote.ts';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { keepsNoCards } from '../cards/kept-cards.ts';
import type { CardInterface } from '../cards/port.ts';
import { readCard } from '../cards/read-card.ts';
import { connect, wayProblem } from './connect.ts';
import { withinTime } from './exchange.ts';
import { classified, isNoTask } from './failures.ts';
import { filledHeaders } from './headers.ts';

export type TriedPeer =
  | { readonly state: 'answers'; readonly card: AgentCard; readonly hash: string; readonly interface: CardInterface }
  | { readonly state: 'broken'; readonly reason: string; readonly fix: string };

/** Of a task that nobody has. */
const NO_TASK = 'troupe-doctor-asks-for-a-task-that-is-none';

export async function tryPeer(
  remote: RemoteAgent,
  { clock, env }: { readonly clock: Clock; readonly env: Environment },
): Promise<TriedPeer> {
  const headers = filledHeaders(remote, env);
  if (!headers.ok) return broken(headers.error.message, headers.error.fix ?? SEE);
  const { pin, plain, binding, key, extensions } = remote;
  const source = { address: new URL(remote.card), headers: headers.value, pin, plain, binding, key, extensions };
  const outcome = await readCard(source, { clock, kept: keepsNoCards });
  if (outcome.state === 'unreachable') return broken(outcome.reason, SEE);
  if (outcome.state === 'refused') return broken(outcome.reason, outcome.fix);
  const { card, hash, interface: chosen } = outcome;
  const problem = await wayProblem(chosen);
  if (problem !== undefined) return broken(`${chosen.url}: ${problem.message}`, SEE);
  try {
    const client = await connect(card, chosen);
    await withinTime({ clock, headers: headers.value }, limits.doctorPeerMs, undefined, (options) =>
      client.getTask({ tenant: '', id: NO_TASK, historyLength: 0 }, options),
    );
  } catch (error) {
    const { kind, message } = classified(error).failure;
    // Whoever says that there is no such task, or finds fault with the question, has let us in.
    if (!isNoTask(error) && kind !== 'invalid_request') return broken(`${chosen.url}: ${message}`, kind === 'auth' ? LOGIN : SEE);
  }
  return { state: 'answers', card, hash, interface: chosen };
}

const broken = (reason: string, fix: string): TriedPeer => ({ state: 'broken', reason, fix });
const SEE = 'see whether it runs, and whether the address in its file is right';
const LOGIN = 'give the token that it wants: `token:` in its file names the variable, and that holds the token';
