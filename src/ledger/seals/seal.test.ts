import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { RunId, SessionId } from '../../base/ids.ts';
import { seededRandom } from '../../base/random.ts';
import { passingKeys } from './keys.ts';
import { createSealer, type SealPlace } from './seal.ts';

const place: SealPlace = { session: 'ses_1' as SessionId, run: 'run_1' as RunId, step: 'turn/1/model', type: 'model.response' };
const random = seededRandom(5);
const sealer = createSealer(passingKeys(random), random);
const exact = { payload: { text: 'the password is Xk29-vbTq' }, secrets: [{ name: 'DB_PASS', value: 'Xk29-vbTq' }] };

describe('a sealed payload', () => {
  it('opens to what was sealed, whatever it was', () => {
    fc.assert(
      fc.property(fc.json(), fc.string({ unit: 'binary' }), (json, text) => {
        const given = { payload: { json: JSON.parse(json), text: text.toWellFormed() }, secrets: [] };
        expect(sealer.open(sealer.seal(given, place), place)).toEqual({ ok: true, value: given });
      }),
    );
  });

  it('shows nothing of it, and is another one each time', () => {
    const first = sealer.seal(exact, place);
    expect(Buffer.from(first.split('.')[3] ?? '', 'base64url').toString('latin1')).not.toContain('Xk29');
    expect(first).not.toBe(sealer.seal(exact, place));
  });

  it.each([
    ['session', { ...place, session: 'ses_2' as SessionId }],
    ['run', { ...place, run: 'run_2' as RunId }],
    ['step', { ...place, step: 'turn/2/model' }],
    ['step that is none', { ...place, step: null }],
    ['type', { ...place, type: 'run.started' }],
  ])('does not open in the place of another %s', (_what, other) => {
    expect(sealer.open(sealer.seal(exact, place), other)).toMatchObject({ ok: false });
    expect(sealer.open(sealer.seal(exact, place), place)).toMatchObject({ ok: true });
  });

  it('does not open when a single character was changed', () => {
    const sealed = sealer.seal(exact, place);
    const at = sealed.lastIndexOf('.') + 1;
    for (let index = at; index < sealed.length - 1; index += 1) {
      const changed = `${sealed.slice(0, index)}${sealed[index] === 'A' ? 'B' : 'A'}${sealed.slice(index + 1)}`;
      expect(sealer.open(changed, place).ok, `changed at ${index}`).toBe(false);
    }
    for (const nonsense of ['', '1', '1.x.y.z', '2.a.b.c', sealed.slice(0, -8)])
      expect(sealer.open(nonsense, place).ok).toBe(false);
  });

  it('names the key that is missing', () => {
    const other = createSealer(passingKeys(seededRandom(6)), random);
    const sealed = sealer.seal(exact, place);
    expect(other.open(sealed, place)).toEqual({ ok: false, error: expect.stringContaining(sealed.split('.')[1] ?? '-') });
  });
});
