/** A program without a compiler is told what it got wrong, before anything is done and in words that say what to do. */
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { defineAgent } from '../agents/definition/define-agent.ts';
import { limits } from '../base/limits.ts';
import { userText } from '../events/messages.ts';
import { createGroup } from '../groups/groups.ts';
import { openProject } from '../project/open.ts';
import { createTemporaryProject, type TemporaryProject } from '../testing/temporary-project.ts';
import { defineTool } from '../tools/define-tool.ts';
import { createTroupe, run } from './troupe.ts';

const speaker = defineAgent({ name: 'speaker', prompt: 'You speak.' });
const nod = defineTool({ name: 'nod', description: 'Nods.', input: z.object({}), run: () => 'nodded' });

describe('a program that misspells', () => {
  let project: TemporaryProject;
  beforeAll(async () => {
    project = await createTemporaryProject({ agents: [speaker], replies: () => ({ text: 'Well.' }) });
  });
  afterAll(() => project.close());

  const called = (agent: unknown, prompt: unknown, options: object): Promise<unknown> =>
    project.troupe.run(agent as string, prompt as string, options);
  const given = (options: object): Promise<unknown> => called('speaker', 'Speak.', options);

  it.each<[string, object, string]>([
    ['an option', { onevent: () => undefined }, '"onevent" is not known. Did you mean "onEvent"?'],
    ['one of another library', { abortSignal: new AbortController().signal }, 'Known names: signal, whenAborted'],
    ['a limit', { budget: { dollars: 1 } }, '"budget" cannot be: "dollars" is not known. Known names: usd, tokens'],
    ['the unit of a limit', { budget: { wall: '10m' } }, '"wall" is not known'],
    ['a limit that is a text', { budget: { usd: '1' } }, '"usd" must be a number from 0 on, not "1"'],
    ['a limit that is no number', { budget: { usd: Number.NaN } }, 'not NaN'],
    ['a limit below nothing', { budget: { calls: -1 } }, '"calls" must be a whole number from 0 on, not -1'],
    ['a limit without bounds', { budget: { usd: Number.POSITIVE_INFINITY } }, 'not Infinity'],
    ['a budget that is a number', { budget: 5 }, '"budget" must be an object, not 5'],
    ['a signal that is none', { signal: {} }, '"signal" must be an AbortSignal, not an object'],
    ['what an abort does', { whenAborted: 'stop' }, `"whenAborted" must be 'cancel' or 'pause', not "stop"`],
    ['a callback that is none', { approve: true }, '"approve" must be a function, not true'],
    ['a folder that is none', { workspace: 7 }, '"workspace" must be text, not 7'],
    ['nothing at all', { answer: null }, '"answer" must be a function, not null'],
  ])('%s is refused', async (_what, options, message) => {
    await expect(given(options)).rejects.toMatchObject({
      name: 'TroupeError',
      code: 'usage',
      message: expect.stringContaining(message),
      fix: expect.any(String),
    });
    expect(await project.troupe.ledger.runs({})).toEqual([]);
  });

  it.each<[string, unknown, unknown, string]>([
    ['an agent that is not named', undefined, 'Speak.', 'the agent must be text, not undefined'],
    ['an agent itself', speaker, 'Speak.', 'the agent must be text, not an object'],
    ['no prompt', 'speaker', undefined, 'neither a text nor a message'],
    ['an empty prompt', 'speaker', ' \n', 'The prompt is empty'],
    ['a message of nobody', 'speaker', { text: 'Speak.' }, 'neither a text nor a message'],
    ['a prompt beyond the limit', 'speaker', 'x'.repeat(limits.promptBytes + 1), 'limit promptBytes'],
  ])('%s is refused', async (_what, agent, prompt, message) => {
    await expect(called(agent, prompt, {})).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining(message) });
  });

  it('a session that is not there is refused, and not begun under that name', async () => {
    await expect(given({ session: 'ses_nobody' })).rejects.toMatchObject({ code: 'unknown_session' });
    expect(await project.troupe.ledger.runs({})).toEqual([]);
  });

  it('a session of a group is refused: its prompts have their own way in', async () => {
    const leader = defineAgent({ name: 'desk', prompt: 'You lead.', group: { mode: 'broadcast', workers: ['speaker'] } });
    const other = await openProject({ cwd: project.folder, root: project.folder, env: { HOME: project.folder } });
    const made = await createGroup(other.groups, { name: 'review', agent: leader, agents: [leader, speaker] });
    await other.close();
    if (!made.ok) throw new Error(made.error.message);
    await expect(given({ session: made.value.session })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining('belongs to the group review'),
      fix: expect.stringContaining('troupe groups send'),
    });
  });

  it('no run, or what is none, is not taken for the newest one', async () => {
    await using other = await createTemporaryProject({ agents: [speaker], replies: () => ({ text: 'Well.' }) });
    await other.troupe.run('speaker', userText('Speak.'));
    const resume = (id: unknown, options?: object): Promise<unknown> => other.troupe.resume(id as string, options);
    await expect(resume(undefined)).rejects.toMatchObject({ code: 'usage', message: expect.stringContaining('is not the id') });
    await expect(resume('last')).rejects.toMatchObject({ code: 'usage' });
    await expect(resume('run_x', { workspace: '.' })).rejects.toThrow('resume: "workspace" is not known.');
  });
});

describe('opening', () => {
  let root = '';
  beforeAll(async () => {
    root = await mkdtemp(join(tmpdir(), 'troupe-options-'));
  });
  afterAll(() => rm(root, { recursive: true, force: true }));

  it.each<[string, object, string]>([
    ['a misspelled option', { rot: '.' }, 'createTroupe: "rot" is not known. Did you mean "root"?'],
    ['a model that is a list', { model: ['x/y'] }, '"model" must be text, not a list'],
    ['an empty model', { model: '' }, '"model" must be text, not ""'],
    ['agents by name', { agents: { speaker } }, '"agents" must be a list, not an object'],
    ['an agent that nobody has checked', { agents: [{ name: 'raw', prompt: 'x' }] }, 'number 1 must be made with defineAgent'],
    [
      'a tool that nobody has checked',
      { tools: [nod, { name: 'raw', run: () => 'x' }] },
      'number 2 must be made with defineTool',
    ],
    ['one agent twice', { agents: [speaker, speaker] }, '"agents" has two of the name "speaker"'],
    ['one tool twice', { tools: [nod, nod] }, '"tools" has two of the name "nod"'],
  ])('with %s is refused, and nothing is made', async (_what, options, message) => {
    await expect(createTroupe({ root, ...options })).rejects.toMatchObject({
      code: 'usage',
      message: expect.stringContaining(message),
    });
    expect(await readdir(root)).toEqual([]);
  });

  it.each([
    [{ nodd: 'deny' as const }, 'The agent nodder: unknown tool "nodd" under "permissions". Did you mean "nod"?'],
    [{ shell: { 'rm (': 'deny' as const } }, 'The agent nodder: '],
  ])('with an agent whose rights %j stand for nothing is refused', async (permissions, message) => {
    const nodder = defineAgent({ name: 'nodder', prompt: 'You nod.', tools: ['nod', 'shell'], permissions });
    const opened = createTroupe({ root, env: { HOME: root }, agents: [nodder], tools: [nod] });
    await expect(opened).rejects.toMatchObject({ code: 'invalid_agent', message: expect.stringContaining(message) });
    expect(await readdir(root)).toEqual([]);
  });

  it('a folder that is not there is refused, and not made', async () => {
    const missing = join(root, 'missing');
    await expect(createTroupe({ root: missing })).rejects.toMatchObject({
      code: 'usage',
      message: `There is no folder ${missing}`,
    });
    await expect(run('speaker', 'Speak.', { root: missing })).rejects.toMatchObject({ code: 'usage' });
    expect(await readdir(root)).toEqual([]);
  });

  it('and running in one call knows the options of both, and makes nothing for a signal that was aborted before', async () => {
    const both = { root, env: { HOME: root }, agents: [speaker], modelForAll: 'scripted:none.yaml' };
    const call = (more: object): Promise<unknown> => run('speaker', 'Speak.', { ...both, ...more });
    await expect(call({ onText: () => undefined, budgt: {} })).rejects.toThrow('Did you mean "budget"?');
    await expect(call({ signal: AbortSignal.abort(new Error('never mind')) })).rejects.toThrow('never mind');
    expect(await readdir(root)).toEqual([]);
  });
});

describe('an agent that cannot run', () => {
  const agents = {
    'agents/broken.md': '---\nmodle: x\n---\nYou write.\n',
    'agents/writer.md': '---\ndescription: Writes.\n---\nYou write.\n',
    'agents/lead.md': '---\nhandoff: broken\n---\nYou lead.\n',
  };

  it.each([
    ['broken', 'no_agent', 'agents/broken.md:2:1: error: unknown key "modle"'],
    ['lead', 'missing_agent', 'agents/broken.md:2:1: error: unknown key "modle"'],
  ])('%s is told with the problems of the file', async (agent, code, message) => {
    await using project = await createTemporaryProject({ files: agents, replies: [] });
    const refused = project.troupe.run(agent, 'Write.');
    await expect(refused).rejects.toMatchObject({ code, message: expect.stringContaining(message) });
  });

  it('by its name is told whom one may have meant', async () => {
    await using project = await createTemporaryProject({ files: agents, agents: [speaker], replies: [] });
    const refused = (name: string): Promise<unknown> => project.troupe.run(name, 'Write.');
    await expect(refused('wirter')).rejects.toMatchObject({ code: 'no_agent', fix: 'Did you mean "writer"?' });
    await expect(refused('zzzzzz')).rejects.toMatchObject({ code: 'no_agent', fix: 'Known agents: speaker, lead, writer.' });
    await expect(refused('speakre')).rejects.toMatchObject({ code: 'no_agent', fix: 'Did you mean "speaker"?' });
  });
});
