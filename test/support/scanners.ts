/**
 * Everything that reads text of others (models, tools, files, the network), as one function of a text each. Whoever writes a new
 * one adds it here; test/proportion.test.ts feeds them.
 */
import { createRedactor } from '../../src/base/secrets/redact.ts';
import { passedTests } from '../../src/tools/shell/test-output.ts';

const { text: redacted } = createRedactor([{ name: 'KEY', value: 'first-1-Qx7' }]);

export const scanners: Readonly<Record<string, (text: string) => unknown>> = {
  'how many tests passed': passedTests,
  'redaction, looking over': redacted,
  'redaction, looking closely': (text) => redacted(`first-1-Qx7 ${text}`),
};

/** A text is one of these, over and over. */
export const runs: readonly string[] = [
  ...['\n', ' ', '\t', '\r', '\r\n', '\u2028', '\n ', '\n\n ', ' \n'],
  ...['=', '-', '#', '.', '@', '`', '~', '"', "'", '\\', '*', '_', ':', ';', ',', '|', '!', '?', '&', '$', '%', '+', '/', '^'],
  ...['(', ')', '[', ']', '{', '}', '<', '>', '((', '](', '[a', '(a', '{,', '${', '<a ', '</a', '<!--', '&#'],
  ...[
    '1',
    '12 ',
    'a',
    'A',
    'a ',
    'a.',
    'a-',
    'a=',
    'é',
    '漢',
    '😀',
    '"a',
    '`a',
    '@a',
    '1 passed ',
    'a: ',
    '\n- ',
    '\n# ',
    '\n> ',
    '\n| ',
  ],
  ...['Bearer ', 'authorization basic ', 'eyJ', 'sk-', '://a:', '-----BEGIN PRIVATE KEY-----', 'AAAA-----END PRIVATE KEY-----'],
  ...['\u001b', '\u001b[', '\u001b;#', '[redacted:jwt]', '@worker: ', '@end ', '```\n', 'href="'],
];
