/** The algebra of results: what pulls down, what heals, and that nobody comes out better than what it rests on. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunId } from '../base/ids.ts';
import { limits } from '../base/limits.ts';
import type { Claim, RunStatus, Verification } from '../events/catalogue.ts';
import { verification as schema } from '../events/verification.ts';
import {
  afterRound,
  madeElsewhere,
  type NamedResult,
  restsOn,
  together,
  UNCHECKED,
  unverified,
  withVerification,
} from './verification.ts';

const RUN = 'run_1' as RunId;
const VERIFIED: Verification = { state: 'verified' };
const claim = (command: string): Claim => ({ kind: 'command', command });
const part = (
  name: string,
  verification: Verification,
  claims: readonly Claim[] = [],
  status: RunStatus = 'completed',
): NamedResult => ({
  name,
  result: { status, verification, claims },
});
const bad = (name: string, ...commands: readonly string[]): NamedResult =>
  part(name, unverified([`${name} did not`], commands.map(claim)), commands.map(claim), 'completed_unverified');

describe('what was written with other results at hand', () => {
  it.each([
    ['verified over nothing', VERIFIED, [], 'verified'],
    ['verified over unchecked', VERIFIED, [part('a', UNCHECKED)], 'verified'],
    ['unchecked over verified is not lifted', UNCHECKED, [part('a', VERIFIED)], 'unchecked'],
    ['unchecked over unchecked', UNCHECKED, [part('a', UNCHECKED)], 'unchecked'],
    ['verified over unverified', VERIFIED, [bad('a', 'x')], 'unverified'],
    ['unchecked over unverified', UNCHECKED, [bad('a', 'x')], 'unverified'],
    ['one of many is enough', VERIFIED, [part('a', VERIFIED), bad('b', 'x'), part('c', UNCHECKED)], 'unverified'],
    ['a failed one is nothing to rest on', VERIFIED, [part('a', UNCHECKED, [], 'failed')], 'verified'],
  ] as const)('%s', (_name, own, parts, state) => {
    expect(restsOn({ verification: own }, parts).state).toBe(state);
  });

  it('names who, and why, all the way down', () => {
    const inner = restsOn({ verification: UNCHECKED }, [bad('tester', 'x')]);
    expect(restsOn({ verification: unverified(['own']) }, [part('coder', inner)])).toMatchObject({
      reasons: ['own', 'coder: tester: tester did not'],
    });
  });

  it('is healed by the very claims that were open, and by no others', () => {
    const healed = (claims: readonly Claim[], ...open: readonly string[]) =>
      restsOn({ verification: VERIFIED, claims }, [bad('a', ...open)]).state;
    expect(healed([claim('x'), claim('y')], 'x', 'y')).toBe('verified');
    expect(healed([claim('x')], 'x', 'y')).toBe('unverified');
    expect(healed([claim('true')], 'x')).toBe('unverified');
    expect(healed([{ kind: 'file', path: 'x' }], 'x')).toBe('unverified');
    // Claiming the same and not proving it heals nothing, and what no claim can mend stays.
    expect(restsOn({ verification: UNCHECKED, claims: [claim('x')] }, [bad('a', 'x')]).state).toBe('unverified');
    expect(restsOn({ verification: VERIFIED, claims: [claim('x')] }, [part('a', unverified(['the limit']))]).state).toBe(
      'unverified',
    );
  });

  it('is not healed from another folder, nor does it heal one there', () => {
    const result = {
      status: 'completed',
      report: { format: 'text', body: '' },
      finalAgent: 'a',
      finalRun: RUN,
      turns: 0,
    } as const;
    const open = madeElsewhere({ ...result, verification: unverified(['no'], [claim('x')]) });
    expect(restsOn({ verification: VERIFIED, claims: [claim('x')] }, [{ name: 'a', result: open }]).state).toBe('unverified');
    const proved = madeElsewhere({ ...result, verification: VERIFIED, claims: [claim('x')] });
    expect(proved.verification.state).toBe('verified');
    expect(restsOn(proved, [bad('b', 'x')]).state).toBe('unverified');
  });

  it('a later round makes good what an earlier one could not back', () => {
    const first = [bad('coder', 'x')];
    const proved = part('coder', VERIFIED, [claim('x')]);
    expect(restsOn({ verification: UNCHECKED }, afterRound(first, [proved])).state).toBe('unchecked');
    expect(restsOn({ verification: UNCHECKED }, afterRound(first, [part('coder', UNCHECKED)])).state).toBe('unverified');
    // Beside each other nobody can say who came last.
    expect(restsOn({ verification: UNCHECKED }, afterRound([], [...first, proved])).state).toBe('unverified');
  });
});

describe('results side by side', () => {
  it.each([
    ['all verified', [part('a', VERIFIED), part('b', VERIFIED)], 'verified'],
    ['one unchecked', [part('a', VERIFIED), part('b', UNCHECKED)], 'unchecked'],
    ['one unverified', [part('a', VERIFIED), bad('b', 'x'), part('c', UNCHECKED)], 'unverified'],
    ['one failed', [part('a', VERIFIED), part('b', UNCHECKED, [], 'failed')], 'unchecked'],
    ['nobody', [], 'unchecked'],
  ] as const)('%s', (_name, parts, state) => {
    expect(together(parts).state).toBe(state);
  });
});

const RANK = { unverified: 0, unchecked: 1, verified: 2 } as const;
const anyVerification = fc.oneof(
  fc.constant(VERIFIED),
  fc.constant(UNCHECKED),
  fc.array(fc.string({ minLength: 1, maxLength: 2_000 }), { minLength: 1, maxLength: 60 }).map((reasons) => unverified(reasons)),
);
const anyPart = fc
  .record({ name: fc.string({ maxLength: 200 }), verification: anyVerification })
  .map(({ name, verification }) => part(name, verification));

describe('whatever the parts', () => {
  it('nothing is better than what it is itself, nor than an unverified part, and everything fits its schema', () => {
    fc.assert(
      fc.property(anyVerification, fc.array(anyPart, { maxLength: 30 }), (own, parts) => {
        const whole = restsOn({ verification: own }, parts);
        expect(RANK[whole.state]).toBeLessThanOrEqual(RANK[own.state]);
        if (parts.some(({ result }) => result.verification.state === 'unverified')) expect(whole.state).toBe('unverified');
        for (const made of [whole, together(parts)]) {
          expect(schema.safeParse(made).success).toBe(true);
          if (made.state === 'unverified') expect(made.reasons.length).toBeLessThanOrEqual(limits.verificationReasons);
        }
      }),
    );
  });

  it.each(['failed', 'cancelled', 'budget_exhausted'] as const)('a run that %s is never anything but unchecked', (status) => {
    const report = { format: 'text', body: '' } as const;
    const result = { status, report, finalAgent: 'a', finalRun: RUN, turns: 0, verification: VERIFIED };
    expect(withVerification(result, unverified(['no']))).toMatchObject({ status, verification: UNCHECKED });
  });
});
