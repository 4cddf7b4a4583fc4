/** Asks for a card, once: bounded in time and bytes, whoever answers. */
import { A2A_PROTOCOL_VERSION, A2A_VERSION_HEADER } from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { namesInside } from '../../network/addresses.ts';
import { type Arrival, followRequest } from '../../network/follow.ts';
import { type CardPorts, type CardSource, type KeptCard, type RefusedCard, refusedCard } from './port.ts';

export type Fetched =
  | { readonly state: 'came'; readonly card: KeptCard; readonly mayKeep: boolean }
  | RefusedCard
  /** Also when it is there and does not work as it is. */
  | { readonly state: 'unreachable'; readonly reason: string };

const JSON_TYPE = /^(?:application|text)\/(?:[\w.-]+\+)?json\s*(?:;|$)/i;
const TRY_LATER = new Set([408, 425, 429]);

export async function fetchCard(source: CardSource, ports: CardPorts, kept: KeptCard | undefined): Promise<Fetched> {
  const { address, headers } = source;
  const patience = new AbortController();
  const forget = ports.clock.after(limits.cardMs, () => patience.abort(new Error(SLOW)), 'hold');
  const allowPrivate = ports.allowPrivate === true;
  const isInside = namesInside(address.hostname);
  try {
    const came = await followRequest({
      ...{ start: address.href, method: 'GET', maxBytes: limits.cardBytes, ownHeaders: headers },
      headers: { accept: 'application/json', [A2A_VERSION_HEADER]: A2A_PROTOCOL_VERSION, ...validators(kept) },
      // What the owner wrote is meant. Where it leads is a stranger's word.
      allowLocal: (url) => allowPrivate || (isInside && url.host === address.host),
      refuses: (next, from) =>
        from.protocol === 'https:' && next.protocol === 'http:'
          ? `${from.href} leads on from https to plain http, to ${next.host}`
          : undefined,
      addresses: ports.addresses,
      signal: ports.signal === undefined ? patience.signal : AbortSignal.any([ports.signal, patience.signal]),
    });
    if (patience.signal.aborted) return { state: 'unreachable', reason: SLOW };
    if (came.ok) return judged(came.value, ports.clock.now(), kept);
    return came.error.kind === 'failed'
      ? { state: 'unreachable', reason: came.error.message }
      : refusedCard(came.error.message, isInside || allowPrivate ? CHECK_ADDRESS : INSIDE);
  } finally {
    forget();
  }
}

const SLOW = `the card did not come within ${limits.cardMs / 1_000} s (cardMs)`;
const CHECK_ADDRESS = 'name the address where the card itself is';
const INSIDE = 'if it is in your own network, name it by its address or by a name that only exists there';

function validators(kept: KeptCard | undefined): Readonly<Record<string, string>> {
  if (kept?.etag !== undefined) return { 'if-none-match': kept.etag };
  return kept?.lastModified === undefined ? {} : { 'if-modified-since': kept.lastModified };
}

function judged({ url, response }: Arrival, now: number, kept: KeptCard | undefined): Fetched {
  const { status, headers, body, cut } = response;
  if (status === 304 && kept !== undefined) return came(kept, headers, now);
  if (status >= 500 || TRY_LATER.has(status)) return { state: 'unreachable', reason: `${url.href} answered ${status}` };
  if (status === 401 || status === 403)
    return refusedCard(`${url.href} answered ${status}: it does not know you, or not well enough`, TOKEN);
  if (status !== 200) return refusedCard(`${url.href} answered ${status}`, WELL_KNOWN);
  const type = headers.get('content-type') ?? '';
  if (!JSON_TYPE.test(type))
    return refusedCard(`${url.href} is not a card but ${type.slice(0, 100) || 'something without a type'}`, WELL_KNOWN);
  if (cut)
    return refusedCard(`the card is longer than ${limits.cardBytes} bytes (cardBytes)`, 'ask whoever runs it for a shorter one');
  return came({ text: new TextDecoder().decode(body) }, headers, now);
}

const TOKEN =
  'give the token that it wants: `token:` in the agent file (--token-env), with its value in the environment or in .env';
const WELL_KNOWN = 'give the address of the card; it usually ends in /.well-known/agent-card.json';

function came(
  { text, ...before }: Pick<KeptCard, 'text' | 'etag' | 'lastModified'>,
  headers: Arrival['response']['headers'],
  now: number,
): Fetched {
  const said = (headers.get('cache-control') ?? '')
    .toLowerCase()
    .split(',')
    .map((one) => one.trim());
  const seconds = Number(/^max-age="?(\d{1,10})"?$/.exec(said.find((one) => one.startsWith('max-age')) ?? '')?.[1] ?? 0);
  const age = Number(/^\d{1,10}$/.exec(headers.get('age') ?? '')?.[0] ?? 0);
  const asksAgain = said.includes('no-cache');
  const freshMs = asksAgain ? 0 : Math.min(Math.max(0, seconds - age) * 1_000, limits.cardFreshMs);
  const etag = headers.get('etag') ?? before.etag;
  const lastModified = headers.get('last-modified') ?? before.lastModified;
  return {
    state: 'came',
    card: {
      ...{ text, seenAt: now, freshUntil: now + freshMs, standsIn: !asksAgain && !said.includes('must-revalidate') },
      ...present({ etag, lastModified }),
    },
    mayKeep: !said.includes('no-store'),
  };
}
