/** A result is as good as what it rests on. */
import { expect, it } from 'vitest';
import type { Claim } from '../events/catalogue.ts';
import { type NamedResult, restsOn, UNCHECKED, unverified } from './verification.ts';

const passed: Claim = { kind: 'command', command: 'npm test' };
const verified = { state: 'verified' } as const;

const part = (
  verification: NamedResult['result']['verification'],
  status: NamedResult['result']['status'] = 'completed',
): NamedResult => ({
  name: 'coder',
  result: { status, verification },
});

it.each([
  ['unchecked', UNCHECKED],
  ['verified by something else', verified],
])('what is %s and rests on something unverified is unverified, and says by whom', (_what, own) => {
  const found = restsOn({ verification: own }, [part(unverified(['npm test: not run'], [passed]), 'completed_unverified')]);
  expect(found).toMatchObject({ state: 'unverified', reasons: [expect.stringContaining('coder')] });
});

it('who has verified the very claim that a part could not back has made it good', () => {
  const open = part(unverified(['npm test: not run'], [passed]), 'completed_unverified');
  expect(restsOn({ verification: verified, claims: [passed] }, [open])).toEqual(verified);
});

it('a part that is verified, or that failed, changes nothing', () => {
  expect(restsOn({ verification: UNCHECKED }, [part(verified), part(UNCHECKED, 'failed')])).toEqual(UNCHECKED);
});
