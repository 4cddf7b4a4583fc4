/**
 * Ids: branded, prefixed, sortable by the time they were made. `ses_01k9…` is a session, `run_01k9…` a run.
 * Child runs derive their id from the parent's id and the step that started them, so a resumed parent finds the same child.
 */
import { createHash } from 'node:crypto';
import type { Clock } from './clock.ts';
import type { Random } from './random.ts';

/** `ses_…`: a stream of events, in which one run follows the other. */
export type SessionId = string & { readonly __brand: 'SessionId' };
/** `run_…`: one agent at work on one request. */
export type RunId = string & { readonly __brand: 'RunId' };
/** `thr_…`, with the rest of its owner's run id. */
export type ThreadId = string & { readonly __brand: 'ThreadId' };
/** `<session id>.<position>`: unique overall, ordered within its session, and the id that event streams resume from. */
export type EventId = string & { readonly __brand: 'EventId' };
/** SHA-256 of a payload's bytes, in hexadecimal. */
export type PayloadRef = string & { readonly __brand: 'PayloadRef' };

/** Crockford's alphabet: no i, l, o or u, so that ids survive being read aloud. */
const ALPHABET = '0123456789abcdefghjkmnpqrstvwxyz';
const TIME_CHARACTERS = 10;
const CHANCE_CHARACTERS = 10;

export interface Ids {
  session(): SessionId;
  run(): RunId;
  /** A short unguessable word, for fences around untrusted text and for owners of leases. */
  nonce(): string;
}

export function createIds(clock: Clock, random: Random): Ids {
  const mint = (prefix: string): string => prefix + encodeTime(clock.now()) + encodeBytes(random.bytes(CHANCE_CHARACTERS));
  return {
    session: () => mint('ses_') as SessionId,
    run: () => mint('run_') as RunId,
    nonce: () => encodeBytes(random.bytes(12)),
  };
}

export const childRunId = (parent: RunId, step: string): RunId => runIdFrom(`${parent}/${step}`);

/** In a session that was forked: the run that stands there for this one. */
export const forkedRunId = (session: string, of: string): RunId => runIdFrom(`${session}/${of}`);

/** The same run for the same words: for whoever must find again what it started. */
export function runIdFrom(words: string): RunId {
  const digest = createHash('sha256').update(words).digest();
  return `run_${encodeBytes(digest.subarray(0, TIME_CHARACTERS + CHANCE_CHARACTERS))}` as RunId;
}

export function eventId(session: SessionId, position: number): EventId {
  return `${session}.${position}` as EventId;
}

/** The position part of an event id; `undefined` when the text is not one. */
export function eventPosition(id: string): number | undefined {
  const match = /^ses_[0-9a-z]+\.(\d{1,15})$/.exec(id);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

/** The thread of a run: the messages that it shares with its parent, its siblings and its children. */
export function threadOf(run: RunId): ThreadId {
  return run.replace(/^run_/, 'thr_') as ThreadId;
}

/** The run that owns a thread; `undefined` when the text is not the id of one. */
export function threadOwner(thread: string): RunId | undefined {
  return /^thr_[0-9a-z]+$/.test(thread) ? (thread.replace(/^thr_/, 'run_') as RunId) : undefined;
}

/** The end of an id, enough for a person to tell runs apart. */
export function shortId(id: string): string {
  return id.slice(-6);
}

function encodeTime(milliseconds: number): string {
  let rest = Math.max(0, Math.floor(milliseconds));
  let text = '';
  for (let index = 0; index < TIME_CHARACTERS; index += 1) {
    text = ALPHABET.charAt(rest % 32) + text;
    rest = Math.floor(rest / 32);
  }
  return text;
}

/** One character per byte: the low five bits. */
function encodeBytes(bytes: Uint8Array): string {
  let text = '';
  for (const byte of bytes) text += ALPHABET.charAt(byte & 31);
  return text;
}
