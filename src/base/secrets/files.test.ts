/** Which files may hold secrets. */
import { describe, expect, it } from 'vitest';
import { holdsSecret, isSecretFileName } from './files.ts';
import { createRedactor } from './redact.ts';

describe('by its name a file may hold secrets', () => {
  it.each([
    ...[
      '.env',
      '.ENV.local',
      'a/.ssh/config',
      'deploy.pem',
      'tls/server.key',
      'id_ed25519',
      'ID_RSA',
      'credentials.json',
      '.aws/x',
    ],
    ...['.git-credentials', 'client_secret_123.json', 'store.jks', '.npmrc', '_netrc', 'AuthKey.p8'],
  ])('%s', (path) => expect(isSecretFileName(path.split('/'))).toBe(true));
  it.each([
    'README.md',
    'src/keys.ts',
    'id_rsa.pub',
    'credentials.ts',
    'environment.md',
    'monkey',
    'src/key/a.txt',
    '.gitignore',
  ])('but not %s', (path) => expect(isSecretFileName(path.split('/'))).toBe(false));
});

describe('by what is in it', () => {
  const { text: redact } = createRedactor([{ name: 'PASS', value: 'grün-4711-Xy!hafen' }]);
  const key = 'ghp_a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2a1B2';
  const wide = Buffer.from(`x ${key}`, 'utf16le');
  it.each([
    ['a text', Buffer.from(`x ${key}`)],
    ['bytes', Buffer.concat([Buffer.of(255, 0), Buffer.from(` ${key}`)])],
    ['bytes, not in ASCII', Buffer.concat([Buffer.of(255, 0), Buffer.from('grün-4711-Xy!hafen')])],
    ['two bytes a letter', wide],
    ['two bytes a letter, the high one first', Buffer.from(wide).swap16()],
  ])('it holds one: %s', (_how, bytes) => expect(holdsSecret(bytes, redact)).toBe(true));
  it('or none', () => {
    for (const bytes of [Buffer.from('a task\n'), Buffer.of(0, 255, 1), Buffer.from('[redacted:PASS]')])
      expect(holdsSecret(bytes, redact)).toBe(false);
  });
});
