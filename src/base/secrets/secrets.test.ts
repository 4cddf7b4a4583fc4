/** Which names and values are secrets: the table that says what the rules are good for. */
import { describe, expect, it } from 'vitest';
import { isSecretName } from './names.ts';
import { createRedactor, isSecretVariable, secretsOf } from './redact.ts';
import { canBeSecret } from './values.ts';

const SECRET_NAMES = `DB_PASS API_KEYS JWT_SECRET_V2 GITHUB_TOKEN PGPASSWORD GPG_PASSPHRASE AWS_CREDENTIALS OPENAI_API_KEY
  AWS_SECRET_ACCESS_KEY MYSQL_PWD SECRET_KEY_BASE NPM_TOKEN githubToken dbPassword api-key client_secret STRIPE_KEY_LIVE
  SSH_PRIVATE_KEY REDIS_PASSWORD SENTRY_AUTH_TOKEN TOKEN_GITHUB PASSWORD_DB SLACK_BOT_TOKEN ENCRYPTION_KEY_2 DB_PASS_PROD
  GITLAB_PAT TROUPE_TOKENS TROUPE_SEAL_KEY AUTHTOKEN APIKEY BASIC_AUTH SESSION_COOKIE DB_CREDS KEY TOKEN POSTGRES_PASSWORD_OLD
  SERVICE_ACCOUNT_CREDENTIALS_JSON NEXTAUTH_SECRET X_API_KEY_EU HF_TOKEN`.split(/\s+/);

const ORDINARY_NAMES =
  `PATH HOME PWD OLDPWD KEYBOARD MONKEY MAX_TOKENS_LIMIT TOKEN_LIMIT TOKEN_TTL KEY_FILE SSH_KEY_PATH PUBLIC_KEY
  SSH_PUB_KEY AWS_ACCESS_KEY_ID SECRET_NAME SECRET_ARN SSH_AUTH_SOCK GIT_CREDENTIAL_HELPER PASSWORD_POLICY AUTH_PROVIDER AUTH_URL
  COMPASS BYPASS PATTERN PATCH TOKENIZER EDITOR KEYCLOAK_HOST PASSENGER AUTHOR GIT_AUTHOR_NAME MONKEYPATCH NODE_ENV LANG
  STRIPE_PUBLISHABLE_KEY CACHE_KEY SORT_KEY TOKEN_BUDGET PASSWORD_MIN_LENGTH TURKEY JOCKEY_NAME SECRETARY`.split(/\s+/);

const SECRET_VALUES = [
  ...['hunter2hunter2', 's3cr3tpw', 'Tr0ub4dor&3', 'correct horse battery staple', 'correcthorsebatterystaple', 'xkqjzwvp'],
  ...['p@ssw0rd!x9', '8f14e45fceea167a5a36dedd4bea2543', 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY', '1234567890123456'],
  ...[
    'aB3$kL9#',
    'summer2024',
    'Ab1Cd2Ef3',
    'qzxvbnmk',
    'zjfhqwrt',
    'G7h!2kLp',
    'my-cat-is-7-years',
    '0xdeadbeefcafe',
    '550e8400-e29b-41d4-a716',
  ],
  ...[
    'bXktdG9rZW4tdmFsdWU=',
    'pa55word-for-db',
    'kitchen-table-purple',
    'AbCdEfGhIjKl',
    'n0t-a-w0rd',
    'tok_9f8e7d6c',
    '/aB3dE9fGh1kLm4nOp7qRs2tUv5wXy8z',
  ],
  ...[
    'PZKQJXVB',
    'postgres_x7Kq',
    'admin!9Zk2',
    'rosebud99x',
    'eyJhbGciOiJIUzI1NiJ9',
    'test-9d8f7a6b',
    'thequickbrownfoxjumps',
    'Secret-Garden-77',
  ],
  ...[
    'ghp_16C7e42F292c6912E7',
    'a8:f5:f1:67:f4:4f',
    'v1.2f9a8c7e6d',
    'x-9-y-8-z-7',
    'Zo3ßäöü-long',
    '密码是很长的一个句子呢',
    'password=Qx81',
    'root:Xy77!',
  ],
];

const ORDINARY_VALUES = [
  ...[
    'postgres',
    'password',
    'true',
    'localhost',
    'admin',
    'test1234',
    'changeme',
    'production',
    'development',
    'password123',
    'minioadmin',
  ],
  ...[
    'elephant',
    'keyboard',
    'sunshine',
    'database',
    'username',
    'localhost:',
    'postgresql',
    'my-password',
    'test-user',
    'root_password',
    'admin123456',
  ],
  ...[
    '12345678',
    '2024-01-01',
    '127.0.0.1',
    '127.0.0.1:5432',
    'xxxxxxxx',
    '********',
    '/run/secrets/db_password',
    '~/.ssh/id_rsa',
    './keys/server.pem',
  ],
  ...[
    'https://example.com/login',
    'http://localhost:8080',
    'Production',
    'secret',
    'your-api-key-here',
    'your_token',
    '<your-key>',
    '$API_KEY',
    'value-one',
  ],
  ...[
    'default-value',
    'Welcome1',
    'qwertyuiop',
    'enterprise',
    'redacted',
    'null',
    'undefined',
    'foobar123',
    '        ',
    'C:\\keys\\server',
  ],
];

describe('names of secrets', () => {
  it('are in the table in sufficient number', () => {
    for (const list of [SECRET_NAMES, ORDINARY_NAMES, SECRET_VALUES, ORDINARY_VALUES])
      expect(list.length).toBeGreaterThanOrEqual(40);
  });
  it.each(SECRET_NAMES)('%s names a secret', (name) => expect(isSecretName(name)).toBe(true));
  it.each(ORDINARY_NAMES)('%s names no secret', (name) => expect(isSecretName(name)).toBe(false));
});

describe('values that may be secrets', () => {
  it.each(SECRET_VALUES)('%s can be a secret', (value) => {
    expect(canBeSecret(value)).toBe(true);
    expect(secretsOf({ DB_PASS: value })).toEqual([{ name: 'DB_PASS', value }]);
  });
  it.each(ORDINARY_VALUES)('%s is an ordinary text', (value) => {
    const redactor = createRedactor(secretsOf({ DB_PASS: value, API_KEYS: value, SOME_TOKEN: value }));
    expect(redactor.text(`It says ${value} here.`)).toBe(`It says ${value} here.`);
  });
  it('are kept from commands by their name, whatever they are', () => {
    expect(isSecretVariable('DB_PASS', 'postgres')).toBe(true);
    expect(isSecretVariable('DATABASE_URL', 'postgres://me:Xk29-vbTq@db/x')).toBe(true);
    expect(isSecretVariable('DATABASE_URL', 'postgres://me:postgres@db/x')).toBe(false);
    expect(isSecretVariable('DATABASE_URL', 'postgres://db/x')).toBe(false);
  });
});

const long = 'a1B2c3D4e5'.repeat(10);
const JWT = `eyJ${long.slice(0, 20)}.eyJ${long.slice(0, 30)}.${long.slice(0, 43)}`;
const PEM = `-----BEGIN OPENSSH PRIVATE KEY-----\n${`${long.slice(0, 70)}\n`.repeat(5)}-----END OPENSSH PRIVATE KEY-----`;
const AWS_SECRET = 'wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY';

describe('texts with the shape of a key', () => {
  it.each([
    ['jwt', JWT],
    ['gitlab-token', `glpat-${long.slice(0, 20)}`],
    ['npm-token', `npm_${long.slice(0, 36)}`],
    ['stripe-key', `sk_live_${long.slice(0, 24)}`],
    ['stripe-key', `rk_live_${long.slice(0, 24)}`],
    ['stripe-key', `whsec_${long.slice(0, 32)}`],
    ['github-token', `ghs_${long.slice(0, 36)}`],
    ['github-token', `github_pat_${long.slice(0, 60)}`],
    ['slack-token', 'xoxp-1234567890-abcdefghij'],
    ['slack-token', `xapp-1-${long.slice(0, 30)}`],
    ['google-key', `AIza${long.slice(0, 35)}`],
    ['google-key', `GOCSPX-${long.slice(0, 28)}`],
    ['anthropic-key', `sk-ant-api03-${long.slice(0, 40)}`],
    ['api-key', `sk-${long.slice(0, 48)}`],
    ['api-key', `gsk_${long.slice(0, 48)}`],
    ['api-key', `hf_${long.slice(0, 34)}`],
    ['aws-key', 'ASIAIOSFODNN7EXAMPLE'],
    ['pypi-token', `pypi-${long.slice(0, 60)}`],
    ['docker-token', `dckr_pat_${long.slice(0, 27)}`],
    ['sendgrid-key', `SG.${long.slice(0, 22)}.${long.slice(0, 43)}`],
    ['shopify-token', `shpat_${'0123456789abcdef'.repeat(2)}`],
    ['digitalocean-token', `dop_v1_${'0123456789abcdef'.repeat(4)}`],
    ['linear-key', `lin_api_${long.slice(0, 40)}`],
    ['age-key', `AGE-SECRET-KEY-1${'QPZRY9X8GF2TVDW0S3JN'.repeat(3)}`.slice(0, 74)],
    ['private-key', PEM],
  ])('%s', (name, key) => {
    const { text } = createRedactor([]);
    expect(text(`before ${key} after`)).toBe(`before [redacted:${name}] after`);
    expect(text(`x="${key}"`)).toBe(`x="[redacted:${name}]"`);
    // Behind the sign of a diff, in a path or a query, and behind an escape that was written out.
    const before = ['+', '-', '/', '_', '=', '\\n', '%3D', '\n+'];
    if (name !== 'private-key') for (const edge of before) expect(text(`${edge}${key}`)).toBe(`${edge}[redacted:${name}]`);
  });

  it('and what stands where a secret belongs', () => {
    const { text } = createRedactor([]);
    expect(text(`aws_secret_access_key = ${AWS_SECRET}\n`)).toBe('aws_secret_access_key = [redacted:aws-secret]\n');
    expect(text(`"SecretAccessKey": "${AWS_SECRET}"`)).toBe('"SecretAccessKey": "[redacted:aws-secret]"');
    expect(text('postgres://me:Xk29-vbTq@db/x')).toBe('postgres://me:[redacted:password]@db/x');
    // The host is behind the last of them.
    expect(text('http://me:pw@docs.example.org@evil.com/')).toBe('http://me:[redacted:password]@evil.com/');
    const beside = (password: string): string => `{"at":"http://me:${password}@db","mail":"me@example.org"}`;
    expect(text(beside('Xk29-vbTq'))).toBe(beside('[redacted:password]'));
    expect(text('Authorization: Basic bWU6WGsyOS12YlRx')).toBe('Authorization: Basic [redacted:basic-auth]');
    expect(text(`BEARER ${long.slice(0, 30)}`)).toBe('BEARER [redacted:bearer]');
    expect(text('https://hooks.slack.com/services/T000/B000/abcDEF123456')).toMatch(/services\/\[redacted:webhook\]$/);
  });

  it('also when a text was cut in the middle of a private key', () => {
    const { text } = createRedactor([]);
    const at = PEM.indexOf('\n', 150);
    expect(text(`head\n${PEM.slice(0, at)}`)).toBe('head\n[redacted:private-key]');
    expect(text(`${PEM.slice(at + 1)}\ntail`)).toBe('[redacted:private-key]\ntail');
  });

  it.each([
    'sk-fading-circle-with-a-long-class-name',
    'the task-management-and-organisation-board',
    'Bearer authentication-scheme-of-the-api',
    'postgres://user:password@localhost:5432/db',
    'postgres://postgres:postgres@localhost/db',
    'https://user:changeme@example.com/',
    'pk-styled-components-are-loaded-here',
    'npm_config_registry and npm_lifecycle_event',
    'eyJ is how a JWT begins',
    'AKIA is a prefix',
    'glpat-your-token-comes-in-this-place',
    'the ghp_ prefix of GitHub',
    'http://example.com:8080/a@b',
    'git@github.com:owner/repository.git',
    '-----BEGIN CERTIFICATE-----\nMIIC\n-----END CERTIFICATE-----',
    'commit 8f14e45fceea167a5a36dedd4bea2543aabbccdd',
    '550e8400-e29b-41d4-a716-446655440000',
    'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=',
  ])('but not %s', (text) => expect(createRedactor([]).text(text)).toBe(text));
});
