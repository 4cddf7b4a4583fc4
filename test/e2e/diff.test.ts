/** `troupe diff`: forks against their sources, outcomes, files, and what cannot be compared. */
import { describe, expect, it } from 'vitest';
import { textWidth } from '../../src/cli/terminal/text-width.ts';
import type { RunsCompared } from '../../src/front/looking/compare-runs.ts';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [read, list, write, ask]\npermissions: { "*": allow }\n---\nYou help.\n';
const ASK = { toolCalls: [{ name: 'ask', input: { question: 'Red or blue?' } }] };
const READ = { toolCalls: [{ name: 'read', input: { path: 'old.txt' } }] };
const writes = (content: string) => ({ toolCalls: [{ name: 'write', input: { path: 'colour.txt', content } }] });

/** Has looked, asked, written and reported; its id. */
async function played(project: TestProject): Promise<string> {
  await project.script(READ, ASK, writes('red'), { text: 'Done.' });
  expect((await project.look('run', 'helper', 'Choose.', '--quiet')).code).toBe(5);
  expect((await project.look('answer', 'last', 'red', '--quiet')).code).toBe(0);
  return await newest(project);
}

async function newest(project: TestProject): Promise<string> {
  const shown = await project.look('show', 'last', '--json');
  return String(objectIn(shown.out)['run']);
}

async function compared(project: TestProject, ...args: readonly string[]): Promise<RunsCompared> {
  const { code, out, err } = await project.look('diff', ...args, '--json');
  expect([code, err]).toEqual([0, '']);
  return objectIn(out) as unknown as RunsCompared;
}

describe('a run and its fork', () => {
  it('with another answer part exactly there', async () => {
    await using project = await createTestProject('', AGENT);
    const source = await played(project);
    expect((await project.look('fork', source, '--set', 'answer=blue', '--quiet')).code).toBe(0);
    const { first, counts, a, b, terms, files, same } = await compared(project, source, 'last');
    expect(first).toMatchObject({
      kind: 'answer',
      a: { name: 'ask', path: 'turn/2/tool/0', answer: 'red', run: source },
      b: { name: 'ask', path: 'turn/2/tool/0', answer: 'blue' },
    });
    expect([same, terms, counts]).toEqual([
      false,
      [],
      { same: 3, moved: 0, changed: 0, answers: 1, results: 0, onlyA: 0, onlyB: 0 },
    ]);
    expect(b.forked?.run).toBe(a.run);
    const shown = objectIn((await project.look('show', source, '--json')).out);
    expect([a.toolCalls, a.turns]).toEqual([shown['toolCalls'], shown['turns']]);
    expect(files).toMatchObject({ same: 1, different: 0 });
    const { counts: mirrored, first: other } = await compared(project, 'last', source);
    expect([mirrored, other?.a?.answer]).toEqual([counts, 'blue']);
  });

  it('that did the same are the same, and with another prompt differ in that', async () => {
    await using project = await createTestProject('', AGENT);
    const source = await played(project);
    expect((await project.look('fork', source, '--quiet')).code).toBe(0);
    const alike = await project.look('diff', source, 'last', '--exit-code');
    expect([alike.code, alike.err]).toEqual([0, '']);
    expect(alike.out).toContain('They are the same: 4 steps.');
    await project.script(READ, writes('green'), { text: 'Done.' });
    expect((await project.look('fork', source, '--set', 'prompt=Choose green.', '--quiet')).code).toBe(0);
    const { terms, counts, first, files } = await compared(project, source, 'last');
    expect(terms).toEqual([{ path: '', what: 'prompt', a: 'Choose.', b: 'Choose green.' }]);
    expect(first).toMatchObject({ kind: 'only_a', a: { name: 'ask' }, b: null });
    expect(counts).toMatchObject({ same: 2, changed: 1, onlyA: 1 });
    expect(files).toMatchObject({ different: 1, changed: [{ path: 'colour.txt', how: 'different' }] });
    expect((await project.look('diff', source, 'last', '--exit-code')).code).toBe(1);
    expect((await project.look('diff', source, 'last')).code).toBe(0);
  });

  it('with another result of a call part at the result', async () => {
    await using project = await createTestProject('', AGENT);
    const source = await played(project);
    expect(
      (await project.look('fork', source, '--at', 'turn/1/tool/0', '--set', 'result=nothing', '--no-run', '--quiet')).code,
    ).toBe(0);
    const { first, b } = await compared(project, source, 'last');
    expect(first).toMatchObject({ kind: 'result', a: { name: 'read' }, b: { result: 'nothing' } });
    expect(b.ended).toBe(false);
    expect((await project.look('diff', source, 'last')).out).toContain('B has not ended');
  });
});

it('says it in lines that fit, and shows nothing that moves a terminal', async () => {
  await using project = await createTestProject('', AGENT);
  const source = await played(project);
  await project.script(READ, ASK, writes(`\u001b]0;forged\u0007${'long '.repeat(100)}`), { text: 'Otherwise.' });
  expect((await project.look('fork', source, '--at', 'turn 2', '--quiet')).code).toBe(0);
  const { out } = await project.look('diff', source, 'last', '--all');
  expect(out).not.toContain('\u001b');
  expect(out).toMatch(/! turn\/3\/tool\/0: they do something else\n {2}A write .*red.*\n {2}B write .*long/);
  expect(out).toContain('They answer in other words.');
  expect(Math.max(...out.split('\n').map(textWidth))).toBeLessThan(500);
  expect((await project.look('diff', source, 'last', '--prose', '--json')).out).toContain('Otherwise.');
});

it('runs of different agents, a run that waits, and what is not there', async () => {
  await using project = await createTestProject('', AGENT);
  await project.write('agents/other.md', AGENT.replace('helper', 'other'));
  const source = await played(project);
  await project.write('replies.yaml', JSON.stringify({ agents: { other: [ASK] } }));
  expect((await project.look('run', 'other', 'Choose.', '--quiet')).code).toBe(5);
  const { terms, b, sameAnswer } = await compared(project, source, 'last');
  expect(terms).toContainEqual({ path: '', what: 'agent', a: 'helper', b: 'other' });
  expect([b.status, b.ended, sameAnswer]).toEqual(['waiting', false, null]);
  for (const [args, code] of [
    [['diff', source, 'nosuchrun'], 'unknown_run'],
    [['diff', source, 'x'], 'usage'],
  ] as const) {
    const refused = await project.look(...args, '--json');
    expect(refused.code).not.toBe(0);
    expectErrorObject(refused, code);
  }
});
