import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRedactor, secretsOf, withMarks } from './redact.ts';

const plain = createRedactor([]);
const json = (redactor: typeof plain, value: unknown): unknown => redactor.json(value, JSON.stringify(value))?.value ?? value;

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

  it.each([
    ['api_key=sk-abcdefghijklmnopqrstuvwx12', 'api_key=[redacted:api-key]'],
    ['Authorization: Bearer abcdef0123456789.xyz', 'Authorization: Bearer [redacted:bearer]'],
    ['{"password": "hunter2-Very9"}', '{"password": "[redacted:DB_PASSWORD]"}'],
    ['DB_PASSWORD=hunter2-Very9', 'DB_PASSWORD=[redacted:DB_PASSWORD]'],
    ['export MY_API_KEY="k3y-1234567890abc"', 'export MY_API_KEY="[redacted:MY_API_KEY]"'],
    ['x-api-key: k3y-1234567890abc', 'x-api-key: [redacted:MY_API_KEY]'],
    ['the password is password', 'the password is password'],
  ])('hides the value and not the label: %s', (text, shown) => {
    const known = { DB_PASSWORD: 'hunter2-Very9', MY_API_KEY: 'k3y-1234567890abc', PASSWORD: 'password' };
    expect(createRedactor(secretsOf(known)).text(text)).toBe(shown);
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
      OPENAI_API_KEY: 'value-1-Qx7',
      DB_PASSWORD: 'value-2-Qx7',
      GITHUB_TOKEN: 'short',
      HOME: '/home/somebody',
      KEYBOARD: 'qwerty-77-Zz',
      PGPASSWORD: 'value-3-Qx7',
      TROUPE_LEDGER: 'postgres://me:value-4-Qx7@db/troupe',
      PROXY: 'http://proxy:8080/a@b',
      TROUPE_TOKENS: 'alice=value-5-Qx7,bob=value-6-Qx7',
      CACHE: 'redis://:p%40ss-7-Qx@cache:6379',
      ADO: 'Server=db;User=me;Password=value-8-Qx7;Encrypt=true',
    };
    expect(secretsOf(environment)).toEqual([
      { name: 'OPENAI_API_KEY', value: 'value-1-Qx7' },
      { name: 'DB_PASSWORD', value: 'value-2-Qx7' },
      { name: 'PGPASSWORD', value: 'value-3-Qx7' },
      { name: 'TROUPE_LEDGER', value: 'value-4-Qx7' },
      { name: 'TROUPE_TOKENS', value: environment.TROUPE_TOKENS },
      { name: 'TROUPE_TOKENS', value: 'value-5-Qx7' },
      { name: 'TROUPE_TOKENS', value: 'value-6-Qx7' },
      { name: 'CACHE', value: 'p%40ss-7-Qx' },
      { name: 'CACHE', value: 'p@ss-7-Qx' },
      { name: 'ADO', value: 'value-8-Qx7' },
    ]);
  });

  it('knows the lines of a secret over several, as a diff or a listing has them', () => {
    const redactor = createRedactor(secretsOf({ DEPLOY_SECRET: 'alpha-77-Xq\nbravo-88-Yr\n' }));
    expect(redactor.text('+alpha-77-Xq\n+bravo-88-Yr')).toBe('+[redacted:DEPLOY_SECRET]\n+[redacted:DEPLOY_SECRET]');
    expect(redactor.text('1\talpha-77-Xq')).toBe('1\t[redacted:DEPLOY_SECRET]');
    const lines = createRedactor(secretsOf({ DEPLOY_SECRET: 'alpha 77\r\n bravo 88' }));
    expect(lines.text('<alpha 77 bravo 88>')).toBe('<[redacted:DEPLOY_SECRET]>');
    const json = '{\n  "type": "service-account-1",\n  "private_key": "x"\n}';
    expect(createRedactor(secretsOf({ MY_SECRET: json })).text('a service-account-1')).toBe('a service-account-1');
  });

  it('knows what it has learned, and says what it found', () => {
    const redactor = createRedactor([{ name: 'ONE', value: 'first-1-Qx7' }]);
    const value = { text: 'first-1-Qx7 and second-2-Qx7' };
    expect(redactor.json(value, JSON.stringify(value))).toEqual({
      value: { text: '[redacted:ONE] and second-2-Qx7' },
      found: [{ name: 'ONE', value: 'first-1-Qx7' }],
    });
    redactor.learn([{ name: 'TWO', value: 'second-2-Qx7' }]);
    expect(redactor.text(value.text)).toBe('[redacted:ONE] and [redacted:TWO]');
  });

  it('leaves nothing of secrets that overlap, and nothing of one that is written like a mark', () => {
    const redactor = createRedactor([
      { name: 'LEFT', value: 'abcdef12' },
      { name: 'RIGHT', value: 'def12xyz' },
    ]);
    expect(redactor.text('(abcdef12xyz)')).toBe('([redacted:LEFT])');
    expect(redactor.text('[redacted:abcdef12]')).toBe('[redacted:[redacted:LEFT]]');
  });

  it('finds a secret as JSON and addresses write it', () => {
    const redactor = createRedactor([{ name: 'S', value: 'a"b\\c@d e' }]);
    for (const form of ['a"b\\c@d e', JSON.stringify('a"b\\c@d e').slice(1, -1), encodeURIComponent('a"b\\c@d e')])
      expect(redactor.text(`<${form}>`)).toBe('<[redacted:S]>');
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

  const known = ['k3y-of-the-first', 'of-the-first-and', 'PGPASSWORD-is-set', 'redacted:P'];
  const pieces = fc.constantFrom(
    ...known,
    '[redacted:',
    ']',
    'P',
    'ghp_',
    'a1B2'.repeat(9),
    'Bearer ',
    '-----BEGIN PRIVATE KEY-----',
    'eyJ',
    '.',
  );
  const texts = fc.array(fc.oneof(pieces, fc.string({ maxLength: 12 })), { maxLength: 12 }).map((parts) => parts.join(''));
  const redactor = createRedactor(known.map((value, index) => ({ name: index === 2 ? 'PGPASSWORD' : 'P', value })));

  it('changes nothing when it is done again, and leaves no secret', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const once = redactor.text(text);
        expect(redactor.text(once)).toBe(once);
        const bare = once.replaceAll(/\[redacted:[\w.-]+\]/g, '\0');
        for (const value of known.slice(0, 3)) expect(bare).not.toContain(value);
      }),
      { numRuns: 2_000 },
    );
  });

  it.each([
    'x',
    ' ',
    '\n',
    'eyJ',
    'sk-',
    '://a:',
    'Bearer ',
    'AAAA\n',
    '-----BEGIN PRIVATE KEY-----',
    '-----END PRIVATE KEY-----\n',
    'AAAA-----END PRIVATE KEY-----',
    '[redacted:jwt] Bearer a1B2c3D4e5F6g7H8 ',
    'a1B2',
  ])('goes through a long text of %j in one go', (piece) => {
    const long = piece.repeat(400_000 / piece.length);
    const text = `${long} ${known[0]} ${long}`;
    expect(redactor.text(text)).not.toContain(known[0]);
  });

  it('never changes a text without secrets', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        expect(redactor.text(text)).toBe(text);
      }),
    );
  });
});

describe('what is hidden of a text', () => {
  const known = ['k3y-of-the-first', 'of-the-first-and', 'redacted:P', 'jwt] Bearer a1'];
  const redactor = createRedactor(known.map((value, index) => ({ name: `P${index}`, value })));
  const pieces = [
    ...known,
    '[redacted:',
    '[redacted:P1]',
    ']',
    '[redacted:jwt]',
    'ghp_',
    'a1B2'.repeat(9),
    'Bearer ',
    ' ',
    '.',
    'eyJ',
  ];
  const texts = fc
    .array(fc.oneof(fc.constantFrom(...pieces), fc.string({ maxLength: 6 })), { maxLength: 14 })
    .map((parts) => parts.join(''));
  it('is in order, apart, and with its marks makes what is shown', () => {
    fc.assert(
      fc.property(texts, (text) => {
        const hidden = redactor.hidden(text);
        let at = 0;
        for (const { from, to } of hidden) {
          expect(from).toBeGreaterThanOrEqual(at);
          expect(to).toBeGreaterThan(from);
          at = to;
        }
        expect(withMarks(text, hidden)).toBe(redactor.text(text));
      }),
      { numRuns: 2_000 },
    );
  });

  it('is the very piece', () => {
    const text = 'a k3y-of-the-first b\nDB=Bearer a1B2c3D4e5F6g7H8\n';
    expect(redactor.hidden(text).map(({ from, to, mark }) => [text.slice(from, to), mark])).toEqual([
      ['k3y-of-the-first', '[redacted:P0]'],
      ['a1B2c3D4e5F6g7H8', '[redacted:bearer]'],
    ]);
  });
});
