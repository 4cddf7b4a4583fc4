/** What a person allowed counts for the declaration that they saw, and for no other. */
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { defineAgent } from '../../agents/definition/define-agent.ts';
import { createDeclaredServers } from './declared-servers.ts';
import { readForeignServers } from './foreign-servers.ts';

const APPROVAL = { by: 'ada', host: 'desk', through: 'terminal', time: '2026-01-01T00:00:00.000Z' } as const;

it('a server of another tool that is allowed opens none of the same words in the file of an agent, nor they it', async () => {
  await using project = await temporaryProject({
    '.mcp.json': JSON.stringify({ mcpServers: { notes: { command: 'notes-server' } } }),
  });
  const env = { HOME: project.root };
  const foreign = await readForeignServers({ root: project.root, env }, []);
  const declared = createDeclaredServers({ root: project.root, permissions: [], mcp: {}, foreign, providers: {} }, env);
  const reader = defineAgent({ name: 'reader', prompt: 'You use it.', tools: ['mcp:notes/*'] });
  // To the letter what the file of the other tool comes to.
  const same = { command: 'notes-server', args: [], env: {} };
  expect(foreign.servers).toMatchObject([{ declared: expect.toSatisfy((one: unknown) => isDeepStrictEqual(one, same)) }]);
  const owner = defineAgent({ name: 'owner', prompt: 'You have it.', tools: ['mcp:notes/*'], mcp: { notes: same } });
  const openOf = async (agent: typeof reader) => (await declared.open(agent)).map(({ server }) => server);
  expect([await openOf(reader), await openOf(owner)]).toEqual([['notes'], ['notes']]);
  const [first] = await declared.open(reader);
  if (first === undefined) throw new Error('nothing is open');
  await declared.allow(first, APPROVAL);
  expect([await openOf(reader), await openOf(owner)]).toEqual([[], ['notes']]);
  await declared.forget('notes');
  const [second] = await declared.open(owner);
  if (second === undefined) throw new Error('nothing is open');
  await declared.allow(second, APPROVAL);
  expect([await openOf(reader), await openOf(owner)]).toEqual([['notes'], []]);
});
