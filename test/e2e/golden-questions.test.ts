/**
 * Ten questions about runs that are known to the last word, each with its exact answer: what `troupe why`, `blame`, `context` and
 * `query` say is a promise, and a change of a word here is a change that somebody notices.
 */
import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const AGENT = `---
name: helper
tools: [read, edit, write, shell, ask]
permissions: { write: allow, edit: allow, shell: { "rm *": deny, "*": ask } }
---
You help.
`;

let at: TestProject;

const call = (name: string, input: object) => ({ name, input });

beforeAll(async () => {
  at = await createTestProject('prices: { "scripted:replies.yaml": { input: 1000, output: 2000 } }\n', AGENT);
  await at.script(
    {
      error: { kind: 'overloaded', message: 'busy', retryAfterMs: 1, times: 1 },
      toolCalls: [
        call('write', { path: 'notes.txt', content: 'one\ntwo\n' }),
        call('shell', { command: 'rm notes.txt' }),
        call('fly', { to: 'Rome' }),
      ],
    },
    { toolCalls: [call('edit', { path: 'notes.txt', old: 'two', new: 'TWO\nthree' })] },
    { finalReport: 'Three lines are written.' },
  );
  expect((await at.look('run', 'helper', 'Write some lines.')).code).toBe(0);
  // Nobody sees this.
  await appendFile(join(at.folder, 'notes.txt'), 'four\n');
});
afterAll(async () => {
  await at[Symbol.asyncDispose]();
});

/** What is printed, without what differs from run to run. */
async function answer(...args: readonly string[]): Promise<readonly string[]> {
  const { code, out, err } = await at.look(...args);
  expect({ args, code, err }).toMatchObject({ code: 0 });
  return out
    .trimEnd()
    .split('\n')
    .map((line) =>
      line
        .replaceAll(/run_[0-9a-z]+/g, 'RUN')
        .replaceAll(/ses_[0-9a-z]+/g, 'SES')
        .replaceAll(/\b[0-9a-z]{6}(?= \[\d+\])/g, 'SHORT')
        .replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'THEN')
        .replaceAll(/^(because | +and )?\d\d:\d\d:\d\d /g, '$1')
        .replaceAll(/\b\d+ms|\b[\d.]+s\b/g, 'TIME')
        // How long the descriptions of tools are is nothing that is asked about here.
        .replaceAll(/\d+ in, \d+ out|[\d.]+k in, \d+ out/g, 'TOKENS')
        .replaceAll(/\$\d+\.\d+/g, '$N'),
    );
}

it('1. Why did it stop?', async () => {
  expect(await answer('why', 'last', '--end')).toEqual([
    'helper: answered: It gave its answer in turn 3; unchecked: nothing was claimed and nothing demanded. [21]',
  ]);
});

it('2. Why was a tool that it has not called? A rule denies it', async () => {
  expect(await answer('why', 'last', '--not-called', 'shell')).toEqual([
    'helper: denied by rule: asked for, and not made: this agent may not use shell (permissions). Find another way or report what is missing; its file says shell: {"rm *":"deny","*":"ask"} [7]',
  ]);
});

it('3. Why was a tool not called that nobody asked for?', async () => {
  expect(await answer('why', 'last', '--not-called', 'read')).toEqual([
    'helper: never asked: offered in 3 of 3 turns, and the model never asked for it [3]',
  ]);
});

it('4. Why was a tool not called that it does not have?', async () => {
  expect(await answer('why', 'last', '--not-called', 'fetch')).toEqual([
    'helper: not in list: not among its tools: it has read, edit, write, shell, ask [3]',
  ]);
});

it('5. Why was a tool not called that there is not, and that the model asked for?', async () => {
  expect(await answer('why', 'last', '--not-called', 'fly')).toEqual([
    'helper: not in list: asked for, and not made: there is no tool named "fly". The tools are: read, edit, write, shell, ask, final_report [11]',
  ]);
});

it('6. Why was it so dear?', async () => {
  const lines = await answer('why', 'last', '--cost');
  const dear = objectIn((await at.look('why', 'last', '--cost', '--json')).out) as Record<string, Figures[]>;
  const [turns = [], [agent] = []] = [dear['turns'], dear['agents']];
  // A turn is dearer than the one before, because it sends all of that again.
  expect(turns.map(({ turn }) => turn)).toEqual([3, 2, 1]);
  expect(turns.reduce((sum, { nanoUsd }) => sum + Number(nanoUsd), 0)).toBe(agent?.['nanoUsd']);
  expect(agent).toMatchObject({ agent: 'helper', runs: 1, calls: 4, unknownCalls: 1, share: 1 });
  const [first, second, third] = turns.toReversed().map(({ inputTokens }) => Number(inputTokens));
  expect(dear['growth']).toMatchObject([{ turns: 3, firstInputTokens: first, lastInputTokens: third }]);
  expect(dear['growth']?.[0]?.['sentAgainTokens']).toBe((first ?? 0) + (second ?? 0));
  expect(lines.at(-2)).toBe(
    'retries: 1 attempt failed, 1 answer came only after one; cost unknown (1 call) for what ended without an answer',
  );
  expect(lines.at(-1)).toMatch(/^context: helper began with .* after 3 turns; \d+ % of what it sent had been sent before$/);
});

type Figures = Readonly<Record<string, unknown>>;

it('7. Who wrote each line?', async () => {
  expect(await answer('blame', 'notes.txt')).toEqual([
    'LINE  WHO                 WHERE        TEXT',
    '1     ~ helper turn 1     SHORT [9]   one',
    '2     ~ helper turn 2     SHORT [14]  TWO',
    '3     ~ helper turn 2     SHORT [14]  three',
    '4     nobody recorded it               four',
  ]);
});

it('8. Who wrote this line, and because of what?', async () => {
  expect(await answer('blame', 'notes.txt:3')).toEqual([
    '3: three',
    'written by  helper, turn 2, with edit, at THEN',
    '            as far as its text says: the file was changed since, and nobody saw it',
    'run         RUN',
    'event       SES.14',
    'prompt      Write some lines.',
    'next        troupe why SES.14',
  ]);
});

it('9. Why did this event happen?', async () => {
  const { out } = await at.look('query', 'SELECT event FROM files ORDER BY at DESC', '--csv');
  expect(await answer('why', out.split('\n')[1] ?? '')).toEqual([
    'helper: changed notes.txt (+2 -1) [14]',
    'because helper: turn 2: calls edit [TOKENS, $N, TIME] [12]',
    'because helper: turn 2: asking scripted:replies.yaml; fly was not run: there is no tool named "fly". The tools are: read, edit, write, shell, ask, final_report. [11]',
    '    and helper: shell failed after TIME: Not run: this agent may not use shell (permissions). Find another way or report what is missing. [7]',
    'because helper: write done in TIME [10]',
    'because helper: turn 1: calls write, shell, fly [TOKENS, $N, TIME] [6]',
    'because helper: turn 1: scripted:replies.yaml failed (overloaded, attempt 1), trying again: busy [5]',
    'because helper: started: Write some lines. [2]',
  ]);
});

it('10. What was tried, and what came of it?', async () => {
  expect(await answer('query', 'SELECT turn, tool, outcome, result FROM calls ORDER BY turn, step', '--csv')).toEqual([
    'turn,tool,outcome,result',
    '1,write,ok,"Created notes.txt (+2 -0 lines, 8 bytes)."',
    '1,shell,refused,Not run: this agent may not use shell (permissions). Find another way or report what is missing.',
    '1,fly,refused,"Not run: there is no tool named ""fly"". The tools are: read, edit, write, shell, ask, final_report."',
    '2,edit,ok,"Edited notes.txt (1 replacement, +2 -1 lines)."',
    '3,final_report,ended,',
  ]);
});

it('An impossible question says what is wrong with it', async () => {
  for (const [text, ...args] of [
    ['One question at a time', 'why', 'last', '--cost', '--end'],
    ['notes.txt has no line 9', 'blame', 'notes.txt:9'],
    ['gone.txt cannot be read: ENOENT', 'blame', 'gone.txt'],
    ['agents is a folder', 'blame', 'agents'],
    ['is not in the folder that agents work in', 'blame', '../other.txt'],
    ['There is no event ses_none.1', 'why', 'ses_none.1'],
    ['There is no run ', 'why', 'nobody', '--end'],
  ]) {
    const refused = await at.look(...args, '--json');
    expect({ args, code: refused.code, out: refused.out }).toMatchObject({ code: 2, out: expect.stringContaining(String(text)) });
    expectErrorObject(refused, /no run/.test(String(text)) ? 'unknown_run' : 'usage');
  }
});
