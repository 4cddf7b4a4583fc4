/**
 * The API as the console asks it. What is refused is a value, with words for whoever looks; a write carries the key that the
 * login left with this page, and an Idempotency-Key: the same when somebody asks for the same before it was answered, so that a
 * button that is pressed twice, or again because nobody answered, does nothing twice.
 */
import { present } from '../../src/base/present.ts';
import { fail, ok, type Result } from '../../src/base/result.ts';
import type { Payloads } from '../../src/events/catalogue.ts';
import { isFile, keptHere } from './kept.ts';

export interface Refusal {
  /** 0 when nobody answered. */
  readonly status: number;
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
  /** Who was first, where an answer came too late. */
  readonly first?: FirstAnswer | undefined;
}

/** Of several answers the first counts: whose it was. */
export type FirstAnswer = Pick<Payloads['approval.answered'], 'answer' | 'by' | 'where'> & { readonly at: string };

export type Asked<Value> = Promise<Result<Value, Refusal>>;

export const API = '/api/v1';
const KEY = 'troupe-key';

/** `undefined` values are left out. */
export type Query = Readonly<Record<string, string | number | undefined>>;

export function addressIn(path: string, query: Query = {}): string {
  const words = Object.entries(query).flatMap(([name, value]) => (value === undefined ? [] : [[name, String(value)]]));
  return `${API}${path}${words.length === 0 ? '' : `?${new URLSearchParams(words)}`}`;
}

export const get = <Value>(path: string, query?: Query, signal?: AbortSignal): Asked<Value> => {
  const kept = keptHere();
  return kept === undefined ? ask(addressIn(path, query), present({ signal })) : (kept.get(path, query ?? {}) as Asked<Value>);
};

export const post = <Value>(path: string, body: unknown = {}): Asked<Value> =>
  write(path, { method: 'POST', body: JSON.stringify(body) }, { 'content-type': 'application/json' });

export const remove = <Value>(path: string): Asked<Value> => write(path, { method: 'DELETE' }, {});

interface Unanswered {
  readonly key: string;
  /** `undefined` when it has ended, and nobody knows whether it was done. */
  readonly underWay: Asked<unknown> | undefined;
}

const unanswered = new Map<string, Unanswered>();
const UNANSWERED = 100;

function write<Value>(path: string, how: RequestInit, more: Readonly<Record<string, string>>): Asked<Value> {
  if (isFile()) return Promise.resolve(fail(notInFile));
  const same = JSON.stringify([how.method, path, how.body]);
  const { key = crypto.randomUUID(), underWay } = unanswered.get(same) ?? {};
  if (underWay !== undefined) return underWay as Asked<Value>;
  const headers = { ...more, 'x-troupe-key': localStorage.getItem(KEY) ?? '', 'idempotency-key': key };
  const asked = ask<Value>(addressIn(path), { ...how, headers }).then((answer) => {
    unanswered.delete(same);
    if (!answer.ok && isUnknown(answer.error)) unanswered.set(same, { key, underWay: undefined });
    for (const oldest of unanswered.keys()) if (unanswered.size > UNANSWERED) unanswered.delete(oldest);
    return answer;
  });
  unanswered.set(same, { key, underWay: asked });
  return asked;
}

/** Nobody answered, or a proxy did, or a server that went wrong in the middle of it. */
const isUnknown = ({ status }: Refusal): boolean => status === 0 || status >= 500;

async function ask<Value>(address: string, options: RequestInit): Asked<Value> {
  try {
    const response = await fetch(address, { credentials: 'same-origin', ...options });
    if (!response.ok) return fail(await refusalIn(response));
    return ok((await response.json()) as Value);
  } catch (error) {
    return fail(unreachable(error));
  }
}

export async function refusalIn(response: Response): Promise<Refusal> {
  const said = (await response.json().catch(() => undefined)) as { error?: Partial<Refusal> } | undefined;
  const { code = 'unknown', message = `The server answered with ${response.status}.`, fix, first } = said?.error ?? {};
  return { status: response.status, code, message, fix, first };
}

export const notInFile: Refusal = {
  status: 404,
  code: 'not_in_file',
  message: 'This is a file: it holds what one session left behind, and nothing else.',
  fix: 'Where the session was, `troupe serve --open` shows all of it.',
};

export const unreachable = (error: unknown): Refusal => ({
  status: 0,
  code: error instanceof DOMException && error.name === 'AbortError' ? 'aborted' : 'unreachable',
  message: 'The server does not answer.',
  fix: 'See whether `troupe serve` still runs; this page goes on by itself when it does.',
});
