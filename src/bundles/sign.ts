/** Signatures of bundles: Ed25519 over the manifest, with keys in PEM files that other programs make and read. */
import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { TroupeError } from '../base/errors.ts';
import { parseJson } from '../base/json.ts';
import { signatureSchema } from './format.ts';
import { badBundle, badSignature } from './refusals.ts';

const KIND = 'ed25519';

/** What the signature is of, besides the manifest: nothing else that is signed with the key can pass for one. */
const context = (manifest: Buffer): Buffer => Buffer.concat([Buffer.from('troupe-bundle-manifest\n'), manifest]);

export function privateKey(pem: string): KeyObject {
  return keyOf(() => createPrivateKey(pem), 'private', 'openssl genpkey -algorithm ed25519 -out key.pem');
}

export function publicKey(pem: string): KeyObject {
  if (/PRIVATE KEY/.test(pem)) throw badKey('public', 'openssl pkey -in key.pem -pubout -out public.pem');
  return keyOf(() => createPublicKey(pem), 'public', 'openssl pkey -in key.pem -pubout -out public.pem');
}

function keyOf(read: () => KeyObject, which: string, command: string): KeyObject {
  let key: KeyObject;
  try {
    key = read();
  } catch {
    throw badKey(which, command);
  }
  if (key.asymmetricKeyType !== KIND) throw badKey(which, command);
  return key;
}

const badKey = (which: string, command: string): TroupeError =>
  new TroupeError('usage', `The file does not hold a ${which} Ed25519 key in PEM`, { fix: `make one: ${command}` });

/** Short, for people: the beginning of the SHA-256 of the public key. */
export function keyName(key: KeyObject): string {
  return createHash('sha256').update(spki(key)).digest('hex').slice(0, 16);
}

export const publicOf = (key: KeyObject): KeyObject => createPublicKey(key);

const spki = (key: KeyObject): Buffer => key.export({ type: 'spki', format: 'der' });

export function signatureOf(manifest: Buffer, key: KeyObject): string {
  const value = {
    algorithm: KIND,
    manifest: createHash('sha256').update(manifest).digest('hex'),
    key: spki(publicOf(key)).toString('base64'),
    signature: sign(null, context(manifest), key).toString('base64'),
  };
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** The name of the key that signed it; throws when the signature is not that of its key, or its key not one of these. */
export function checkSignature(
  manifest: Buffer,
  signature: Buffer | undefined,
  wanted: KeyObject | undefined,
): string | undefined {
  if (signature === undefined) {
    if (wanted === undefined) return undefined;
    throw badSignature('it has none');
  }
  const parsed = parseJson(signature.toString());
  const said = signatureSchema.safeParse(parsed.ok ? parsed.value : undefined);
  if (!said.success) throw badBundle('signature.json is damaged');
  const key = signer(said.data.key);
  if (!verify(null, context(manifest), key, Buffer.from(said.data.signature, 'base64')))
    throw badSignature('it does not fit the manifest, so one of them was changed');
  if (wanted !== undefined && !spki(wanted).equals(spki(key)))
    throw badSignature(`it was signed with the key ${keyName(key)}, not with ${keyName(wanted)}`);
  return keyName(key);
}

function signer(text: string): KeyObject {
  try {
    const key = createPublicKey({ key: Buffer.from(text, 'base64'), format: 'der', type: 'spki' });
    if (key.asymmetricKeyType === KIND) return key;
  } catch {
    // Said below.
  }
  throw badSignature('it names no Ed25519 key');
}
