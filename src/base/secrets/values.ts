/**
 * Whether a text can be a secret at all. A variable that is named like one often holds `postgres`, `password` or `test1234`, and
 * to redact such a word would ruin every text that it occurs in. So a value has to be one that does not occur by chance:
 *
 * - at least 8 characters (`secretLength`), and not only digits unless there are 16;
 * - no address without a login, no path;
 * - not made of words that everybody uses for want of a password, with or without digits behind them;
 * - without digits and signs: 16 letters or more, or letters that no word is made of.
 *
 * So a password that is a single word is not recognised. Nothing could tell it from the word.
 */
import { limits } from '../limits.ts';

/** What people write where a password should be, and what programs have there by default. */
const USUAL: ReadonlySet<string> = new Set(
  `a abc admin administrator admins adminadmin anonymous api app application backend changeit changeme client cluster config
  connection custom data database db debug default demo dev developer development disabled docker dummy elastic email empty
  enabled enterprise env environment example fake false foo foobar frontend guest hello here host http https insert internal
  invalid key keys kibana kubernetes letmein local localhost login main mariadb master me memory minio minioadmin missing mock
  mongo mongodb my mysql name nginx nobody none not null oracle owner pass passwd password passwords pg pgadmin placeholder
  postgres postgresql primary private prod production project public qwerty qwertyuiop rabbit rabbitmq readonly redacted redis
  replace required root sa sample sandbox secret secrets server service session set setup shared some staging standard string
  super superuser support sys system temp template test tester testing tests testtest the this tmp todo token tokens troupe true
  undefined unknown unset user username users value vault web welcome with world write xxx xxxx xxxxx xxxxxxxx your yours`.split(
    /\s+/,
  ),
);

const LETTERS_MIN = 16;
const DIGITS_MIN = 16;
/** A part of a path that is longer is no name of a file. */
const FILE_NAME_MAX = 24;

export function canBeSecret(value: string): boolean {
  if (value.length < limits.secretLength) return false;
  if (/^[\d\s.,:+-]+$/.test(value)) return value.replaceAll(/\D/g, '').length >= DIGITS_MIN;
  if (/^[a-z][a-z0-9+.-]*:\/\/\S*$/i.test(value) || isPath(value)) return false;
  if (/^(.)\1*$/.test(value)) return false;
  const parts = value
    .replaceAll(/([a-z])([A-Z])/g, '$1 $2')
    .split(/[\s\-_.:/@,;=<>()[\]{}$"'*!?#]+/)
    .filter((part) => part !== '');
  const words = parts.map((part) => part.replaceAll(/^\d+|\d+$/g, '').toLowerCase());
  if (words.every((word) => word === '' || USUAL.has(word))) return false;
  if (!/^[A-Za-z\s\-_.]+$/.test(value)) return true;
  const letters = value.replaceAll(/[^A-Za-z]/g, '').length;
  return letters >= LETTERS_MIN || !parts.every(isWordLike) || changesOfCase(value) > 2;
}

/** `~/keys/id`, `/run/secrets/db`, `./x.pem`, `C:\keys`. */
function isPath(value: string): boolean {
  if (!/^(?:~|\.{1,2}|[A-Za-z]:)?[/\\][\w.@/\\ -]+$/.test(value)) return false;
  return value.split(/[/\\]/).every((part) => part.length <= FILE_NAME_MAX);
}

/** As words are: with vowels, and without what no language has side by side. */
function isWordLike(part: string): boolean {
  const word = part.toLowerCase();
  if (word.length <= 3) return true;
  const vowels = word.replaceAll(/[^aeiouy]/g, '').length;
  if (vowels / word.length < 0.2 || vowels / word.length > 0.75) return false;
  return !/[bcdfghjklmnpqrstvwxz]{5}|q[^u]|[jvwx][jqxz]|z[bcdfgjkpqrstx]|[bcdfgkmptvz]x|x[bdgjknrsvz]|(.)\1\1/.test(word);
}

const changesOfCase = (value: string): number => (value.match(/[a-z][A-Z]/g) ?? []).length;
