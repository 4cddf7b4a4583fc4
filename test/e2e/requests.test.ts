/** What is approved is seen whole: on every way in which a permission is asked for. */
import { access, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { runProgram } from '../../src/cli/program/program.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { createTestProject, decisions, objectIn, type TestProject } from './support-project.ts';

const WORKER = '---\nname: w\ntools: [shell, write]\npermissions: { shell: ask, write: ask }\n---\nYou work.\n';
const TAIL = 'touch PWNED';
const hidden = `echo ${'harmless '.repeat(60)}\u202e; ${TAIL}`;

const asksFor = (name: string, input: Record<string, string>) => [{ toolCalls: [{ name, input }] }, { text: 'Done.' }];
const isThere = (project: TestProject, path: string): Promise<boolean> =>
  access(join(project.folder, path)).then(
    () => true,
    () => false,
  );

it('the tail of a long command is shown wherever the question is, with what is invisible in it', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor('shell', { command: hidden }));
  const asked = await project.look('run', 'w', 'Go.');
  const told = [
    asked.err,
    (await project.look('show', 'last')).out,
    (await project.look('show', 'last', '--json')).out,
    (await project.look('show', 'last', '--request')).out,
    (await project.look('logs', 'last')).out,
  ];
  for (const text of told) expect(text).toContain(`⟨U+202E⟩; ${TAIL}`);
  expect(asked.err).not.toMatch(/w: w wants/);
  const terminal = testTerminal({ env: project.env, interactive: true, answers: ['no'] });
  await runProgram(['-C', project.folder, 'resume', 'last'], terminal);
  expect(terminal.written.progress).toContain(`? w wants to use shell:\n  | echo harmless`);
  expect(terminal.written.progress).toContain(TAIL);
  expect(await isThere(project, 'PWNED')).toBe(false);
});

it('of two of one name it says which asks: its id and the first words of its task', async () => {
  const lead = '---\nname: lead\nagents: [w]\n---\nYou lead.\n';
  await using project = await createTestProject('', WORKER);
  await project.write('agents/lead.md', lead);
  const call = (prompt: string) => ({ name: 'w', input: { prompt, reason: 'need' } });
  await project.script(
    { when: { agent: 'lead' }, toolCalls: [call('Look at the tests of it all.'), call('Look at the words of it all.')] },
    { when: { agent: 'lead' }, text: 'Led.' },
    { when: { agent: 'w' }, toolCalls: [{ name: 'shell', input: { command: 'touch one' } }] },
    { when: { agent: 'w' }, text: 'Done.' },
  );
  const terminal = testTerminal({ env: project.env, interactive: true, answers: ['no', 'no'] });
  expect(await runProgram(['-C', project.folder, 'run', 'lead', 'Go.'], terminal), terminal.written.progress).toBe(0);
  const told = [...terminal.written.progress.matchAll(/^ {2}w (\w{6}): “(.*)”\n\? w wants to use shell/gm)];
  expect(new Set(told.map(([, id]) => id)).size).toBe(2);
  expect(told.map(([, , task]) => task).sort()).toEqual(['Look at the tests of it all.', 'Look at the words of it all.']);
});

it('afterwards what was approved is there whole, with who approved it and where', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor('shell', { command: hidden }));
  await project.look('run', 'w', 'Go.');
  expect(await project.look('approve', 'last')).toMatchObject({ code: 0 });
  const request = await project.look('show', 'last', '--request');
  expect(request.out).toMatch(
    /^\S+ \S+\/approval \d{4}-\S+ \S+: approved by \S+@\S+ \(command\), nobody said that they saw it\nw wants to use shell:\n {2}\| echo/,
  );
  const why = await project.look('why', 'last');
  expect(why.out).toMatch(
    /because .* shell done.*\n {4}and .*asks to use shell: echo harmless.*\n {4}and .* approved by .*\(command\)/,
  );
  for (const { out } of [request, why, await project.look('logs', 'last')]) expect(out).toContain(`⟨U+202E⟩; ${TAIL}`);
  expect(JSON.parse((await project.look('show', 'last', '--request', '--json')).out)).toMatchObject({
    requests: [],
    answered: [{ answer: 'approved', where: 'command', input: { command: hidden }, request: expect.stringContaining(TAIL) }],
  });
});

it('approve without saying what was seen shows it and asks; where nobody can be asked it says what was approved', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor('shell', { command: 'touch one.txt' }));
  expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
  const asked = async (answer: string | undefined) => {
    const terminal = testTerminal({ env: project.env, interactive: true, answers: [answer] });
    const code = await runProgram(['-C', project.folder, 'approve', 'last'], terminal);
    return { code, told: terminal.written.progress };
  };
  for (const answer of ['no', undefined])
    expect(await asked(answer)).toEqual({
      code: 5,
      told: expect.stringMatching(/\| touch one\.txt\n[\s\S]*the question stays open/),
    });
  expect(await isThere(project, 'one.txt')).toBe(false);
  expect((await asked('yes')).code).toBe(0);
  expect(await isThere(project, 'one.txt')).toBe(true);
  await project.script(...asksFor('shell', { command: 'touch two.txt' }));
  expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
  // Printed before it is recorded: who cannot be told has approved nothing.
  const deaf = testTerminal({ env: project.env });
  const { progress } = deaf;
  const line = (text: string): void => {
    if (text.includes('touch two.txt')) throw new Error('nobody reads this');
    progress.line(text);
  };
  await runProgram(['-C', project.folder, 'approve', 'last', '--whole'], { ...deaf, progress: { ...progress, line } }).catch(
    () => 1,
  );
  expect((await decisions(project)).map(({ answer }) => answer)).toEqual([undefined]);
  const blind = await project.look('approve', 'last', '--no-resume');
  expect(blind).toMatchObject({ code: 0, err: expect.stringContaining('approving:\nw wants to use shell:\n  | touch two.txt') });
  const [was, answered] = await decisions(project);
  expect(answered).toMatchObject({ where: 'command', request: was?.['shown'] });
  expect(answered).not.toHaveProperty('shown');
  expect((await project.look('show', 'last', '--request')).out).toMatch(
    /approved by .* \(command\), nobody said that they saw it/,
  );
});

it('what nobody is shown is recorded with the hash of what it was, and said so', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor('shell', { command: 'touch three.txt' }));
  expect((await project.look('run', 'w', 'Go.', '--yes')).code).toBe(0);
  const [asked, answered] = await decisions(project);
  expect(answered).toMatchObject({ where: 'flag', request: asked?.['shown'] });
  expect(asked?.['shown']).toMatch(/^[0-9a-f]{64}$/);
  expect((await project.look('show', 'last', '--request')).out).toMatch(/approved by .* \(flag\), nothing was shown to a person/);
  expect((await project.look('why', 'last')).out).toContain('nothing was shown to a person');
  const { answered: told } = objectIn((await project.look('show', 'last', '--request', '--json')).out);
  expect(told).toMatchObject([{ where: 'flag', seen: false, shown: asked?.['shown'] }]);
});

it('--whole on a terminal shows all of it and asks, too', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor('shell', { command: 'touch four.txt' }));
  expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
  const terminal = testTerminal({ env: project.env, interactive: true, answers: ['no'] });
  expect(await runProgram(['-C', project.folder, 'approve', 'last', '--whole'], terminal)).toBe(5);
  expect(terminal.written.progress).toContain('| touch four.txt');
  expect(await isThere(project, 'four.txt')).toBe(false);
});

it('what is too long for a question is not approved by whoever has not looked at it', async () => {
  await using project = await createTestProject('', WORKER);
  const content = `${'line\n'.repeat(limits.requestCharacters / 4)}last line`;
  await project.script(...asksFor('write', { path: 'long.txt', content }));
  const asked = await project.look('run', 'w', 'Go.');
  expect(asked.err).toContain('more characters cannot be shown here');
  // Once, in the question: what is printed on the way says only who asks for what.
  expect(asked.err.split('long.txt').length - 1).toBe(1);
  expect(asked.err).toMatch(/\d w: asks to use write\n/);
  // The command beside the question is the one that shows the rest, and that one ends with the one that approves it.
  expect(asked.err).not.toMatch(/troupe approve \w+/);
  const look = /troupe show \w+ --request$/m.exec(asked.err)?.[0] ?? '';
  const terminal = testTerminal({ env: project.env, interactive: true, answers: ['yes', 'always'] });
  await runProgram(['-C', project.folder, 'resume', 'last'], terminal);
  const refused = await project.look('approve', 'last');
  expect([refused.code, refused.err.includes('--request')]).toEqual([2, true]);
  expect(await isThere(project, 'long.txt')).toBe(false);
  const whole = await project.lookTyped(look);
  expect(whole.out).toContain('last line');
  const approve = /troupe approve \w+ --wait \S+ --shown \w{8} --whole$/m.exec(whole.out)?.[0] ?? '';
  expect((await project.lookTyped(approve.replace(/\w{8} --whole/, '00000000 --whole'))).err).toContain('something else');
  expect((await project.lookTyped(approve.replace(' --whole', ''))).err).toContain('--request');
  expect(await isThere(project, 'long.txt')).toBe(false);
  expect(await project.lookTyped(approve)).toMatchObject({ code: 0 });
  expect(await readFile(join(project.folder, 'long.txt'), 'utf8')).toBe(content);
});
