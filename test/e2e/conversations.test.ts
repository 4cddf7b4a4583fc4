/** Conversations of a person: going on with them, listing them, taking them out of the ledger. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isJsonObject, parseJson } from '../../src/base/json.ts';
import { limits } from '../../src/base/limits.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';
import { trajectoryIn } from '../support/trajectories.ts';
import { inChat } from './support-chat.ts';
import { agentWith, createTestProject, objectIn } from './support-project.ts';

const settings = 'permissions: { shell: allow }\n';

describe.concurrent('run --continue', () => {
  it('goes on with the newest conversation, and with another one by its session', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [ask]'));
    await project.write('agents/second.md', '---\nname: second\n---\nYou are the second.\n');
    const server = await project.serve(({ index }) => ({ text: `Answer ${index}.` }));
    const said = (index: number): string => JSON.stringify(server.requests[index]?.body ?? 'never asked');

    const none = await project.look('run', '--continue', 'And?');
    expect(none).toMatchObject({ code: 2, err: expect.stringContaining('There is no conversation to go on with') });

    expect(await project.look('run', 'helper', 'Alpha?')).toMatchObject({ code: 0, out: 'Answer 0.\n' });
    expect(await project.look('run', 'second', 'Beta?')).toMatchObject({ code: 0 });
    const on = await project.look('run', '--continue', 'And gamma?');
    expect(on).toMatchObject({ code: 0, out: 'Answer 2.\n', err: expect.stringContaining('going on with second') });
    expect(said(2)).toContain('You are the second.');
    for (const words of ['Beta?', 'Answer 1.', 'And gamma?']) expect(said(2)).toContain(words);
    expect(said(2)).not.toContain('Alpha?');

    const runs = JSON.parse((await project.look('ps', '--json')).out) as { run: string; session: string; agent: string }[];
    expect(new Set(runs.map(({ session }) => session)).size).toBe(2);
    const first = runs.find(({ agent }) => agent === 'helper')?.run ?? '';
    expect(await project.look('run', '--continue', '--session', first, 'And delta?')).toMatchObject({ code: 0 });
    for (const words of ['Alpha?', 'Answer 0.', 'And delta?']) expect(said(3)).toContain(words);
    expect(said(3)).not.toContain('Beta?');
  });

  it('passes over what is unfinished and what belongs to a group', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [ask]'));
    await project.write('agents/panel.md', '---\nname: panel\ngroup: { mode: broadcast, workers: [helper] }\n---\nYou ask.\n');
    const ask: Reply = { calls: [{ name: 'ask', input: { question: 'Which?' } }] };
    const server = await project.serve(({ body }) => (JSON.stringify(body).includes('Beta?') ? ask : { text: 'Said.' }));
    expect((await project.look('run', 'helper', 'Alpha?')).code).toBe(0);
    expect((await project.look('run', 'helper', 'Beta?')).code).toBe(5);
    expect((await project.look('groups', 'create', 'crew', '--agent', 'panel')).code).toBe(0);
    expect((await project.look('groups', 'send', 'crew', 'Begin.')).code).toBe(0);
    const passed = /passed over: the newer one, with helper, has a run that is waiting: troupe answer \w+ "…"/;
    const said = { code: 0, out: 'Said.\n', err: expect.stringMatching(passed) };
    expect(await project.look('run', '--continue', '--quiet', 'Gamma?')).toMatchObject(said);
    const last = JSON.stringify(server.requests.at(-1)?.body);
    expect(['Alpha?', 'Beta?', 'Begin.', 'Gamma?'].filter((words) => last.includes(words))).toEqual(['Alpha?', 'Gamma?']);
  });
});

describe('a run with a question of an agent below it', () => {
  it('has the same word and the same next command wherever it is named, and what is refused does not go on', async () => {
    await using project = await createTestProject('', '---\nname: helper\nagents: [w]\n---\nYou lead.\n');
    await project.write('agents/w.md', '---\nname: w\ntools: [shell]\npermissions: { shell: ask }\n---\nYou are below.\n');
    await project.serve(({ body }) => {
      const asked = JSON.stringify(body);
      if (asked.includes('Alpha?') || asked.includes('Beta?')) return { text: 'Said.' };
      if (asked.includes('You are below.')) return { calls: [{ name: 'shell', input: { command: 'touch x' } }] };
      return { calls: [{ name: 'w', input: { prompt: 'Go.', reason: 'need' } }] };
    });
    expect((await project.look('run', 'helper', 'Alpha?')).code).toBe(0);
    expect((await project.look('run', 'helper', 'Work.')).code).toBe(5);
    const [row] = JSON.parse((await project.look('ps', '--json')).out) as { run: string; state: string; next: string }[];
    expect(row).toMatchObject({ state: 'waiting', next: expect.stringMatching(/^troupe approve \w{6}$/) });
    const { run, next } = row ?? { run: '', next: '' };
    const refused = await project.look('run', '--continue', '--session', run, 'More.');
    expect(refused).toMatchObject({ code: 2, err: expect.not.stringContaining('going on') });
    await using person = await inChat(project, ['helper']);
    await person.says('/resume', `${run.slice(-6)}  waiting  helper: Work.`);
    const { err } = await project.look('run', '--continue', 'Beta?');
    expect(err).toContain(`passed over: the newer one, with helper, has a run that is waiting: ${next}\n`);
    expect(err).toContain('going on with helper');
  });
});

describe('sessions', () => {
  it('say of a run with one of its questions answered that it waits, as ps does', async () => {
    await using project = await createTestProject('', '---\nname: helper\ntools: [shell]\n---\nYou help.\n');
    const shell = (command: string) => ({ name: 'shell', input: { command } });
    await project.serve({ calls: [shell('touch one'), shell('touch two')] }, { text: 'Done.' });
    const asked = await project.look('run', 'helper', 'Go.');
    expect(asked.code).toBe(5);
    const deny = /troupe deny (\S+) --wait (\S+)/.exec(asked.err) ?? /troupe deny (\S+)/.exec(asked.err);
    const wait = deny?.[2] === undefined ? [] : ['--wait', deny[2]];
    expect((await project.look('deny', deny?.[1] ?? '', ...wait, '--no-resume')).code).toBe(0);
    expect((await project.look('show', 'last', '--json')).out).toContain('touch two');
    expect((await project.look('sessions', '--json')).out).toContain('"state": "waiting"');
    expect((await project.look('ps', '--json')).out).toContain('"waiting"');
  });

  it('that wait are not said to be paused: whoever answers takes them further', async () => {
    await using project = await createTestProject('', '---\nname: helper\ntools: [ask]\n---\nYou help.\n');
    await project.serve({ calls: [{ name: 'ask', input: { question: 'Which?' } }] }, { text: 'Done.' });
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
    const paused = await project.look('pause', 'last');
    expect(paused.out).toContain('waits for an answer and does nothing until then');
    expect(paused.out).not.toContain('paused');
    expect(await project.look('answer', 'last', 'This.')).toMatchObject({ code: 0, out: 'Done.\n' });
  });

  it('lists conversations with how they began, how they stand and what they cost', async () => {
    await using project = await createTestProject(settings, agentWith('tools: [ask]'));
    expect(await project.look('sessions', '--json')).toMatchObject({ code: 0, out: '[]\n' });
    const ask: Reply = { calls: [{ name: 'ask', input: { question: 'Which?' } }] };
    await project.serve(({ body }) => (JSON.stringify(body).includes('Beta?') ? ask : { text: 'Said.' }));
    await project.look('run', 'helper', 'Alpha?\n\u001b[2Jin two lines');
    await project.look('run', '--continue', 'More?');
    await project.look('run', 'helper', 'Beta?');
    const listed = parseJson((await project.look('sessions', '--json')).out);
    expect(listed).toMatchObject({
      ok: true,
      value: [
        { prompts: 1, prompt: 'Beta?', state: 'waiting', agent: 'helper', group: null, cost: { unknownCalls: 1 } },
        { prompts: 2, prompt: expect.stringContaining('Alpha?'), state: 'completed', cost: { unknownCalls: 2 } },
      ],
    });
    const { out } = await project.look('sessions');
    expect(out).toMatch(
      /^SESSION +LAST +AGENT +PROMPTS +STATE +COST +BEGAN WITH\n\w{6} .*waiting +\? +Beta\?\n.*Alpha\? in two lines\n$/,
    );
    // What is listed can be used.
    const alpha = /(\w{6}) .*Alpha/.exec(out)?.[1] ?? '';
    expect(await project.look('run', '--continue', '--session', alpha, 'Again?')).toMatchObject({ code: 0, out: 'Said.\n' });
    expect((await project.look('sessions')).out).toMatch(new RegExp(`${alpha} +\\w+ +helper +3 `));
  });

  it('shows the newest, and all on request', async () => {
    await using project = await createTestProject(settings);
    await project.serve({ text: 'Said.' });
    for (let index = 0; index < 21; index += 1) await project.look('run', 'helper', `Number ${index}?`, '--quiet');
    const some = await project.look('sessions');
    expect(some.out).not.toContain('Number 0?');
    expect(some.err).toContain('the newest 20 of 21 sessions');
    expect((await project.look('sessions', '--all')).out).toContain('Number 0?');
  });
});

describe('export', () => {
  const evil = '</pre><script>alert(1)</script>\n```\n# forged';
  const secret = 'sk-live-0123456789abcdefghijklmnop';

  async function talked() {
    const project = await createTestProject(settings, agentWith('tools: [shell]\nagents: [second]'));
    await project.write('agents/second.md', '---\nname: second\n---\nYou are the second.\n');
    await project.write('evil.txt', evil);
    const all = ({ body, toolResults }: SeenRequest): Reply => {
      const text = JSON.stringify(body);
      if (text.includes('You are the second.')) return { text: 'From below.' };
      if (text.includes('Beta?')) return { text: 'The last word.' };
      if (toolResults === 0) return { calls: [{ name: 'shell', input: { command: `cat evil.txt # ${secret}` } }] };
      return toolResults === 1
        ? { calls: [{ name: 'second', input: { prompt: 'Look.', reason: 'to be sure' } }] }
        : { text: 'The first word.' };
    };
    await project.serve(all);
    expect((await project.look('run', 'helper', 'Alpha?')).code).toBe(0);
    expect((await project.look('run', '--continue', 'Beta?')).code).toBe(0);
    return project;
  }

  it('writes a session, or one run of it with those below, in each format', async () => {
    await using project = await talked();
    const [newest] = parsedList((await project.look('sessions', '--json')).out);
    const session = String(newest?.['session']);
    const first = String(parsedList((await project.look('ps', '--json')).out)[1]?.['run']);
    const words = ['Alpha?', 'cat evil.txt', 'forged', 'Look.', 'From below.', 'The first word.', 'Beta?', 'The last word.'];

    for (const format of ['markdown', 'print', 'jsonl', 'atif']) {
      const whole = await project.look('export', session, '--format', format);
      expect(whole.code).toBe(0);
      for (const word of words) expect(whole.out).toContain(word);
      expect(whole.out).not.toContain(secret);
      const one = (await project.look('export', first, '--format', format)).out;
      expect(words.filter((word) => !one.includes(word))).toEqual(['Beta?', 'The last word.']);
      const last = (await project.look('export', 'last', '--format', format)).out;
      expect(words.filter((word) => last.includes(word))).toEqual(['Beta?', 'The last word.']);
    }
    const markdown = (await project.look('export', session.slice(-6))).out;
    expect(markdown).toMatch(/^# Session ses/);
    expect(markdown).toMatch(/helper .*completed[^\n]*\n.*second \(sub-agent\)/);
    expect(markdown).toMatch(/AGENT +MODEL +CALLS +IN +OUT +COST/);
    expect(markdown).toMatch(/\n### helper: turn 1 · .*cost unknown/);
    expect(markdown).toMatch(/\n#### second: is asked/);
    expect((await project.look('export', 'last')).out).toContain('goes on after');
    const html = (await project.look('export', session, '--format', 'print')).out;
    expect(html).not.toContain('<script');
    const whole = (await project.look('export', session, '--html')).out;
    expect(whole).toMatch(/^<!doctype html>.*id="troupe-events".*"event_type":"run.ended".*id="troupe-file"/s);
    const lines = (await project.look('export', session, '--format', 'jsonl')).out.trim().split('\n');
    expect(lines.map((line) => objectIn(line)['event_type'])).toContain('tool.result');
    // Both prompts are one conversation: one trajectory, with that of the sub-agent below it.
    const trajectory = trajectoryIn((await project.look('export', session, '--atif')).out);
    expect(trajectory.steps.filter(({ source }) => source === 'user').map(({ message }) => message)).toEqual(['Alpha?', 'Beta?']);
    expect(trajectory.subagent_trajectories?.map(({ agent }) => agent.name)).toEqual(['second']);
    expect(await project.look('export', session, '--atif', '--html')).toMatchObject({ code: 2, out: '' });
  });

  it('leaves nothing out and repeats nothing where a session is longer than a page of the ledger', async () => {
    const frontmatter = 'tools: [read]\nmaxTurns: 70\nmaxToolCallsPerTurn: 10\ncontextWindow: 1000000';
    await using project = await createTestProject(settings, agentWith(frontmatter));
    const calls = (turn: number): Reply => ({
      calls: Array.from({ length: 10 }, (_, call) => ({ name: 'read', input: { path: `nr-${turn * 10 + call}-x` } })),
    });
    await project.serve(({ index }) => (index < 50 ? calls(index) : { text: 'Read.' }));
    expect((await project.look('run', 'helper', 'Go.')).code).toBe(0);
    const lines = (await project.look('export', 'last', '--format', 'jsonl')).out.trim().split('\n');
    expect(lines.length).toBeGreaterThan(limits.readPageEvents);
    expect(new Set(lines.map((line) => objectIn(line)['event_id'])).size).toBe(lines.length);
    const { out } = await project.look('export', 'last');
    const asked = [...out.matchAll(/"path": "nr-(\d+)-x"/g)].map(([, number]) => Number(number));
    expect(asked).toEqual(Array.from({ length: 500 }, (_, number) => number));
  });

  it('writes a file whole or not at all, for its owner only, in the format that its name says', async () => {
    await using project = await talked();
    const file = join(project.folder, 'out.html');
    expect(await project.look('export', 'last', '--format', 'print', '-o', 'out.html')).toMatchObject({ code: 0, out: '' });
    expect(await readFile(file, 'utf8')).toMatch(/^<!doctype html>.*Beta\?.*<\/html>\n$/s);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(await project.look('export', 'last', '-o', 'trajectory.json')).toMatchObject({ code: 0, out: '' });
    expect(trajectoryIn(await readFile(join(project.folder, 'trajectory.json'), 'utf8')).steps.at(-1)?.message).toContain(
      'last word',
    );
    expect(await project.look('export', 'last', '-o', 'no/such/folder.md')).toMatchObject({ code: 2 });
    expect(await project.look('export', 'last', '-o', 'agents')).toMatchObject({ code: 2 });
    expect((await readdir(project.folder)).filter((name) => name.endsWith('.part'))).toEqual([]);
  });
});

function parsedList(text: string): readonly Record<string, unknown>[] {
  const parsed = parseJson(text);
  return parsed.ok && Array.isArray(parsed.value) ? parsed.value.filter(isJsonObject) : [];
}
