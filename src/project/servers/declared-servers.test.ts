/** What a person allowed counts for the declaration that they saw, and for no other. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { expect, it } from 'vitest';
import { temporaryProject } from '../../../test/fixtures/agents/temporary-project.ts';
import { defineAgent } from '../../agents/definition/define-agent.ts';
import type { Json } from '../../base/json.ts';
import { createTemporaryProject } from '../../testing/temporary-project.ts';
import { createChangedFiles } from './changed-files.ts';
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

const OWN = { own: { command: 'sh', args: ['tools/server.sh'] } };
const NOBODY = { servers: [], diagnostics: [] };
const SERVER = 'tools/server.sh';

it('nobody gets rights through what a server of the settings runs: tools are refused, commands noticed', async () => {
  const call = (name: string, input: Json) => ({ toolCalls: [{ name, input }] });
  await using project = await createTemporaryProject({
    files: {
      'troupe.yaml': `mcp: ${JSON.stringify({ own: { command: 'sh', args: [SERVER] } })}\nsandbox: off\n`,
      [SERVER]: 'exit 1\n',
      'agents/writer.md': '---\ntools: [read, write, edit]\n---\nYou write.',
      'agents/runner.md': '---\ntools: [shell]\npermissions: { shell: allow }\n---\nYou run.',
      'agents/caller.md': '---\ntools: ["mcp:own"]\n---\nYou call.',
    },
    replies: {
      agents: {
        writer: [call('edit', { path: SERVER, old: 'exit 1', new: 'evil' }), { finalReport: '{{lastToolResult}}' }],
        runner: [call('shell', { command: `echo evil > ${SERVER}` }), { finalReport: '{{lastToolResult}}' }],
      },
    },
  });
  const text = async (): Promise<string> => await readFile(join(project.folder, SERVER), 'utf8');
  const refused = await project.troupe.run('writer', 'Go.');
  expect([JSON.stringify(refused), await text()]).toEqual([expect.stringContaining('protected:servers'), 'exit 1\n']);
  // Its owner may write what they like.
  await writeFile(join(project.folder, SERVER), 'exit 2\n');
  const failed = JSON.stringify(await project.troupe.run('caller', 'Go.').catch(String));
  expect(failed).toContain('could not be started');
  expect(JSON.stringify(await project.troupe.run('runner', 'Go.'))).toContain(`closed to agents: ${SERVER}`);
  expect(await text()).toBe('evil\n');
  const stopped = JSON.stringify(await project.troupe.run('caller', 'Go.').catch(String));
  expect(stopped).toContain(`is not started: ${SERVER}, which it runs, changed while a run was at work`);
  expect(stopped).toContain('troupe servers allow');
});

it('is asked about once when it changed while a run was at work, and never for what its owner changed', async () => {
  await using project = await temporaryProject({ [SERVER]: 'one', 'tools/other.sh': 'one' });
  const env = { HOME: project.root };
  const settings = { root: project.root, permissions: [], mcp: OWN, foreign: NOBODY, providers: {} };
  const user = defineAgent({ name: 'caller', prompt: 'You use it.', tools: ['mcp:own'] });
  // Each time as another process would have it.
  const declared = () => createDeclaredServers(settings, env);
  const watching = () => createChangedFiles(project.root, env, OWN).watching();
  const put = (text: string, path = SERVER) => writeFile(join(project.root, path), text);
  const refusal = () => declared().refusal(user);

  await put('by its owner');
  const ended = await watching();
  await put('x', 'tools/other.sh');
  await ended();
  expect(await refusal()).toBeUndefined();

  const first = await watching();
  await put('evil');
  expect(await refusal(), 'while it runs').toContain(SERVER);
  await first();
  const [open] = await declared().open(user);
  expect(open).toMatchObject({ server: 'own', source: 'troupe.yaml', shown: expect.stringContaining(SERVER) });
  if (open === undefined) throw new Error('nothing is open');
  await put('worse');
  await declared().allow(open, APPROVAL);
  expect(await refusal(), 'other than what was allowed').toContain('is not started');
  await put('evil');
  expect(await refusal()).toBeUndefined();
  await put('by its owner again');
  expect(await refusal()).toBeUndefined();

  // The process died before the call had ended.
  await watching();
  const folder = join(project.root, '.config/troupe/watching');
  const [of = ''] = await readdir(folder);
  const [note = ''] = await readdir(join(folder, of));
  const noted = await readFile(join(folder, of, note), 'utf8');
  await writeFile(join(folder, of, note), noted.replace(`"pid":${process.pid}`, '"pid":999999999'));
  await put('evil at the end');
  expect(await refusal()).toContain(SERVER);
  expect(await refusal()).toContain(SERVER);
  await put('by its owner again');
  expect(await refusal(), 'as it was before').toBeUndefined();
});
