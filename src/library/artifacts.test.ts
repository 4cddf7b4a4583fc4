/** What a program finds of the work that its runs left behind. */
import { expect, it } from 'vitest';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { createTemporaryProject } from '../testing/temporary-project.ts';

it('a run leaves artifacts behind, which are listed, found by their references and read', async () => {
  const writer = defineAgent({ name: 'writer', prompt: 'You write.', tools: ['write'], permissions: { write: 'allow' } });
  const writes = { toolCalls: [{ name: 'write', input: { path: 'greeting.txt', content: 'Hello.\n' } }] };
  await using project = await createTemporaryProject({ replies: [writes, { finalReport: 'Written.' }], agents: [writer] });
  const { session, run } = await project.troupe.run('writer', 'Write a greeting.');
  const { artifacts } = project.troupe;
  const [patch] = (await artifacts.list({ session, run })).filter(({ type }) => type === 'patch');
  if (patch === undefined) throw new Error('There is no patch.');
  expect(patch.ref).toMatch(/^artifact:\/\/patches\//);
  expect(await artifacts.resolve(patch.ref, session)).toMatchObject({ ok: true, value: { kind: 'artifact', artifact: patch } });
  const parts: Uint8Array[] = [];
  for await (const part of artifacts.bytes(patch)) parts.push(part);
  expect(Buffer.concat(parts).toString()).toContain('+Hello.');
  const unknown = await artifacts.resolve('artifact://patches/none.patch');
  expect(unknown).toMatchObject({ ok: false, error: { code: 'artifact_unknown' } });
});
