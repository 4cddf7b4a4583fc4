/**
 * The card of an agent that lives elsewhere: fetched, checked, kept for as long as its server says, and held against the owner's
 * pin and key. While the server is down a kept card stands in. Never throws for what a server does.
 */

import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import { namesLoopback } from '../../network/addresses.ts';
import { ONCE } from '../a2a/once.ts';
import { checkCard } from './check-card.ts';
import { chooseInterface, saysWho } from './choose-interface.ts';
import { fetchCard } from './fetch-card.ts';
import { type CardOutcome, type CardPorts, type CardSource, type KeptCard, type ReadCard, refusedCard } from './port.ts';
import { signatureProblem } from './verify-card.ts';

export async function readCard(source: CardSource, ports: CardPorts): Promise<CardOutcome> {
  return bounded(await read(source, ports));
}

async function read(source: CardSource, ports: CardPorts): Promise<CardOutcome> {
  const seen = secretsInTheClear(source);
  if (seen !== undefined) return seen;
  const { clock, kept } = ports;
  const address = source.address.href;
  const there = await kept.get(address);
  const now = clock.now();
  // Whatever is wrong with a kept card, the server may have a better one by now.
  const known = there === undefined ? undefined : judge(there.text, source, ports);
  const usable = there !== undefined && known?.state === 'read' ? { card: there, outcome: known } : undefined;
  if (usable !== undefined && ports.ask === undefined && isFresh(usable.card, now)) return usable.outcome;
  const fetched = await fetchCard(source, ports, usable?.card);
  if (fetched.state === 'refused') return fetched;
  if (fetched.state === 'unreachable') return standIn(usable, fetched.reason, clock.now());
  const outcome = judge(fetched.card.text, source, ports);
  // A card that is not taken does not push out the one that was.
  if (outcome.state === 'read') await (fetched.mayKeep ? kept.put(address, fetched.card) : kept.drop(address));
  return outcome;
}

/** Whatever is spoken in the clear on another machine is at an address of plain http: no card leads from https to it. */
function secretsInTheClear({ address, headers, plain }: CardSource): CardOutcome | undefined {
  if (address.protocol === 'https:' || namesLoopback(address.hostname) || plain === true || !saysWho(headers)) return undefined;
  return refusedCard(
    `${address.origin} is another machine and is spoken to in the clear: the token could be read on the way`,
    'use https; where the network between is your own, write `plain: true` under `a2a:`',
  );
}

/** A clock that was set back must not make a card fresh for years. */
function isFresh({ seenAt, freshUntil }: KeptCard, now: number): boolean {
  return seenAt <= now && now < freshUntil && freshUntil - seenAt <= limits.cardFreshMs;
}

interface Usable {
  readonly card: KeptCard;
  readonly outcome: ReadCard;
}

function standIn(usable: Usable | undefined, reason: string, now: number): CardOutcome {
  if (usable === undefined) return { state: 'unreachable', reason };
  const { seenAt, standsIn } = usable.card;
  if (!standsIn) return { state: 'unreachable', reason };
  if (now - seenAt > limits.cardKeptMs)
    return { state: 'unreachable', reason: `${reason}; the card that is kept is older than ${HOURS} hours (cardKeptMs)` };
  return { ...usable.outcome, standIn: { seenAt, reason } };
}

const HOURS = limits.cardKeptMs / 3_600_000;

function judge(text: string, source: CardSource, ports: CardPorts): CardOutcome {
  const checked = checkCard(text);
  if (!checked.ok)
    return refusedCard(
      `this is not a card of an agent: ${checked.error}`,
      'ask whoever runs the agent for a card of A2A 1.0 or 0.3',
    );
  const { card, hash } = checked.value;
  if (source.pin !== undefined && source.pin.toLowerCase() !== hash)
    return refusedCard(
      `the card is not the one that was pinned: its hash is ${hash}, pinned is ${source.pin}`,
      `look at what has changed; if it is right, write pin: ${hash}`,
    );
  const unsigned = source.key === undefined ? undefined : signatureProblem(card, source.key);
  if (unsigned !== undefined)
    return refusedCard(`the card is not to be trusted: ${unsigned}`, 'ask whoever runs the agent for its key');
  const strange = extensionProblem(card, source);
  if (strange !== undefined) return strange;
  const chosen = chooseInterface(card, source, ports.allowPrivate === true);
  return chosen.ok ? { state: 'read', card, hash, interface: chosen.value } : refusedCard(chosen.error.reason, chosen.error.fix);
}

/** What the agent demands must be spoken, and what the owner demands must be there: the owner says that both know it. */
function extensionProblem({ capabilities }: ReadCard['card'], { extensions: wanted = [] }: CardSource): CardOutcome | undefined {
  const named = capabilities?.extensions ?? [];
  const demanded = named.find(({ uri, required }) => required && uri !== ONCE && !wanted.includes(uri));
  if (demanded !== undefined)
    return refusedCard(
      `the agent demands the extension ${JSON.stringify(demanded.uri.slice(0, 200))}, which is not spoken here`,
      'ask whoever runs the agent for a card without it, or name it under extensions if you know that it changes nothing',
    );
  const missing = wanted.find((uri) => !named.some((one) => one.uri === uri));
  if (missing === undefined) return undefined;
  return refusedCard(
    `the card does not name the extension ${JSON.stringify(missing.slice(0, 200))}, which is demanded of it`,
    'ask whoever runs the agent for it, or take it out of extensions',
  );
}

/** Reasons hold what strangers wrote. */
function bounded(outcome: CardOutcome): CardOutcome {
  const cut = (text: string): string => startOf(text, limits.cardReasonCharacters).toWellFormed();
  if (outcome.state === 'read')
    return outcome.standIn === undefined
      ? outcome
      : { ...outcome, standIn: { ...outcome.standIn, reason: cut(outcome.standIn.reason) } };
  return { ...outcome, reason: cut(outcome.reason) };
}
