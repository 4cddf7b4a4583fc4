import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { limits } from '../base/limits.ts';
import { bearerToken, createTokens, parseTokens, tokenProblem } from './tokens.ts';

const ALICE = 'alice-token-0123456789';
const BOB = 'bob-token-0123456789==';

describe('tokens of callers', () => {
  const tokens = createTokens([
    { name: 'alice', token: ALICE },
    { name: 'bob', token: BOB },
  ]);

  it('say whose they are', () => {
    expect(tokens.open).toBe(false);
    expect([ALICE, BOB, `${ALICE} `, ALICE.slice(1), ''].map(tokens.ownerOf)).toEqual([
      'alice',
      'bob',
      undefined,
      undefined,
      undefined,
    ]);
    expect(createTokens([]).open).toBe(true);
  });

  it('are not guessed by any other text', () => {
    fc.assert(fc.property(fc.string(), (text) => tokens.ownerOf(text) === undefined));
  });

  it.each([
    [`Bearer ${ALICE}`, ALICE],
    [`bearer   ${BOB}`, BOB],
    ['Bearer', undefined],
    ['Basic YTpi', undefined],
    [`Bearer ${ALICE} ${BOB}`, undefined],
    [undefined, undefined],
  ])('come in a header: %s', (header, token) => {
    expect(bearerToken(header)).toBe(token);
  });
});

describe('TROUPE_TOKENS', () => {
  it('names the caller of each token', () => {
    expect(parseTokens(`alice=${ALICE}, bob=${BOB}`)).toEqual({
      ok: true,
      value: [
        { name: 'alice', token: ALICE },
        { name: 'bob', token: BOB },
      ],
    });
  });

  it.each([
    ['alice', 'fewer than 16'],
    [`=${ALICE}`, 'not a name'],
    [`a b=${ALICE}`, 'not a name'],
    ['alice=short', 'fewer than 16'],
    ['alice=with spaces in the token', 'cannot carry'],
    [`alice=${ALICE},alice=${BOB}`, 'shares'],
    [`alice=${ALICE},bob=${ALICE}`, 'shares'],
    [`alice=${ALICE},`, 'not a name'],
    [`user=${ALICE}`, 'is reserved'],
    [`alice=${ALICE},System=${BOB}`, 'is reserved'],
  ])('is refused when it is %s', (text, why) => {
    expect(parseTokens(text)).toMatchObject({ ok: false, error: expect.stringContaining(why) });
  });

  it('names no more callers than a server takes', () => {
    const callers = (count: number): string =>
      Array.from({ length: count }, (_, number) => `caller${number}=token-of-caller-${number}-0123`).join(',');
    expect(parseTokens(callers(limits.callersPerServer)).ok).toBe(true);
    expect(parseTokens(callers(limits.callersPerServer + 1))).toMatchObject({
      ok: false,
      error: expect.stringContaining('more'),
    });
  });

  it('is never half understood', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        const parsed = parseTokens(text);
        if (parsed.ok) for (const { token } of parsed.value) expect(tokenProblem(token)).toBe(undefined);
      }),
    );
  });
});
