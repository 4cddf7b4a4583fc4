/**
 * Takes secrets out of what is read by somebody (invariant I8): values of environment variables whose names say that they are
 * secret, and texts that have the shape of a well-known key.
 *
 * Nearly every text holds none, so one combined expression looks over it first; it may cry wolf but misses nothing. Only after
 * a hit is the text looked at closely, where JSON's escapes cannot mislead. All secrets are found in the text as it was given and
 * taken out at once, so that two that overlap leave nothing of either; redacting again changes nothing.
 */
import type { Environment } from '../environment.ts';
import { isJsonObject, type Json } from '../json.ts';
import { holdsMany, isSecretName } from './names.ts';
import { SHAPES, type Shape } from './shapes.ts';
import { canBeSecret } from './values.ts';

export interface Secret {
  readonly name: string;
  readonly value: string;
}

export interface Redacted {
  readonly value: Json;
  /** The known secrets that were in it. What has the shape of a key is recognised everywhere, and not among them. */
  readonly found: readonly Secret[];
}

/** A piece of a text that is a secret, and what stands in its place for whoever reads it. */
export interface Hidden {
  readonly from: number;
  readonly to: number;
  readonly mark: string;
}

export interface Redactor {
  /** The text unchanged, or without its secrets. */
  text(text: string): string;
  /** What `text` takes out of it, in order and apart from each other. */
  hidden(text: string): readonly Hidden[];
  /** `undefined` when there is nothing to redact. `serialized` is the value's JSON text. */
  json(value: unknown, serialized: string): Redacted | undefined;
  /** Knows these too from now on. */
  learn(secrets: readonly Secret[]): void;
}

/** An address with a login in it, such as that of a database. */
const PASSWORD_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^@\s]+)@[^@]*$/i;
/** `Password=…;` and `?api_key=…`, as settings of databases and services have them. */
const SECRET_SETTING = /(?:^|[;?&\s])(?:password|passwd|pwd|api_?key|access_?token|token|secret|accountkey)=([^;&\s]+)/gi;

/** What is secret of an environment, by name and by value; `declared` are so whatever their names. */
export function secretsOf(environment: Environment, declared: readonly string[] = []): readonly Secret[] {
  const secrets: Secret[] = [];
  for (const [name, value = ''] of Object.entries(environment)) {
    const isSecret = isSecretName(name) || declared.includes(name);
    for (const secret of new Set(secretsIn(name, value, isSecret)))
      if (canBeSecret(secret)) secrets.push({ name, value: secret });
  }
  return secrets;
}

/** Whether it is kept from those who have no business with our secrets: by its name alone, or by what it holds. */
export const isSecretVariable = (name: string, value: string): boolean =>
  isSecretName(name) || secretsIn(name, value, false).some(canBeSecret);

function secretsIn(name: string, value: string, isSecret: boolean): readonly string[] {
  if (isSecret && !/^[a-z][a-z0-9+.-]*:\/\//i.test(value))
    return [value, ...linesOf(value), ...(holdsMany(name) ? entriesOf(value) : [])];
  const password = PASSWORD_IN_ADDRESS.exec(value)?.[1];
  const settings = [...value.matchAll(SECRET_SETTING)].flatMap(([, setting]) => setting ?? []);
  return [...(password === undefined ? [] : [password]), ...settings].flatMap((found) => [found, decoded(found)]);
}

/** A diff or a listing takes a value over several lines apart. Only lines that are one word: prose is no secret. */
function linesOf(value: string): readonly string[] {
  if (!/\n/.test(value.trim())) return [];
  return value
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(?!-----)\S+$/.test(line) && !/^["{}[\]]/.test(line));
}

/** A list, with or without names: `alice=…,bob=…`. */
function entriesOf(value: string): readonly string[] {
  return value.split(/[,;\s]+/).map((entry) => /^[\w.-]+=(.{8,})$/.exec(entry)?.[1] ?? entry);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

export function createRedactor(secrets: readonly Secret[]): Redactor {
  let known: readonly Known[] = [];
  let suspect = detector([]);
  const learn = (more: readonly Secret[]): void => {
    const values = new Set(known.map(({ secret }) => secret.value));
    const fresh = more.filter(({ value }) => value !== '' && !values.has(value) && values.add(value));
    if (fresh.length === 0) return;
    // The longest first: a secret may hold another one, and the whole gives its name.
    known = [...known, ...fresh.map((secret) => ({ secret, forms: formsOf(secret.value) }))].sort(
      (left, right) => right.secret.value.length - left.secret.value.length,
    );
    suspect = detector(known);
  };
  learn(secrets);
  return {
    learn,
    text: (text) => (suspect.test(text) ? clean(text, known, new Set()) : text),
    hidden: (text) => (suspect.test(text) ? hiddenIn(text, known, new Set()) : []),
    json(value, serialized) {
      if (!suspect.test(serialized)) return undefined;
      const found = new Set<Secret>();
      const cleaned = walk(value as Json, (text) => clean(text, known, found));
      return JSON.stringify(cleaned) === serialized ? undefined : { value: cleaned, found: [...found] };
    },
  };
}

interface Known {
  readonly secret: Secret;
  readonly forms: readonly string[];
}

/** As it is, as JSON and addresses write it, and in one line, as messages have it. */
function formsOf(value: string): readonly string[] {
  const inJson = JSON.stringify(value).slice(1, -1);
  const inAddress = value.isWellFormed() ? encodeURIComponent(value) : value;
  const inOneLine = /\S\s*\n\s*\S/.test(value) ? value.trim().replaceAll(/\s+/g, ' ') : value;
  return [...new Set([value, inJson, JSON.stringify(inJson).slice(1, -1), inAddress, inOneLine])];
}

function detector(known: readonly Known[]): RegExp {
  const literals = known.flatMap(({ forms }) => forms);
  return new RegExp([...SHAPES.map(({ within }) => within), ...literals.map(asPattern)].join('|'));
}

const asPattern = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

interface Span {
  readonly from: number;
  readonly to: number;
  readonly name: string;
}

const clean = (text: string, known: readonly Known[], found: Set<Secret>): string =>
  withMarks(text, hiddenIn(text, known, found));

/** The text as it is shown: with marks in the place of what is hidden. */
export function withMarks(text: string, hidden: readonly Hidden[]): string {
  let [shown, at] = ['', 0];
  for (const { from, to, mark } of hidden) {
    shown += text.slice(at, from) + mark;
    at = to;
  }
  return shown + text.slice(at);
}

/** What is gone may have hidden the edge of another: it is looked for until there is none. */
function hiddenIn(text: string, known: readonly Known[], found: Set<Secret>): readonly Hidden[] {
  let hidden: readonly Hidden[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const more = hiddenOnce(withMarks(text, hidden), known, found);
    if (more.length === 0) break;
    hidden = hidden.length === 0 ? more : inOriginal(hidden, more);
  }
  return hidden;
}

const ROUNDS = 8;

/** `more` was found in the text with the marks of `hidden` in it: all of it, by its places in the text as it was given. */
function inOriginal(hidden: readonly Hidden[], more: readonly Hidden[]): readonly Hidden[] {
  const all: Hidden[] = [];
  let [next, shift] = [0, 0];
  /** Takes over what lies before a place, and tells what covers that place. */
  const pass = (place: number, keep: boolean): Hidden | undefined => {
    for (; next < hidden.length; next += 1) {
      const one = hidden[next] as Hidden;
      const begins = one.from - shift;
      if (begins >= place) return undefined;
      if (begins + one.mark.length > place) return one;
      shift += one.to - one.from - one.mark.length;
      if (keep) all.push(one);
    }
    return undefined;
  };
  for (const { from, to, mark } of more) {
    const first = pass(from, true)?.from ?? from + shift;
    const last = pass(to, false)?.to ?? to + shift;
    const cut = hidden[next];
    // A mark that is only begun belongs to it as a whole.
    if (cut !== undefined && cut.to === last && cut.from - shift < to) {
      shift += cut.to - cut.from - cut.mark.length;
      next += 1;
    }
    all.push({ from: first, to: last, mark });
  }
  return [...all, ...hidden.slice(next)];
}

function hiddenOnce(text: string, known: readonly Known[], found: Set<Secret>): readonly Hidden[] {
  const marks = marksIn(text, known);
  const spans: Span[] = [];
  for (const { secret, forms } of known) {
    for (const form of forms) {
      for (let from = text.indexOf(form); from !== -1; from = text.indexOf(form, from + 1)) {
        spans.push({ from, to: from + form.length, name: secret.name });
        found.add(secret);
      }
    }
  }
  for (const shape of SHAPES) for (const span of spansOf(shape, text)) spans.push(span);
  return together(spans.filter((span) => !isWithin(span, marks)));
}

function* spansOf({ name, exact, before, accepts }: Shape, text: string): Generator<Span> {
  let last = 0;
  for (const { index, 0: whole, 1: secret = whole } of text.matchAll(exact)) {
    const to = index + whole.length;
    const from = to - secret.length;
    if (accepts?.(secret) !== false) yield { from: from - (before?.(text.slice(last, from)) ?? 0), to, name };
    last = to;
  }
}

/** `marks` are in order and apart from each other; there may be as many of them as of spans. */
function isWithin(span: Span, marks: readonly Span[]): boolean {
  let [low, high] = [0, marks.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((marks[middle] as Span).from <= span.from) low = middle + 1;
    else high = middle;
  }
  return span.to <= (marks[low - 1]?.to ?? 0);
}

/** What was redacted before. Only names that we give count: nobody can hide a secret by writing it like a mark. */
function marksIn(text: string, known: readonly Known[]): readonly Span[] {
  const names = new Set([...SHAPES.map(({ name }) => name), ...known.map(({ secret }) => nameInMark(secret.name))]);
  return [...text.matchAll(/\[redacted:([A-Za-z0-9_.-]{1,100})\]/g)].flatMap(({ index, 0: whole, 1: name = '' }) =>
    names.has(name) ? [{ from: index, to: index + whole.length, name }] : [],
  );
}

/** Spans that touch each other become one, named by the longest. */
function together(spans: readonly Span[]): readonly Hidden[] {
  const inOrder = spans.toSorted((left, right) => left.from - right.from || right.to - left.to);
  const hidden: Hidden[] = [];
  for (let index = 0; index < inOrder.length; ) {
    let longest = inOrder[index] as Span;
    const { from } = longest;
    let { to } = longest;
    for (index += 1; index < inOrder.length && (inOrder[index] as Span).from < to; index += 1) {
      const next = inOrder[index] as Span;
      to = Math.max(to, next.to);
      if (next.to - next.from > longest.to - longest.from) longest = next;
    }
    hidden.push({ from, to, mark: `[redacted:${nameInMark(longest.name)}]` });
  }
  return hidden;
}

const nameInMark = (name: string): string => name.replace(/[^A-Za-z0-9_.-]/g, '_').slice(0, 100);

function walk(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, clean));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [clean(key), item === undefined ? item : walk(item, clean)]);
  return Object.fromEntries(entries) as Json;
}
