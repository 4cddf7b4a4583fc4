/**
 * Takes secrets out of what is about to be stored (invariant I8). Two kinds are known: values of environment variables
 * whose names say that they are secret, and texts that have the shape of a well-known key.
 *
 * Nearly every payload holds none, so one combined expression looks over the serialized text first; it may cry wolf but
 * misses nothing. Only after a hit is the value walked string by string, where JSON's escapes cannot mislead.
 */
import { isJsonObject, type Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';

export interface Secret {
  readonly name: string;
  readonly value: string;
}

export interface Redactor {
  /** The text unchanged, or without its secrets. */
  text(text: string): string;
  /** `undefined` when there is nothing to redact, else the cleaned value. `serialized` is its JSON text. */
  json(value: unknown, serialized: string): Json | undefined;
}

/** `within` finds the shape anywhere; `exact` also wants an edge, so that base64 data is not mistaken for a key. */
interface Shape {
  readonly name: string;
  readonly within: string;
  readonly exact: RegExp;
}

const shape = (name: string, within: string): Shape => ({
  name,
  within,
  exact: new RegExp(`(?<![A-Za-z0-9+/_-])(?:${within})`, 'g'),
});

const SHAPES: readonly Shape[] = [
  shape('anthropic-key', 'sk-ant-[A-Za-z0-9_-]{16,}'),
  shape('api-key', 'sk-[A-Za-z0-9_-]{20,}'),
  shape('google-key', 'AIza[A-Za-z0-9_-]{35}'),
  shape('github-token', 'gh[pousr]_[A-Za-z0-9]{30,}|github_pat_[A-Za-z0-9_]{30,}'),
  shape('slack-token', 'xox[abeoprs]-[A-Za-z0-9-]{10,}'),
  shape('aws-key', 'A(?:KIA|SIA)[0-9A-Z]{16}'),
  {
    name: 'bearer',
    within: '[Bb]earer +[A-Za-z0-9._~+/=-]{16,}',
    exact: /(?<=\b[Bb]earer +)[A-Za-z0-9._~+/=-]{16,}/g,
  },
  {
    name: 'private-key',
    within: '-----BEGIN [A-Z ]{0,40}PRIVATE KEY',
    exact: /-----BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g,
  },
];

const SECRET_NAME = /(?:^|[_-]|^PG)(?:API_?)?(?:KEY|TOKENS?|SECRET|PASSWORD|PASSWD|PASSPHRASE|PWD_?SECRET|CREDENTIALS?|PAT)$/i;

/** An address with a login in it, such as that of a database. */
const PASSWORD_IN_ADDRESS = /^[a-z][a-z0-9+.-]*:\/\/[^/\s:@]*:([^@\s/]+)@/i;

/**
 * The environment variables whose names look like keys, tokens or passwords, and the passwords in addresses. Short values
 * would redact ordinary words.
 */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): readonly Secret[] {
  const secrets: Secret[] = [];
  for (const [name, value] of Object.entries(environment)) {
    for (const secret of value === undefined ? [] : secretsIn(name, value))
      if (secret.length >= limits.secretLength) secrets.push({ name, value: secret });
  }
  return secrets;
}

/** A list of named tokens, `alice=…,bob=…`, holds one secret each. */
function secretsIn(name: string, value: string): readonly string[] {
  if (/TOKENS$/i.test(name)) return [value, ...value.split(',').map((entry) => entry.slice(entry.indexOf('=') + 1).trim())];
  return SECRET_NAME.test(name) ? [value] : (PASSWORD_IN_ADDRESS.exec(value)?.slice(1, 2) ?? []);
}

export function createRedactor(secrets: readonly Secret[]): Redactor {
  // The longest first: a secret may hold another one.
  const known = secrets.filter((secret) => secret.value !== '').sort((left, right) => right.value.length - left.value.length);
  const suspect = detector(known);
  const clean = (text: string): string => {
    let cleaned = text;
    for (const secret of known) cleaned = cleaned.replaceAll(secret.value, () => mark(secret.name));
    for (const { name, exact } of SHAPES) cleaned = cleaned.replace(exact, mark(name));
    return cleaned;
  };
  return {
    text: (text) => (suspect.test(text) ? clean(text) : text),
    json: (value, serialized) => (suspect.test(serialized) ? walk(value as Json, clean) : undefined),
  };
}

/** Looks for every secret both as it is and as JSON writes it. */
function detector(secrets: readonly Secret[]): RegExp {
  const literals = secrets.flatMap(({ value }) => {
    const escaped = JSON.stringify(value).slice(1, -1);
    return escaped === value ? [value] : [value, escaped];
  });
  return new RegExp([...SHAPES.map(({ within }) => within), ...literals.map(asPattern)].join('|'));
}

const asPattern = (literal: string): string => literal.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');

function mark(name: string): string {
  return `[redacted:${name.replace(/[^A-Za-z0-9_.-]/g, '_')}]`;
}

function walk(value: Json, clean: (text: string) => string): Json {
  if (typeof value === 'string') return clean(value);
  if (Array.isArray(value)) return value.map((item: Json) => walk(item, clean));
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).map(([key, item]) => [clean(key), item === undefined ? item : walk(item, clean)]);
  return Object.fromEntries(entries) as Json;
}
