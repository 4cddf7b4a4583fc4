/**
 * Whatever a provider throws or streams as an error, as a `ModelFailure` with a kind. The kind decides what happens next:
 * wait, try another model, or give up. Nothing here throws, and no message contains a key.
 */
import type { Clock } from '../base/clock.ts';
import { codeOf, messageOf } from '../base/errors.ts';
import { isJsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { createRedactor } from '../base/secrets/redact.ts';
import { startOf } from '../base/whole-words.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import { retryAfterMs } from './retry-after.ts';

export interface FailureContext {
  /** For messages: `anthropic`, or the name given in the config. */
  readonly provider: string;
  readonly clock: Clock;
  /** Never shown, even when a server sends them back. */
  readonly secrets: readonly string[];
}

/** What the providers' errors have in common, read from any object. */
interface Facts {
  readonly message: string;
  readonly type: string;
  readonly status: number | undefined;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly codes: readonly string[];
}

type Kind = ModelFailure['kind'];

export function toFailure(error: unknown, context: FailureContext): ModelFailure {
  const facts = factsOf(error);
  const kind = kindOf(facts);
  const failure: ModelFailure = { kind, message: describe(kind, facts, context) };
  if (kind === 'auth' && isUsedUp(facts)) failure.fix = USED_UP_FIX;
  if (facts.status !== undefined && facts.status >= 300) failure.status = facts.status;
  if (kind === 'rate_limited' || kind === 'overloaded') {
    const wait = retryAfterMs(facts.headers, context.clock);
    if (wait !== undefined) failure.retryAfterMs = Math.ceil(wait);
  }
  if (kind === 'network' && facts.codes.some((code) => NO_CONNECTION.test(code))) failure.unsent = true;
  if (kind === 'network' && facts.codes.some((code) => NOT_TRUSTED.test(code))) failure.lasting = true;
  return failure;
}

export function timeoutFailure(what: 'total' | 'idle', milliseconds: number): ModelFailure {
  const seconds = Math.round(milliseconds / 100) / 10;
  const message =
    what === 'total'
      ? `The model did not answer within ${seconds} s (llmTimeout).`
      : `The model sent nothing for ${seconds} s in the middle of its answer (limit modelIdleMs).`;
  return { kind: 'timeout', message };
}

export const cancelledFailure: ModelFailure = { kind: 'cancelled', message: 'The call was cancelled.' };
export const unsentFailure: ModelFailure = { ...cancelledFailure, unsent: true };

/** What a provider refuses before it generates anything, so that nobody is charged for it. */
const REFUSED: ReadonlySet<Kind> = new Set(['auth', 'invalid_request', 'context_overflow', 'rate_limited', 'script_ended']);
/** Statuses of an overloaded provider that turns a request away at the door; behind any other it may have worked on it. */
const TURNED_AWAY: ReadonlySet<number> = new Set([409, 425, 503, 529]);

/** Whether a call that failed certainly cost nothing. When in doubt, it may have. */
export function costNothing({ kind, status = 0, unsent, begun }: ModelFailure): boolean {
  if (unsent === true) return true;
  if (begun === true) return false;
  return REFUSED.has(kind) || (kind === 'overloaded' && TURNED_AWAY.has(status));
}

/** Statuses of a provider, or of what stands before it, that is not there just now. */
const NOT_THERE: ReadonlySet<number> = new Set([408, 502, 503, 504, 529]);

/** Whether nobody is there to answer anybody, for now: no connection, no answer in time, a server that is down or has no room. */
export function isOutage({ kind, status, begun, lasting }: ModelFailure): boolean {
  if (begun === true || lasting === true) return false;
  if (kind !== 'network' && kind !== 'timeout' && kind !== 'overloaded') return false;
  return status === undefined || NOT_THERE.has(status);
}

/** How providers say that the prompt does not fit. */
const OVERFLOW = new RegExp(
  [
    'context.{0,20}(length|window|limit|size)',
    'context_length_exceeded',
    'maximum context',
    'too many (input )?tokens',
    '(prompt|input) is too long',
    'exceeds? the (maximum|limit).{0,40}tokens',
    'input token count',
  ].join('|'),
  'i',
);
/** There is somebody, but nobody that can be believed. */
const NOT_TRUSTED = /^(CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|ERR_TLS|ERR_SSL)/;
const NETWORK_CODE = new RegExp(
  ['^(ECONN|EPIPE|ENOTFOUND|EAI_|ENET|EHOST|ETIMEDOUT)', '^UND_ERR_(SOCKET|CONNECT|CLOSED|DESTROYED)', NOT_TRUSTED.source].join(
    '|',
  ),
);

/** There never was a connection over which a request could have gone. */
const NO_CONNECTION = new RegExp(['^(ECONNREFUSED|ENOTFOUND|EAI_|ENET|EHOST|UND_ERR_CONNECT)', NOT_TRUSTED.source].join('|'));

/** How providers say that the account has nothing left, each with a status of its own: waiting does not help. */
const USED_UP =
  /insufficient[_ ](?:quota|balance|credits?|funds)|credit balance is too low|(?:out of|not enough|no more) credits?\b/i;
/** Words that may stand in any request that is refused; they count where an account is turned away. */
const MONEY = /billing|exceeded your current quota|spend(?:ing)? (?:limit|cap)/i;
/** A quota that renews by itself says when. */
const RENEWS = /retry in \d|retrydelay/i;
const USED_UP_FIX =
  'Raise the quota or add credit in the billing of the account, or go on with a model of another account (`--model`).';

function isUsedUp(facts: Facts): boolean {
  const { status = 0, headers } = facts;
  const said = saidIn(facts);
  if (status === 402 || USED_UP.test(said)) return true;
  const turnedAway = status === 401 || status === 403 || status === 429;
  return turnedAway && MONEY.test(said) && !RENEWS.test(said) && headers['retry-after'] === undefined;
}

const saidIn = ({ type, message, body }: Facts): string => `${type} ${message} ${body}`;

function kindOf(facts: Facts): Kind {
  const { status } = facts;
  const said = saidIn(facts);
  if (status !== undefined && status >= 400 && status < 500 && isUsedUp(facts)) return 'auth';
  if (status !== undefined && status >= 300) return kindOfStatus(status, said);
  if (/insufficient_quota/i.test(said)) return 'auth';
  if (/overloaded/i.test(said)) return 'overloaded';
  if (/rate_limit|rate limit/i.test(said)) return 'rate_limited';
  if (/authentication_error|invalid_api_key|permission_error/i.test(said)) return 'auth';
  if (facts.codes.some((code) => NETWORK_CODE.test(code))) return 'network';
  if (/\b(api_error|server_error|internal_server_error)\b/i.test(facts.type)) return 'overloaded';
  if (/invalid_request_error|context_length_exceeded/i.test(said))
    return OVERFLOW.test(said) ? 'context_overflow' : 'invalid_request';
  if (/^(AI_UnsupportedFunctionality|AI_InvalidPrompt|AI_InvalidArgument)/.test(facts.type)) return 'invalid_request';
  return 'bad_response';
}

function kindOfStatus(status: number, said: string): Kind {
  if (status === 401 || status === 403) return 'auth';
  if (status === 429) return 'rate_limited';
  if (status === 408) return 'timeout';
  if (status >= 500 || status === 409 || status === 425) return 'overloaded';
  if ((status === 400 || status === 413 || status === 422) && OVERFLOW.test(said)) {
    return 'context_overflow';
  }
  return /overloaded_error/.test(said) ? 'overloaded' : 'invalid_request';
}

function describe(kind: Kind, facts: Facts, context: FailureContext): string {
  const status = facts.status !== undefined && facts.status >= 300 ? ` (HTTP ${facts.status})` : '';
  const shown = shortened(scrub(wordsIn(facts), context.secrets));
  const because = shown === '' ? '' : `: ${shown}`;
  if (isRedirect(facts.status)) {
    const to = shortened(scrub(startOf(facts.headers['location'] ?? '', LOOKED_AT), context.secrets));
    return `${context.provider} sends the request on to another address${status}${to === '' ? '' : `: ${to}`}`;
  }
  switch (kind) {
    case 'auth':
      if (isUsedUp(facts)) return `The quota or the credit of the account at ${context.provider} is used up${status}${because}`;
      return `${context.provider} refused the key or the account${status}${because}`;
    case 'rate_limited':
      return `${context.provider} asks for fewer requests${status}${because}`;
    case 'overloaded':
      return `${context.provider} is overloaded or out of order${status}${because}`;
    case 'context_overflow':
      return `The conversation is longer than the model's context${status}${because}`;
    case 'network':
      return `${context.provider} cannot be reached, or the connection broke${because}`;
    case 'bad_response':
      return `${context.provider} answered with something that is not a model's answer${status}${because}`;
    default:
      return `${context.provider} refused the request${status}${because}`;
  }
}

/** Never followed, so that a key does not go where nobody sent it. */
export const isRedirect = (status: number | undefined): boolean => status !== undefined && status >= 300 && status < 400;

/** The provider's own words where it has some, else what it sent. */
function wordsIn(facts: Facts): string {
  const page = facts.body !== '' && /^\s*</.test(facts.body);
  const generic =
    facts.message === '' ||
    /^(Invalid JSON response|Failed to process|Bad Gateway|OK|The server answered with an HTML)/.test(facts.message);
  const body = page ? textOfPage(facts.body) : facts.body;
  const text = generic && body !== '' ? [facts.message, body].filter((part) => part !== '').join(': ') : facts.message;
  return startOf(text, LOOKED_AT).replace(/\s+/g, ' ').trim();
}

/** After secrets were taken out: half of one would not be recognised. */
const shortened = (text: string): string =>
  text.length > limits.modelErrorCharacters ? `${startOf(text, limits.modelErrorCharacters)}…` : text;

/** More of an answer than this says nothing more about what is wrong. */
const LOOKED_AT = 20_000;

function textOfPage(page: string): string {
  const head = startOf(page, LOOKED_AT);
  const title = /<title[^>]*>([^<]{1,200})</i.exec(head)?.[1];
  return title ?? head.replace(/<[^<>]*>/g, ' ');
}

/** A word that begins as keys do and is no plain word: "Incorrect API key provided" has none, "key sk-abc***xyz" does. */
const KEY_LIKE = /\b(?:sk|pk|rk|key|AIza|gsk|xai)[-_]?(?=[\w-]*[\d*]|[\w-]{16})[\w*-]{8,}/g;
/** What stands behind a label; the label stays. */
const LABELLED_KEY = /\b(key|Bearer)([ :=]+)(?=[\w-]*[\d*]|[\w-]{16})[\w*-]{8,}/gi;

function scrub(text: string, secrets: readonly string[]): string {
  const parts = secrets.flatMap((secret) => secret.split(/\s+/)).filter((part) => part.length >= limits.secretLength);
  const { text: redacted } = createRedactor(
    [...secrets.filter((secret) => secret.length >= 4), ...parts].map((value) => ({ name: 'key', value })),
  );
  return redacted(text).replace(KEY_LIKE, '[redacted]').replace(LABELLED_KEY, '$1$2[redacted]');
}

const CAUSES = 5;
const UNTELLING = 'Failed to process successful response';

function factsOf(error: unknown): Facts {
  const codes: string[] = [];
  let message = '';
  let current = error;
  for (let depth = 0; depth < CAUSES && current !== undefined && current !== null; depth += 1) {
    const code = codeOf(current);
    if (code !== undefined) codes.push(code);
    // The AI SDK wraps a connection that broke; what broke it is further in.
    if (message === '' || message === UNTELLING) message = wordsOf(current) || message;
    current = typeof current === 'object' && 'cause' in current ? current.cause : undefined;
  }
  const fields = fieldsOf(error);
  const inner = innermostUnexpected(error);
  return {
    message: inner?.message ?? message,
    type: String(fields['type'] ?? fields['name'] ?? ''),
    status: numberOf(fields['statusCode']) ?? numberOf(fields['status']) ?? numberOf(fields['code']) ?? inner?.status,
    body: inner?.excerpt ?? (typeof fields['responseBody'] === 'string' ? fields['responseBody'] : ''),
    headers: headersOf(fields['responseHeaders']),
    codes,
  };
}

/** What the transport saw, when a provider wrapped it into an error of its own. */
function innermostUnexpected(error: unknown): { message: string; excerpt: string; status: number } | undefined {
  let current = error;
  for (let depth = 0; depth < CAUSES && current instanceof Error; depth += 1) {
    const fields = fieldsOf(current);
    if (current.name === 'UnexpectedResponse') {
      return { message: current.message, excerpt: String(fields['excerpt'] ?? ''), status: numberOf(fields['status']) ?? 200 };
    }
    current = current.cause;
  }
  return undefined;
}

function wordsOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  if (isJsonObject(error)) return typeof error['message'] === 'string' ? error['message'] : '';
  return messageOf(error);
}

function fieldsOf(error: unknown): Readonly<Record<string, unknown>> {
  return typeof error === 'object' && error !== null ? (error as Readonly<Record<string, unknown>>) : {};
}

function numberOf(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isInteger(number) && number >= 100 && number < 600 ? number : undefined;
}

function headersOf(value: unknown): Readonly<Record<string, string | undefined>> {
  if (!isJsonObject(value)) return {};
  const headers: Record<string, string> = {};
  for (const [name, text] of Object.entries(value)) if (typeof text === 'string') headers[name.toLowerCase()] = text;
  return headers;
}
