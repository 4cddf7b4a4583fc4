/** A session with an executor that does as it should, on pipes and over TCP. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { follower, openedWorld, steps } from '../../../test/support/executors/executor-world.ts';

describe.each([{ tcp: false }, { tcp: true }])('a session (over TCP: $tcp)', ({ tcp }) => {
  it('is prompted, and tells what is said, thought, planned and called', async () => {
    const { session } = await openedWorld({ tcp });
    expect(session).toMatchObject({
      restored: 'new',
      about: { executor: 'sample', version: '9.8.7', protocol: 1, canLoad: false },
    });
    const handlers = follower();
    const ended = await session.prompt(
      steps('think hm', 'say one', 'plan first|second', 'update {"sessionUpdate":"brand_new","x":1}', 'other hidden', 'say two'),
      handlers,
    );
    expect(ended).toEqual({ kind: 'ended', stop: 'end_turn', text: 'one\ntwo\n', cut: false });
    expect(handlers.updates).toEqual([
      { kind: 'thought', text: 'hm' },
      { kind: 'text', text: 'one\n' },
      {
        kind: 'plan',
        entries: [
          { text: 'first', priority: 'high', status: 'in_progress' },
          { text: 'second', priority: 'low', status: 'pending' },
        ],
      },
      { kind: 'text', text: 'two\n' },
    ]);
  });

  it('is asked by kinds', async () => {
    const { session } = await openedWorld({ tcp });
    const handlers = follower({ decide: ({ call }) => (call.title === 'good' ? 'allow_once' : 'reject_always') });
    const ended = await session.prompt(steps('ask * good', 'ask * bad', 'ask allow_always only always'), handlers);
    expect(ended).toMatchObject({ text: 'permission y-once\npermission n-once\npermission cancelled\n' });
    expect(handlers.asked[0]).toMatchObject({
      call: { title: 'good', kind: 'execute', input: { command: 'good' } },
      options: [
        { name: 'Always', kind: 'allow_always' },
        { name: 'Yes', kind: 'allow_once' },
        { name: 'No', kind: 'reject_once' },
      ],
    });
  });

  it('reads and writes files through us', async () => {
    const { session, cwd, outside } = await openedWorld({ tcp });
    writeFileSync(join(cwd, 'lines.txt'), 'one\ntwo\nthree\nfour\n');
    symlinkSync(outside, join(cwd, 'link'));
    const handlers = follower();
    const ended = await session.prompt(
      steps(
        `read ${join(cwd, 'lines.txt')} 2 2`,
        `read ${join(cwd, 'nothing.txt')}`,
        `read ${join(outside, 'x')}`,
        `write ${join(cwd, 'lines.txt')} new`,
        `write ${join(cwd, 'deep/er.txt')} there`,
        `write ${join(cwd, 'link/out.txt')} no`,
        `write ${join(cwd, '.git/hooks/x')} no`,
      ),
      handlers,
    );
    expect(ended.text.split('\n')).toEqual([
      'read "two\\nthree\\n"',
      expect.stringMatching(/^error -32002 .*no such file/),
      expect.stringMatching(/^error -32603 .*outside the workspace/),
      expect.stringMatching(/^wrote/),
      expect.stringMatching(/^wrote/),
      expect.stringMatching(/^error -32603 .*outside the workspace/),
      expect.stringMatching(/^error -32603 .*git repository is closed/),
      '',
    ]);
    expect(handlers.files).toEqual([
      { path: join(cwd, 'lines.txt'), before: 'one\ntwo\nthree\nfour\n', after: 'new' },
      { path: join(cwd, 'deep/er.txt'), after: 'there' },
    ]);
    expect(readFileSync(join(cwd, 'deep/er.txt'), 'utf8')).toBe('there');
  });

  it('runs commands through us', async () => {
    const { session, cwd, outside } = await openedWorld({ tcp });
    const handlers = follower();
    const ended = await session.prompt(
      steps(
        'run . - echo out; echo $SAMPLE; exit 3',
        'run . - echo err >&2',
        `run ${outside} - pwd`,
        'run . 8 printf 123456789é',
      ),
      handlers,
    );
    const said = ended.text.split('\n');
    expect(said[0]).toMatch(
      /^ran \{"exit":\{"exitCode":3,"signal":null\},"output":"out\\ngiven\\n","truncated":false,"gone":"-32002/,
    );
    expect(said[2]).toMatch(/^error -32603 .*outside the workspace/);
    expect(said[3]).toContain('"output":"456789é","truncated":true');
    expect(handlers.commands).toMatchObject([
      {
        line: 'SAMPLE=given echo out; echo $SAMPLE; exit 3',
        cwd,
        exitCode: 3,
        stdout: 'out\ngiven\n',
        stderr: '',
        stopped: false,
      },
      { exitCode: 0, stdout: '', stderr: 'err\n' },
      { stdout: '123456789é', stdoutBytes: 11 },
    ]);
    const shown = handlers.updates.findLast((one) => one.kind === 'call');
    expect(shown).toMatchObject({ call: { id: 't', title: 'run', status: 'completed', output: '456789é' } });
  });

  it.each(['end_turn', 'max_tokens', 'max_turn_requests', 'refusal', 'cancelled'])('ends with %s', async (stop) => {
    const { session } = await openedWorld({ tcp });
    expect(await session.prompt(steps('say x', `stop ${stop}`, 'say never'), follower())).toMatchObject({ stop, text: 'x\n' });
    expect(await session.prompt(steps('say y'), follower())).toMatchObject({ stop: 'end_turn', text: 'y\n' });
  });
});

it('writes no file from a version that somebody has changed since it was read through us', async () => {
  const { session, cwd } = await openedWorld();
  const [read, gone, blind] = ['read.txt', 'gone.txt', 'blind.txt'].map((name) => join(cwd, name)) as [string, string, string];
  for (const path of [read, gone, blind]) writeFileSync(path, 'one');
  const missing = join(cwd, 'missing.txt');
  const said = async (...lines: readonly string[]) => (await session.prompt(steps(...lines), follower())).text.split('\n');
  await said(`read ${read}`, `read ${gone}`, `read ${missing}`);
  for (const path of [read, blind, missing]) writeFileSync(path, 'of another');
  rmSync(gone);
  const all = [read, gone, missing, blind].map((path) => `write ${path} mine`);
  expect(await said(...all)).toEqual([
    expect.stringMatching(/^error -32603 .*read\.txt was changed since you read it; nothing was written\. Read it again/),
    expect.stringMatching(/^error -32603 .*gone\.txt was there when you read it and is gone now; nothing was written/),
    expect.stringMatching(/^error -32603 .*missing\.txt was not there when you looked and is now; nothing was written/),
    expect.stringMatching(/^wrote/),
    '',
  ]);
  expect(readFileSync(read, 'utf8')).toBe('of another');
  // What is gone has nothing more to be read; what it has written itself it knows.
  const again = await said(`read ${read}`, `write ${read} mine`, `write ${read} mine too`, `write ${gone} mine`);
  expect(again.filter((line) => line.startsWith('wrote'))).toHaveLength(3);
});

it('says of a command whether it would run inside walls', async () => {
  const { session } = await openedWorld();
  const handlers = follower();
  await session.prompt(steps('run . - pwd'), handlers);
  expect(handlers.wanted).toMatchObject([{ command: 'pwd', walled: false }]);
});
