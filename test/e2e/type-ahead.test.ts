/** What is typed before a question appeared answers nothing, wherever it is put: at a real pseudo-terminal. */
import { readdir } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { asksFor, WORKER } from '../scenes/workers.ts';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, decisions } from './support-project.ts';

describe('type-ahead', () => {
  it('approves nothing: what was typed before the question appeared is thrown away', async () => {
    await using project = await createTestProject('', WORKER);
    const typed = Promise.withResolvers<void>();
    await project.serve(async ({ index }) => {
      await typed.promise;
      return index === 0 ? { calls: [{ name: 'shell', input: { command: 'touch PWNED' } }] } : { text: 'Done.' };
    });
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('turn 1');
    // The terminal has them before the model has answered. The last line is not even ended.
    person.type('yes\ryes\ry');
    typed.resolve();
    await person.sees('allow? yes, always');
    person.type('no\r');
    expect(await person.ended).toBe(0);
    expect((await decisions(project)).map(({ answer }) => answer)).toEqual([undefined, { kind: 'denied' }]);
  });

  it.each([
    ['in the inbox', ['inbox'], 'allow? yes, always'],
    ['of approve', ['approve', 'last'], 'approve this? yes or no'],
    ['about a server', ['servers', 'allow'], 'allow? yes or no'],
    ['about a server, before a run', ['run', 's', 'Go.'], 'allow? yes or no'],
  ])('answers no question %s', async (_where, args, question) => {
    await using project = await createTestProject('', WORKER);
    await project.write('.mcp.json', JSON.stringify({ mcpServers: { notes: { command: 'sh', args: ['-c', 'touch PWNED'] } } }));
    await project.write('agents/s.md', '---\nname: s\ntools: ["mcp:notes"]\n---\nYou work.\n');
    await project.script(...asksFor({ name: 'shell', input: { command: 'touch PWNED' } }));
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
    await using person = sitDown(project, args);
    // The terminal has them before there is a program that could ask.
    person.type('yes\ryes\ry');
    await person.sees(question);
    person.type('no\r');
    await person.ended;
    expect(await readdir(project.folder)).not.toContain('PWNED');
    const given = (await decisions(project)).flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
    expect(given).toEqual(args[0] === 'inbox' ? [{ kind: 'denied' }] : []);
    expect((await project.look('servers', '--json')).out).not.toContain('"allowed": true');
  });

  it('of lines that are pasted together the first answers, and no other question', async () => {
    await using project = await createTestProject('', WORKER);
    await project.script(
      ...asksFor({ name: 'shell', input: { command: 'touch one' } }, { name: 'shell', input: { command: 'touch two' } }),
    );
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always');
    person.type('no\ryes\ryes\r');
    await person.sees(/\| touch two[\s\S]*allow\? yes, always, .*\(or no and why\):$/);
    person.type('no\r');
    expect(await person.ended).toBe(0);
    const given = (await decisions(project)).flatMap(({ answer }) => (answer === undefined ? [] : [answer]));
    expect(given).toEqual([{ kind: 'denied' }, { kind: 'denied' }]);
  });
});
