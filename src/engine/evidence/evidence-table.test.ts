/** Tricks and honest work through the real shell: no trick is verified, and no honest work is called into doubt. */
import { describe, expect, it } from 'vitest';
import { aroundTricks, honestAround } from '../../../test/support/evidence/around.ts';
import { elsewhereTricks } from '../../../test/support/evidence/elsewhere.ts';
import { honest as lines } from '../../../test/support/evidence/honest.ts';
import { meanwhileTricks } from '../../../test/support/evidence/meanwhile.ts';
import { honestSessions, sessionTricks } from '../../../test/support/evidence/sessions.ts';
import { silentTricks, toldTests } from '../../../test/support/evidence/silent.ts';
import { honestTests, steeredTricks } from '../../../test/support/evidence/steered.ts';
import { tricks as hidden } from '../../../test/support/evidence/tricks.ts';
import { verificationOf } from '../../../test/support/evidence/world.ts';

const tricks = [
  ...hidden,
  ...steeredTricks,
  ...silentTricks,
  ...sessionTricks,
  ...aroundTricks,
  ...elsewhereTricks,
  ...meanwhileTricks,
];
const honest = [...lines, ...honestTests, ...toldTests, ...honestSessions, ...honestAround];

it('the table of evidence has at least forty tricks and forty honest works', () => {
  expect(tricks.length).toBeGreaterThanOrEqual(40);
  expect(honest.length).toBeGreaterThanOrEqual(40);
  const names = [...tricks.map(({ name }) => `trick ${name}`), ...honest.map(({ name }) => `honest ${name}`)];
  expect(new Set(names).size).toBe(names.length);
});

describe.concurrent('a trick is not verified:', () => {
  it.each(tricks)('$name', async (one) => {
    expect(await verificationOf(one)).toMatchObject({
      state: 'unverified',
      reasons: expect.arrayContaining([expect.any(String)]),
    });
  });
});

describe.concurrent('honest work is verified:', () => {
  it.each(honest)('$name', async (one) => {
    expect(await verificationOf(one)).toEqual({ state: 'verified' });
  });
});
