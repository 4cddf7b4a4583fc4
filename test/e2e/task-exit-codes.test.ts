/** How the command ends when work is handed over to executors: the codes of docs/cli.md, and what is said with each. */
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { temporaryProject } from '../fixtures/agents/temporary-project.ts';
import { testTerminal } from '../support/test-terminal.ts';

const LEAD = (settings: string): string => `---\nname: lead\narchitect: { ${settings} }\n---\nYou lead.\n`;
const HAND = '---\nname: hand\ntools: [shell]\npermissions: { shell: allow }\n---\nYou work.\n';
const TASK = {
  ...{ goal: 'Do it', include_paths: ['a.txt'], exclude_paths: [], acceptance: ['`true` passes'] },
  constraints: { max_cli_calls: 1, max_duration_seconds: 60, no_touch: [] },
};
const delegates = { toolCalls: [{ name: 'delegate', input: { tasks: [TASK] } }] };
const runs = (command: string) => ({ toolCalls: [{ name: 'shell', input: { command } }] });

async function project(lead: string, replies: Readonly<Record<string, readonly unknown[]>>) {
  const made = await temporaryProject({
    'troupe.yaml': 'model: scripted:replies.yaml\nsandbox: off\n',
    'agents/lead.md': LEAD(lead),
    'agents/hand.md': HAND,
    'replies.yaml': JSON.stringify({ agents: replies }),
    'a.txt': 'a\n',
  });
  return {
    ...made,
    async troupe(...words: readonly string[]) {
      const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: made.root };
      const terminal = testTerminal({ cwd: made.root, env });
      const code = await runProgram([...words], terminal);
      return { code, out: terminal.written.out, err: terminal.written.progress };
    },
    [Symbol.asyncDispose]: () => made[Symbol.asyncDispose](),
  };
}

describe('work that is handed over ends with', () => {
  it('3 when every task was given up; one command too many is no second try, and is not run', async () => {
    const said = [delegates, { text: 'It could not be done.' }];
    await using here = await project('executor: hand, workspace: in-place', {
      lead: said,
      hand: [runs('echo one > one.txt'), runs('echo two > two.txt'), { text: 'Done.' }],
    });
    const { code, err } = await here.troupe('run', 'lead', 'Go.');
    expect({ code, err }).toMatchObject({ code: 3, err: expect.stringContaining('Every task was given up.') });
    const events = (await here.troupe('logs', 'last', '--jsonl')).out.trim().split('\n');
    const policies = events.filter((line) => line.includes('"event_type":"task.policy"'));
    expect(policies.map((line) => (JSON.parse(line) as { payload: object }).payload)).toMatchObject([
      { trigger: 'cli_calls', action: 'cancel_and_report', why: expect.stringContaining('more than 1 command') },
    ]);
    expect(events.filter((line) => line.includes('"event_type":"cli.run"'))).toHaveLength(1);
  });

  it('6 when nobody is there to do it, before the model is asked; a plan can be made all the same', async () => {
    await using here = await project('executor: codx-acp, fallbackExecutors: [executor:nobody]', { lead: [delegates] });
    const { code, out, err } = await here.troupe('run', 'lead', 'Go.');
    expect({ code, out }).toEqual({ code: 6, out: '' });
    expect(err).toMatch(/Nobody is here who could do the work of lead\. There is no executor "codx-acp"\. .*"nobody"/);
    expect((await here.troupe('sessions')).out).not.toContain('lead');
    const planned = await here.troupe('run', 'lead', 'Go.', '--plan-only', '--json');
    expect(planned.code, planned.err).toBe(0);
    expect(JSON.parse(planned.out)).toMatchObject({
      status: 'paused',
      packages: [{ executor: 'codx-acp', yaml: expect.stringContaining('goal: "Do it"') }],
    });
  });

  it('2 when a worktree is demanded where there can be none, before the model is asked', async () => {
    await using here = await project('executor: hand, workspace: worktree', { lead: [delegates] });
    const { code, out, err } = await here.troupe('run', 'lead', 'Go.');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/not in a git repository.*\n.*git init and commit.*leave out "workspace: worktree" of lead/s);
    expect((await here.troupe('sessions')).out).not.toContain('lead');
  });

  it('4 when the budget is used up, and 5 when it has to be asked what is meant', async () => {
    const question = { toolCalls: [{ name: 'clarify', input: { questions: [{ question: 'Which file?' }] } }] };
    await using here = await project('executor: hand, workspace: in-place', { lead: [question, delegates] });
    const asked = await here.troupe('run', 'lead', 'Go.');
    expect(asked).toMatchObject({
      code: 5,
      err: expect.stringMatching(/lead asks: Which file\?\n {2}troupe answer \w+ "your answer"/),
    });
    const spent = await here.troupe('run', 'lead', 'Go.', '--budget-calls', '1', '--yes');
    expect(spent.code).toBe(5);
    expect(await here.troupe('answer', 'last', 'a.txt')).toMatchObject({ code: 4, err: expect.stringContaining('budget') });
  });
});
