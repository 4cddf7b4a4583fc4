import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, secretsOf } from './redact.ts';

const plain = createRedactor([]);
const json = (redactor: typeof plain, value: unknown): unknown => redactor.json(value, JSON.stringify(value)) ?? value;

describe('redaction', () => {
  it.each([
    ['sk-ant-api03-abcdefghijklmnopqrstu', 'anthropic-key'],
    ['sk-proj-abcdefghijklmnopqrstuvwxyz', 'api-key'],
    [`AIza${'Sy0123456789_-abcdefghijklmnopqrstuvwxyz'.slice(0, 35)}`, 'google-key'],
    [`ghp_${'a1B2'.repeat(9)}`, 'github-token'],
    [`github_pat_${'a1B2'.repeat(9)}`, 'github-token'],
    ['xoxb-1234567890-abcdefghij', 'slack-token'],
    ['AKIAIOSFODNN7EXAMPLE', 'aws-key'],
  ])('takes out %s', (key, name) => {
    expect(plain.text(`before ${key} after`)).toBe(`before [redacted:${name}] after`);
    expect(json(plain, { lines: [`first\n${key}\nlast`] })).toEqual({ lines: [`first\n[redacted:${name}]\nlast`] });
  });

  it('takes out bearer tokens and private keys', () => {
    expect(plain.text('Authorization: Bearer abcdef0123456789.xyz==')).toBe('Authorization: Bearer [redacted:bearer]');
    const pem = '-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabc\n-----END RSA PRIVATE KEY-----';
    expect(json(plain, { file: `a\n${pem}\nb` })).toEqual({ file: 'a\n[redacted:private-key]\nb' });
    expect(plain.text('-----BEGIN PRIVATE KEY-----\ncut off')).toBe('[redacted:private-key]');
  });

  it('leaves ordinary text and base64 data alone', () => {
    const image = `${'A'.repeat(50)}AIza${'b'.repeat(35)}/AKIAIOSFODNN7EXAMPLEabc`;
    for (const text of ['a task-force of risk-averse desk-bound people', 'the bearer of news', 'sk-short', image]) {
      expect(json(plain, { text })).toEqual({ text });
    }
  });

  it('knows secrets by the names of environment variables', () => {
    const environment = {
      OPENAI_API_KEY: 'value-one',
      DB_PASSWORD: 'value-two',
      GITHUB_TOKEN: 'short',
      HOME: '/home/somebody',
      KEYBOARD: 'qwertyuiop',
      PGPASSWORD: 'value-three',
      TROUPE_LEDGER: 'postgres://me:value-four@db/troupe',
      PROXY: 'http://proxy:8080/a@b',
    };
    expect(secretsOf(environment)).toEqual([
      { name: 'OPENAI_API_KEY', value: 'value-one' },
      { name: 'DB_PASSWORD', value: 'value-two' },
      { name: 'PGPASSWORD', value: 'value-three' },
      { name: 'TROUPE_LEDGER', value: 'value-four' },
    ]);
  });

  it('takes out a secret that holds another one as a whole, and secrets in keys', () => {
    const redactor = createRedactor([
      { name: 'INNER', value: 'password' },
      { name: 'OUTER', value: 'my-password-1' },
    ]);
    expect(json(redactor, { 'my-password-1': 'password' })).toEqual({ '[redacted:OUTER]': '[redacted:INNER]' });
  });

  it('finds any secret anywhere in any JSON, and keeps everything else', () => {
    const secret = fc
      .string({ unit: 'binary', minLength: 8 })
      .filter((text) => text.isWellFormed() && !'[redacted:S]'.includes(text));
    fc.assert(
      fc.property(secret, fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (value, before, after) => {
        fc.pre(![before, after].some((text) => text.includes(value)));
        const cleaned = json(createRedactor([{ name: 'S', value }]), { deep: [{ text: `${before} ${value} ${after}` }] });
        expect(cleaned).toEqual({ deep: [{ text: expect.not.stringContaining(value) }] });
        expect(JSON.stringify(cleaned)).toContain('[redacted:S]');
      }),
    );
  });
});
