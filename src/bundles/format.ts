/**
 * What a bundle is made of: names of its entries, and what the small files among them hold. All of it is the file format; a
 * reader takes what it knows and refuses a version that it does not.
 */
import { z } from 'zod';
import type { EventId, PayloadRef, RunId, SessionId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import { type EventType, isEventType } from '../events/catalogue.ts';
import { type Actor, actor, SCHEMA_VERSION } from '../events/envelope.ts';
import { badBundle, newerBundle } from './refusals.ts';
import { quotedName } from './tar.ts';

export const BUNDLE_FORMAT = 'troupe-bundle';
export const BUNDLE_VERSION = 1;

/** The first entry says what the file is, the last ones whether it is whole. */
export const entryNames = {
  first: 'troupe-bundle.json',
  checksums: 'checksums.txt',
  manifest: 'manifest.json',
  signature: 'signature.json',
} as const;

const PAYLOAD = /^payloads\/([0-9a-f]{64})$/;
const PAGE = /^sessions\/(ses_[0-9a-z]{1,40})\/events-(\d{6})\.jsonl$/;
const AGENT = /^agents\/[\w-][\w.-]{0,70}$/;

export const payloadEntry = (ref: PayloadRef): string => `payloads/${ref}`;
export const pageEntry = (session: SessionId, page: number): string =>
  `sessions/${session}/events-${String(page).padStart(6, '0')}.jsonl`;
export const agentEntry = (name: string): string => `agents/${name.replace(/[^\w.-]/g, '_').slice(0, 60)}.md`;

export type NamedEntry =
  | { readonly kind: 'first' | 'checksums' | 'manifest' | 'signature' | 'agent' }
  | { readonly kind: 'payload'; readonly ref: PayloadRef }
  | { readonly kind: 'page'; readonly session: SessionId; readonly page: number };

/** Names that lead out of a folder, like all others that are not written here, have no place in a bundle. */
export function entryOf(name: string): NamedEntry {
  for (const kind of ['first', 'checksums', 'manifest', 'signature'] as const) if (name === entryNames[kind]) return { kind };
  const ref = PAYLOAD.exec(name)?.[1];
  if (ref !== undefined) return { kind: 'payload', ref: ref as PayloadRef };
  const [, session, page] = PAGE.exec(name) ?? [];
  if (session !== undefined) return { kind: 'page', session: session as SessionId, page: Number(page) };
  if (AGENT.test(name)) return { kind: 'agent' };
  if (name.startsWith('/') || name.split('/').includes('..')) throw badBundle(`${quotedName(name)} leads out of the folder`);
  throw badBundle(`${quotedName(name)} has no place in it`);
}

/** How large an entry may be, and the limit that says so. */
export function mostBytes(name: string): { readonly bytes: number; readonly limit: string } {
  const limit = LIMITS[entryOf(name).kind];
  return { bytes: limits[limit], limit };
}

const LIMITS = {
  first: 'bundleNoteBytes',
  signature: 'bundleNoteBytes',
  checksums: 'bundleListBytes',
  manifest: 'bundleListBytes',
  agent: 'bundleAgentBytes',
  payload: 'payloadBytes',
  page: 'bundlePageReadBytes',
} as const;

export const firstSchema = z.object({ format: z.literal(BUNDLE_FORMAT), version: z.number().int(), troupe: z.string().max(40) });

const hash = z.string().regex(/^[0-9a-f]{64}$/);
const sessionId = z.string().regex(/^ses_[0-9a-z]{1,40}$/);

const bundledSession = z.object({
  session: sessionId,
  events: z.number().int().positive(),
  runs: z.number().int().positive(),
  /** The hash of its last event, as the events are in the bundle. */
  chain: hash,
  /** The same in the ledger that it came from: another one when something sealed was left out. */
  source: hash,
  /** Events whose exact payload was left out because a secret is sealed in it. */
  sealed: z.number().int().nonnegative(),
  /** Attachments that were collected before, by their names. */
  gone: z.array(hash),
});
export type BundledSession = z.infer<typeof bundledSession>;

export const manifestSchema = firstSchema.extend({
  sessions: z.array(bundledSession).min(1).max(limits.bundleSessions),
  /** Files of agents as they were beside the ledger at the export: for reading, they are not installed. */
  agents: z.array(z.object({ agent: z.string(), entry: z.string() })),
  /** How many entries the list of checksums has, and its own. */
  entries: z.number().int().positive(),
  checksums: hash,
});
export type BundleManifest = z.infer<typeof manifestSchema>;

export const signatureSchema = z.object({
  algorithm: z.literal('ed25519'),
  /** Of what is signed: the manifest, which has the checksum of everything else. */
  manifest: hash,
  /** The public key, in base64 (SPKI). It says who signed, never that they are to be trusted. */
  key: z.string().max(200),
  signature: z.string().max(200),
});

/** In the place of an exact payload. It opens with no key: `ledger/seals/seal.ts` says why. */
const text = z.string().max(200).nullable();
const eventLine = z.object({
  event_id: z.string().transform((id) => id as EventId),
  parent_event_id: z
    .string()
    .transform((id) => id as EventId)
    .nullable(),
  session_id: sessionId.transform((id) => id as SessionId),
  run_id: z
    .string()
    .regex(/^run_[0-9a-z]{1,60}$/)
    .transform((id) => id as RunId),
  timestamp: z.iso.datetime(),
  actor: actor.transform((who) => who as Actor),
  tool: text,
  event_type: z.string().transform((type, { addIssue }) => {
    if (isEventType(type)) return type as EventType;
    addIssue(`its type ${quotedName(type)} is unknown`);
    return z.NEVER;
  }),
  payload_ref: hash.transform((ref) => ref as PayloadRef),
  attachment_ref: hash.transform((ref) => ref as PayloadRef).nullable(),
  step: z.string().max(2000).nullable(),
  schema_version: z.number().int(),
  position: z.number().int().positive(),
  chain: hash,
  /** What the payload is called where it came from, when its exact form was left out. */
  source_ref: hash.optional(),
  /** Absent when it is an entry of its own. */
  payload: z.unknown().optional(),
});
export type EventLine = z.infer<typeof eventLine>;

export function parsedLine(value: unknown, place: string): EventLine {
  const parsed = eventLine.safeParse(value);
  if (!parsed.success) throw badBundle(`${place} is no event: ${parsed.error.issues[0]?.message ?? ''}`);
  if (parsed.data.schema_version > SCHEMA_VERSION) throw newerBundle(`${place} has version ${parsed.data.schema_version}`);
  return parsed.data;
}
