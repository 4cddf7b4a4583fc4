/**
 * Which files may hold secrets: by what they are called, and by what is in them. The one rule for every door through which files
 * are given to somebody who did not ask for this very file on this very machine.
 */
import { isUtf8 } from 'node:buffer';

/** Where tools keep tokens and keys; in any case, because some file systems do not tell them apart. */
const SECRET_NAME = new RegExp(
  [
    '\\.env.*|\\.git|\\.troupe|\\.ssh|\\.aws|\\.gnupg|\\.kube|\\.docker',
    '\\.npmrc|[._]netrc|\\.pypirc|\\.pgpass|\\.my\\.cnf|\\.htpasswd|\\.dockercfg|\\.git-credentials|\\.vault-token',
    'id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?|credentials(?:\\.(?:json|ya?ml|toml|ini|csv))?|client_secret.*\\.json|service-account.*\\.json',
    '.*\\.(?:pem|key|p12|pfx|p8|ppk|jks|keystore|kdbx|age)',
  ]
    .map((names) => `^(?:${names})$`)
    .join('|'),
  'i',
);

/** `parts` are those of a path within the folder that the file is given from. */
export const isSecretFileName = (parts: readonly string[]): boolean => parts.some((part) => SECRET_NAME.test(part));

/** Whether a file holds what is a secret in a text, also if it is no text: among other bytes, or in letters of several bytes. */
export function holdsSecret(bytes: Uint8Array, redact: (text: string) => string): boolean {
  const given = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const isText = isUtf8(given);
  const views = isText ? [given.toString()] : [given.toString(), given.toString('latin1')];
  if (given.includes(0)) views.push(given.toString('latin1').replaceAll('\0', ''));
  return views.some((text) => redact(text) !== text);
}
