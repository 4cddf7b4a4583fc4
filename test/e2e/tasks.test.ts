/** Tasks on the command line. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { readTask } from '../../src/projections/tasks/task-json.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

let at: TestProject;

beforeAll(async () => {
  at = await createTestProject();
  await at.write('agents/desk.md', '---\nname: desk\ntools: [ask, read]\n---\nYou help.\n');
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

async function troupe(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const terminal = testTerminal({ env: at.env, cwd: at.folder });
  const code = await runProgram(args, terminal);
  return { code, out: terminal.written.out, err: terminal.written.progress };
}

describe('troupe tasks', () => {
  it('lists, shows and cancels root runs as tasks', async () => {
    expect(await troupe('tasks', 'list')).toMatchObject({ code: 0, out: '' });
    await at.script({ text: 'It is \u001b[2Jnoon.' });
    await troupe('run', 'desk', 'What time is it?');
    await at.script({ toolCalls: [{ name: 'ask', input: { question: 'Which lights?' } }] });
    expect((await troupe('run', 'desk', 'Turn on the lights')).code).toBe(5);

    const list = (await troupe('tasks', 'list')).out.split('\n');
    expect(list[1]).toMatch(/^run_\S+ +\S+ +desk +input-required +Which lights\?$/);
    expect(list[2]).toMatch(/completed +It is noon\.$/);
    const first = await troupe('tasks', 'list', '--limit', '1');
    const last = list[1]?.split(' ')[0] ?? '';
    expect(first.err).toContain(`--after ${last}`);
    expect((await troupe('tasks', 'list', '--limit', '1', '--after', last)).out).toContain('noon');
    expect((await troupe('tasks', 'list', '--state', 'input-required')).out).not.toContain('noon');

    const shown = await troupe('tasks', 'show', 'last');
    expect(shown.out).toMatch(/^state {4}input-required since 2/m);
    expect(shown.out).toMatch(/user: Turn on the lights\n.*assistant: Which lights\?\n/);
    const json = await troupe('tasks', 'show', last, '--json');
    expect(readTask(json.out)).toMatchObject({ ok: true, value: { id: last, status: { state: 'input-required' } } });
    const session = String(objectIn(json.out)['sessionId']);
    expect((await troupe('tasks', 'list', '--session', session)).out).not.toContain('noon');

    expect((await troupe('tasks', 'cancel', last, '--reason', 'dark')).out).toBe(`${last} is canceled\n`);
    expect((await troupe('tasks', 'list', '--state', 'canceled')).out).toContain(last);
    expect((await troupe('tasks', 'cancel', 'last')).out).toBe(`${last} has already ended (canceled)\n`);
    expect(await troupe('tasks', 'show', `${last}.2`)).toMatchObject({ code: 2 });
    const offered = (await troupe('complete', '--', 'tasks', 'show', '')).out;
    expect(offered).toContain(`${last}\tdesk, cancelled`);
    expect((await troupe('complete', '--', 'tasks', 'list', '--state', '')).out).toContain('input-required');
  });

  it('gives a run that went on after its end another task', async () => {
    await at.write('agents/short.md', '---\nname: short\ntools: [read]\nbudget: { calls: 1 }\n---\nYou help.\n');
    await at.script({ toolCalls: [{ name: 'read', input: { path: 'agents/short.md' } }] }, { text: 'It is noon.' });
    expect((await troupe('run', 'short', 'What time is it?')).code).toBe(4);
    const run = String(objectIn((await troupe('tasks', 'show', 'last', '--json')).out)['id']);
    expect((await troupe('resume', 'last', '--budget-calls', '5')).code).toBe(0);
    expect((await troupe('tasks', 'show', run)).out).toMatch(new RegExp(`^state {4}failed[^]*^reopenedAs: "${run}.2"`, 'm'));
    expect((await troupe('tasks', 'show', 'last')).out).toMatch(new RegExp(`^task {5}${run}.2\n[^]*^state {4}completed`, 'm'));
    expect((await troupe('tasks', 'list', '--limit', '1')).out).toContain(`${run}.2 `);
    expect((await troupe('tasks', 'list', '--state', 'failed')).out).toBe('');
    expect((await troupe('tasks', 'cancel', run)).out).toBe(`${run}.2 has already ended (completed)\n`);
  });
});
