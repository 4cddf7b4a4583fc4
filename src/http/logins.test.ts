import { describe, expect, it } from 'vitest';
import { handClock } from '../../test/support/hand-clock.ts';
import { limits } from '../base/limits.ts';
import { seededRandom } from '../base/random.ts';
import { createLogins, fleetingKeys, type LoginKeys, ownersCode } from './logins.ts';

function given(marks: Map<string, string> = new Map([['user', 'one']])) {
  const clock = handClock();
  const keys = fleetingKeys(seededRandom(7));
  const mark = (name: string) => marks.get(name);
  const options = { clock, random: seededRandom(1), keys, server: 'here', owner: 'user', mark };
  const again = (more: { keys?: LoginKeys; server?: string } = {}) => createLogins({ ...options, ...more });
  return { clock, marks, keys, logins: createLogins(options), again };
}

const loggedIn = ({ logins }: ReturnType<typeof given>) => {
  const login = logins.swap(logins.code('user').code);
  if (login === undefined) throw new Error('no login');
  return login;
};

describe('logins', () => {
  it('swap a code once, in time, and no other', () => {
    const world = given();
    const { code } = world.logins.code('user');
    expect(world.logins.swap(`${code}x`)).toBeUndefined();
    expect(world.logins.swap(code)).toMatchObject({ name: 'user' });
    expect(world.logins.swap(code)).toBeUndefined();
    const late = world.logins.code('user');
    world.clock.advance(limits.loginCodeMs);
    expect(world.logins.swap(late.code)).toBeUndefined();
  });

  it('keep no more codes than they may, the newest of them', () => {
    const { logins } = given();
    const codes = Array.from({ length: limits.loginCodes + 1 }, () => logins.code('user').code);
    expect(logins.swap(codes[0] ?? '')).toBeUndefined();
    expect(logins.swap(codes[1] ?? '')).toBeDefined();
  });

  it('know whose cookie it is, also in another process with the same secret, and in none with another', () => {
    const world = given();
    const { cookie, key } = loggedIn(world);
    expect(world.again().holder(cookie)?.name).toBe('user');
    expect(world.again().holder(cookie)?.hasKey(key)).toBe(true);
    expect(world.again({ keys: fleetingKeys(seededRandom(8)) }).holder(cookie)).toBeUndefined();
  });

  it('believe no cookie that was changed, and give each a key of its own', () => {
    const world = given();
    const [one, other] = [loggedIn(world), loggedIn(world)];
    const [body = '', signature = ''] = one.cookie.split('.');
    const forged = Buffer.from(Buffer.from(body, 'base64url').toString().replace('user', 'root')).toString('base64url');
    for (const cookie of [
      `${forged}.${signature}`,
      `${body}.`,
      body,
      '',
      `${one.cookie}.x`,
      `${body}.${other.cookie.split('.')[1]}`,
    ])
      expect(world.logins.holder(cookie)).toBeUndefined();
    expect(world.logins.holder(one.cookie)?.hasKey(other.key)).toBe(false);
    expect(world.logins.holder(one.cookie)?.hasKey(one.cookie)).toBe(false);
  });

  it('swap a code that the owner made beside the server: once, there, in time', () => {
    const world = given();
    const make = (server = 'here', secret = world.keys.secret()) =>
      ownersCode(secret, server, world.clock, seededRandom(Math.PI));
    const code = make();
    expect(world.logins.swap(code)).toMatchObject({ name: 'user' });
    expect(world.logins.swap(code)).toBeUndefined();
    const [time = '', id = '', signature = ''] = code.split('.');
    const wrong = [
      make('there'),
      make('here', seededRandom(8).bytes(32)),
      ...[`${Number(time) + 1}.${id}.${signature}`, `${time}.x${id}.${signature}`, `${code}.x`, `${time}.${id}.`, '..', ''],
    ];
    for (const one of wrong) expect(world.again().swap(one)).toBeUndefined();
    world.clock.advance(limits.loginCodeMs);
    expect(world.again().swap(code)).toBeUndefined();
  });

  it('end: by themselves, when somebody leaves, and with the token of whoever they are for', () => {
    const left = given();
    const { cookie } = loggedIn(left);
    left.logins.end(cookie);
    expect(left.logins.holder(cookie)).toBeUndefined();
    const late = given();
    const kept = loggedIn(late);
    late.clock.advance(limits.loginMs);
    expect(late.logins.holder(kept.cookie)).toBeUndefined();
    const changed = given();
    const before = loggedIn(changed);
    changed.marks.set('user', 'two');
    expect(changed.logins.holder(before.cookie)).toBeUndefined();
    changed.marks.delete('user');
    expect(changed.logins.holder(before.cookie)).toBeUndefined();
  });
});
