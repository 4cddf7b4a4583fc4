/**
 * Cards over HTTP. They may be kept for a moment and asked about by their tag. Who names no version may be of either: such a one
 * gets what both say, in one card.
 */
import { createHash } from 'node:crypto';
import { A2A_VERSION_HEADER, AgentCard } from '@a2a-js/sdk';
import { ServerCallContext } from '@a2a-js/sdk/server';
import { isJsonObject, type JsonObject } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { cardOf, LEGACY, type ServedPlace } from '../a2a/cards.ts';
import type { Door } from '../a2a/doors.ts';
import type { A2aNeeds } from '../a2a/needs.ts';
import type { SignCard } from '../a2a/sign-card.ts';
import { nothingHere, versionIn } from './call.ts';

/** When each card was first served as it is: of cards the last change is not known, and this is never too early. */
const since = new WeakMap<A2aNeeds, Map<string, { readonly tag: string; readonly at: number }>>();

export async function serveCard(
  needs: A2aNeeds,
  request: Request,
  door: Door | undefined,
  place: ServedPlace,
  sign: SignCard,
): Promise<Response> {
  const card = door === undefined ? undefined : await cardOf(needs, door, place);
  if (card === undefined) return nothingHere();
  const text = JSON.stringify(await written(await sign(card), versionIn(request)));
  const tag = `"${createHash('sha256').update(text).digest('hex').slice(0, 32)}"`;
  const headers = {
    'content-type': 'application/json',
    'cache-control': `public, max-age=${limits.a2aCardSeconds}`,
    etag: tag,
    'last-modified': new Date(changedAt(needs, request.url, tag)).toUTCString(),
    vary: A2A_VERSION_HEADER,
  };
  const known =
    request.headers
      .get('if-none-match')
      ?.split(',')
      .map((one) => one.trim().replace(/^W\//, '')) ?? [];
  if (known.includes(tag) || known.includes('*')) return new Response(null, { status: 304, headers });
  return new Response(request.method === 'HEAD' ? null : text, { headers });
}

function changedAt(needs: A2aNeeds, url: string, tag: string): number {
  const cards = since.get(needs) ?? new Map<string, { readonly tag: string; readonly at: number }>();
  since.set(needs, cards);
  const before = cards.get(url);
  if (before?.tag === tag) return before.at;
  if (cards.size >= limits.a2aAgents) cards.clear();
  const at = needs.clock.now();
  cards.set(url, { tag, at });
  return at;
}

async function written(card: AgentCard, version: string): Promise<JsonObject> {
  const now = AgentCard.toJSON(card) as JsonObject;
  if (version !== '' && version !== LEGACY) return now;
  const older = await legacyCard(card);
  if (version === LEGACY) return older;
  return {
    ...older,
    ...now,
    securitySchemes: merged(older['securitySchemes'], now['securitySchemes']),
    skills: merged(older['skills'], now['skills']),
  };
}

/** In the words of the older version, by the SDK's own translation, which it has only behind this method. */
async function legacyCard(card: AgentCard): Promise<JsonObject> {
  const { LegacyRestTransportHandler } = await import('@a2a-js/sdk/compat/v0_3/server');
  const handler = { getAuthenticatedExtendedAgentCard: async () => card } as unknown as ConstructorParameters<
    typeof LegacyRestTransportHandler
  >[0];
  return {
    ...(await new LegacyRestTransportHandler(handler).getAuthenticatedExtendedAgentCard(new ServerCallContext())),
  } as unknown as JsonObject;
}

/** What both have, entry by entry. */
function merged(older: unknown, now: unknown): JsonObject[string] {
  if (Array.isArray(older) && Array.isArray(now)) return now.map((one, index) => merged(older[index], one) ?? null);
  if (!isJsonObject(older) || !isJsonObject(now)) return (now ?? older ?? undefined) as JsonObject[string];
  const keys = new Set([...Object.keys(older), ...Object.keys(now)]);
  return Object.fromEntries([...keys].map((key) => [key, merged(older[key], now[key])]));
}
