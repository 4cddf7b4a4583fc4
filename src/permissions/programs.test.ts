/** Options of well-known programs that run or write something: a star stands for none of them. */
import { describe, expect, it } from 'vitest';
import { decideLine } from './shell-rules.ts';

const decide = (line: string): string => decideLine(line, [{ [`${line.split(' ', 1)[0]} *`]: 'allow' }], {});

describe('a star behind a program', () => {
  it.each([
    "split --filter='sh -c id' a",
    "split --filt='sh -c id' a",
    'shuf -o src/a.ts b',
    'xxd -r a src/a.ts',
    'dd if=a of=src/a.ts',
    'ssh-keygen -l -D ./evil.so',
    'openssl engine ./evil.so',
    'openssl enc -in a -out src/a.ts',
    'openssl dgst -provider ./evil.so a',
    'mypy --python-executable ./evil a.py',
    'pytest -p evil',
    'pytest --rootdir /tmp/evil',
    'pytest -c /tmp/evil.ini',
    'eslint --rulesdir evil .',
    'eslint -c evil.js .',
    'eslint --fix .',
    'prettier --write .',
    'gcc -wrapper sh,-c a.c',
    'gcc -B./evil a.c',
    'gcc -fplugin=./evil.so a.c',
    'gcc @evil',
  ])('does not cover %s', (line) => {
    expect(decide(line)).toBe('ask');
  });

  it.each([
    'split -l 10 a',
    'shuf a',
    'xxd a',
    'ssh-keygen -l -f a.pub',
    'openssl dgst -sha256 a',
    'mypy a.py',
    'pytest -x -k name test',
    'eslint .',
    'prettier --check .',
    'gcc -Wno-format -c a.c',
  ])('covers %s', (line) => {
    expect(decide(line)).toBe('allow');
  });
});
