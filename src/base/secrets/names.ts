/**
 * Which names say that what they name is secret: the one list for all uses. What such an environment variable holds is redacted,
 * and no command and no server of an agent's file gets to see it.
 *
 * A name is taken apart into words (`JWT_SECRET_V2`, `githubToken`, `db-pass`). Some words are enough wherever they stand; others
 * mean many things and count only at the end, where `_V2`, `_PROD` and their like are not looked at. A name whose last word says
 * that it is about something else (`TOKEN_LIMIT`, `KEY_FILE`, `PUBLIC_KEY`) is not secret.
 */

/** Enough by themselves, also with other words before them in one: `PGPASSWORD`, `AUTHTOKEN`. */
const STRONG = /^\w*(?:PASSWORD|PASSWD|PASSPHRASE|PASSCODE|SECRET|TOKEN|APIKEY|CREDENTIAL)S?$/;

/** Count only as the last word. */
const WEAK: ReadonlySet<string> = new Set([
  ...['KEY', 'KEYS', 'PASS', 'PGPASS', 'PAT', 'PATS', 'CRED', 'CREDS', 'AUTH', 'JWT', 'COOKIE', 'PWD', 'ACCESSKEY', 'SECRETKEY'],
  ...['PRIVATEKEY', 'SSHKEY', 'AUTHKEY', 'MASTERKEY', 'HEADERS'],
]);

/** Say which one, not what it is. */
const WHICH =
  /^(?:V?\d+|OLD|NEW|CURRENT|PREVIOUS|NEXT|PRIMARY|SECONDARY|BACKUP|DEFAULT|MAIN|LIVE|TEST|TESTS?ING|DEV|DEVELOPMENT|STAGING|STAGE|PROD|PRODUCTION|LOCAL|CI|US|EU|UK|APAC|BASE|BASE64|B64|HEX|JSON|PEM|RAW|PLAIN|VALUE|DATA|STRING|TEXT|CONTENTS?|[A-Z])$/;

/** Say that the name is about something that is no secret itself. */
const ABOUT =
  /^(?:FILE|FILENAME|PATH|DIR|DIRECTORY|FOLDER|URL|URI|HOST|PORT|ID|IDS|NAMES?|TYPE|KIND|LENGTH|SIZE|COUNT|LIMITS?|MAX|MIN|TTL|EXPIRY|EXPIRES|EXPIRATION|LIFETIME|TIMEOUT|AGE|ENABLED|DISABLED|REQUIRED|HEADER|PREFIX|SUFFIX|FORMAT|ALGORITHM|ALG|ISSUER|AUDIENCE|ENDPOINT|POLICY|PROVIDER|STORE|MANAGER|HELPER|SERVICE|SERVER|SOCK|SOCKET|COMMAND|CMD|ENGINE|BACKEND|NAMESPACE|REGION|MODE|METHOD|PROMPT|SCOPES?|USER|USERNAME|ACCOUNT|EMAIL|BUDGET|WINDOW|INTERVAL|ROTATION|ARN|REF|VERSION|LABEL|HINT|USAGE|COST)$/;

/** Keys that are made to be seen. */
const SEEN: ReadonlySet<string> = new Set(['PUBLIC', 'PUB', 'PUBLISHABLE', 'CACHE', 'SORT', 'PARTITION', 'FOREIGN', 'HOST']);

export function isSecretName(name: string): boolean {
  const words = wordsOf(name);
  if (ABOUT.test(words.at(-1) ?? '')) return false;
  if (words.some((word) => STRONG.test(word))) return true;
  while (words.length > 1 && WHICH.test(words.at(-1) ?? '')) words.pop();
  const last = words.at(-1) ?? '';
  if (!WEAK.has(last) && !/^[A-Z]{2,}PWD$/.test(last)) return false;
  // The folder that a shell is in, and was in before.
  if (words.length === 1 && /^(?:OLD)?PWD$/.test(last)) return false;
  return !words.some((word) => SEEN.has(word));
}

/** Whether one name stands for many: each part of what it holds is a secret. */
export const holdsMany = (name: string): boolean => /(?:KEY|TOKEN|SECRET|PASSWORD|CREDENTIAL|PAT|HEADER)S(?:_\w+)?$/i.test(name);

function wordsOf(name: string): string[] {
  return name
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .split(/[^A-Za-z0-9]+/)
    .filter((word) => word !== '')
    .map((word) => word.toUpperCase());
}
