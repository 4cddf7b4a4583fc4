import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTokens, sha256Of } from '../../http/tokens.ts';
import { settingsSchema } from '../../project/settings.ts';
import { callersOf, warningsOf } from './callers.ts';

const OWNER = { name: 'user', token: 'owner-0123456789abcdef' };
const ALICE = { name: 'alice', token: 'alice-0123456789abcdef' };
let root = '';
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), 'troupe-callers-'));
});
afterAll(() => rm(root, { recursive: true, force: true }));

function callers(serve: object, tokens = [OWNER], env = {}, allowCommands = false) {
  const config = { root, workspace: root, serve: settingsSchema.parse({ serve }).serve ?? {} };
  return callersOf({ config, env, owner: 'user', tokens, allowCommands });
}

describe('callers of a server', () => {
  it('are the owner alone, who may do everything', async () => {
    const { callerOf, others, tokens } = await callers({ commands: [] });
    expect(callerOf('user')).toEqual({ name: 'user', sees: 'everything' });
    expect([others, tokens]).toEqual([[], [OWNER]]);
  });

  it('beside the owner give no permissions and run no commands unless it is said', async () => {
    const { callerOf } = await callers({}, [OWNER, ALICE]);
    const rights = { commands: [], answers: true, approves: false };
    expect(callerOf('alice')).toEqual({ name: 'alice', sees: 'own', rights });
    expect(callerOf('user')).toMatchObject({ sees: 'everything', answersForAll: true, rights: { ...rights, approves: true } });
  });

  it('have a role: viewers see everything and do nothing, operators answer for all, owners may do everything', async () => {
    const serve = { callers: { alice: { tokenEnv: 'A', role: 'viewer', approves: true } } };
    const alone = await callers(serve, [OWNER], { A: ALICE.token });
    const rights = { spawn: [], commands: [], answers: false, approves: false };
    expect(alone.callerOf('alice')).toEqual({ name: 'alice', sees: 'everything', role: 'viewer', rights });
    // Nobody's work is beside the owner's.
    expect(alone.callerOf('user')).toEqual({ name: 'user', sees: 'everything', answersForAll: true });
    expect(warningsOf(alone, { root, workspace: root })).toEqual([]);
    const given = async (role: string) => {
      const named = { callers: { alice: { tokenEnv: 'A', role } } };
      return (await callers(named, [OWNER], { A: ALICE.token })).callerOf('alice');
    };
    expect(await given('operator')).toMatchObject({ sees: 'everything', answersForAll: true, rights: { approves: false } });
    expect(await given('owner')).toMatchObject({ sees: 'everything', answersForAll: true, rights: { approves: true } });
  });

  it('have the token that a variable holds or whose hash the file has', async () => {
    const bob = { name: 'bob', token: 'bob-0123456789abcdef' };
    const serve = { callers: { alice: { tokenEnv: 'A' }, bob: { tokenSha256: sha256Of(bob), spawn: ['*'] } } };
    const { tokens, callerOf } = await callers(serve, [OWNER], { A: ALICE.token });
    const known = createTokens(tokens);
    expect([OWNER, ALICE, bob].map(({ token }) => known.ownerOf(token))).toEqual(['user', 'alice', 'bob']);
    expect(callerOf('bob').rights).not.toHaveProperty('spawn');
  });

  it.each([
    [{ callers: { alice: {} } }, [OWNER], 'has no token'],
    [{ callers: { alice: { tokenEnv: 'NONE' } } }, [OWNER], 'fewer than 16 characters'],
    [{ callers: { alice: { tokenEnv: 'A' } } }, [OWNER, ALICE], 'both give a token'],
    [{ callers: { user: { tokenEnv: 'A' } } }, [OWNER], 'is the owner'],
    [{ callers: { system: { tokenEnv: 'A' } } }, [OWNER], 'is reserved'],
    [{ callers: { 'a b': { tokenEnv: 'A' } } }, [OWNER], 'not a name'],
    [{ callers: { bob: { tokenEnv: 'A' } } }, [OWNER, ALICE], 'the same token'],
    [{ callers: { alice: { workspace: 'nowhere' } } }, [OWNER, ALICE], 'there is no folder'],
  ])('are refused at the start when the entry is wrong: %j', async (serve, tokens, message) => {
    await expect(callers(serve, tokens, { A: ALICE.token })).rejects.toThrow(message);
  });

  it('are told about one workspace, and about commands', async () => {
    const config = { root, workspace: root };
    expect(warningsOf(await callers({}), config)).toEqual([]);
    expect(warningsOf(await callers({}, [OWNER, ALICE]), config)).toEqual([expect.stringContaining('alice works in your own')]);
    const own = { commands: 'allow', callers: { alice: { workspace: '.' } } };
    expect(warningsOf(await callers(own, [OWNER, ALICE]), config)).toEqual([expect.stringContaining('may run commands')]);
    expect(warningsOf(await callers({}, [OWNER, ALICE], {}, true), config)).toHaveLength(2);
  });
});
