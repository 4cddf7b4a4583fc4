/** `troupe attach` at a real pseudo-terminal: the whole screen for a run that this or another process works on. */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/models/script.ts';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, objectIn, serveHeld, type TestProject } from './support-project.ts';

const WORKER = `---
name: w
tools: [list, shell]
permissions: { shell: ask }
---
You work.
`;
const LIST = { calls: [{ name: 'list', input: { path: '.' } }] };
const SHELL = { calls: [{ name: 'shell', input: { command: 'touch made.txt' } }] };

async function eventsOf(project: TestProject, type: string): Promise<readonly Record<string, unknown>[]> {
  const { out } = await project.look('logs', 'last', '--jsonl');
  const lines = out.split('\n').filter((line) => line.includes(`"event_type":"${type}"`));
  return lines.map((line) => objectIn(line)['payload'] as Record<string, unknown>);
}

/** A run that another process works on, held at its first request until it is let go. */
async function atWork(project: TestProject, first: Reply, ...rest: readonly Reply[]) {
  const { server, asked, goOn } = await serveHeld(project, first, ...rest);
  const running = project.start(['run', 'w', 'Go.']);
  await asked;
  return { server, running, goOn };
}

describe('a run that another process works on', () => {
  it('is followed, written to and left as it is', async () => {
    await using project = await createTestProject('', WORKER);
    const { server, running, goOn } = await atWork(project, LIST, { text: '# Found\n\nIt is **done**.' });
    await using person = sitDown(project, ['attach', 'last']);
    await person.sees(/w \w+ · running, worked on by process \d+/);
    await person.sees('asked: Go.');
    person.type('s');
    await person.sees('to w:');
    person.type('Only the first file.\r');
    await person.sees('told w');
    goOn();
    await person.sees('Found');
    await person.sees('It is done.');
    expect(await running.ended).toMatchObject({ code: 0 });
    await person.sees(/w \w+ · completed/);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('Only the first file.');
    expect(await eventsOf(project, 'message.sent')).toMatchObject([{ person: { where: 'terminal' } }]);
    person.type('q');
    expect(await person.ended).toBe(0);
    expect(person.shown.cursorIsShown()).toBe(true);
  });

  it('goes on when somebody leaves, and says how to come back', async () => {
    await using project = await createTestProject('', WORKER);
    const { running, goOn } = await atWork(project, { text: 'Done.' });
    await using person = sitDown(project, ['attach']);
    await person.sees('worked on by process');
    person.type('\u0003');
    expect(await person.ended).toBe(0);
    expect(person.screen()).toMatch(/left (\w+) as it is\. Back with: troupe attach \1/);
    goOn();
    expect(await running.ended).toMatchObject({ code: 0, out: 'Done.\n' });
  });
});

describe('what it asks', () => {
  it('is answered there, whole, and nothing that was typed before counts', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(SHELL, { text: 'Done.' });
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
    await using person = sitDown(project, ['attach', 'last']);
    await person.sees('w waits for you: i answers');
    // Opened and answered in one go: nobody can have read it.
    person.type('iyes\r');
    await person.sees(/\| touch made\.txt[\s\S]*allow\? yes, always, edit, no/);
    expect(await eventsOf(project, 'approval.answered')).toEqual([]);
    person.type('yes\r');
    await person.sees('answered');
    const [{ shown }] = (await eventsOf(project, 'approval.asked')) as [{ shown: string }];
    expect(await eventsOf(project, 'approval.answered')).toMatchObject([
      { answer: { kind: 'approved' }, where: 'terminal', shown },
    ]);
    await person.sees('answered; if nobody goes on with the run, r takes it up here');
    person.type('r');
    await person.sees(/w \w+ · completed/);
    person.type('q');
    expect(await person.ended).toBe(0);
    expect((await project.look('show', 'last')).out).toContain('Done.');
  });
});

describe('a run that waits in its own terminal', () => {
  it('is shown as waiting; taken up and answered there, its terminal follows it to its end', async () => {
    await using project = await createTestProject('', '---\nname: boss\nagents: [w]\n---\nYou are boss.\n');
    await project.write('agents/w.md', WORKER);
    await project.serve(({ body, toolResults }) => {
      if (toolResults > 0) return { text: 'All done.' };
      if (!JSON.stringify(body).includes('You are boss')) return SHELL;
      return { calls: [{ name: 'w', input: { prompt: 'Go.', reason: 'need' } }] };
    });
    await using asking = sitDown(project, ['run', 'boss', 'Go.']);
    await asking.sees('allow? yes, always');
    await using other = sitDown(project, ['attach', 'last']);
    await other.sees(/boss \w+ · 1 question for you · waiting/);
    expect(other.screen()).not.toContain('take it up');
    other.type('r');
    await expect.poll(async () => (await eventsOf(project, 'run.resumed')).length).toBeGreaterThan(0);
    await other.sees(/1 question for you · waiting/);
    other.type('i');
    await other.sees('allow? yes, always, edit, no');
    other.type('yes\r');
    await asking.sees('answered elsewhere: approved by');
    await other.sees(/boss \w+ · completed/);
    expect(await asking.ended).toBe(0);
    expect(asking.screen()).toContain('All done.');
    expect(asking.screen()).toMatch(/completed, unchecked/);
    expect(asking.screen()).not.toContain('lost');
    other.type('q');
    expect(await other.ended).toBe(0);
  });
});

describe('several who look at the same run', () => {
  it('see the same, and whoever is slower is told who was first', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(SHELL, { text: 'Done.' });
    await project.look('run', 'w', 'Go.');
    await using slow = sitDown(project, ['attach', 'last'], { columns: 60, rows: 15 });
    await using quick = sitDown(project, ['attach', 'last'], { columns: 130 });
    for (const person of [slow, quick]) {
      await person.sees('w waits for you: i answers');
      person.type('i');
      await person.sees('allow? yes, always, edit, no');
    }
    slow.type('ye');
    await slow.sees(/no[^:]*: ye$/m);
    quick.type('no not this one\r');
    await slow.sees('answered elsewhere: denied by');
    expect(await eventsOf(project, 'approval.answered')).toMatchObject([{ answer: { kind: 'denied', note: 'not this one' } }]);
    slow.type('q');
    expect(await slow.ended).toBe(0);
  });
});

describe('the terminal', () => {
  it('is given back however attach is left, and drawn anew when it comes back', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve({ text: 'All\u001b[2J is \u001b]0;evil\u0007well.' });
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 0 });
    await using person = sitDown(project, ['attach', 'last'], { columns: 60, rows: 15, shell: 'jobs' });
    await person.sees('All is well.');
    person.resize(30, 8);
    await person.sees('too small: 40x10 at least');
    person.resize(80, 20);
    await person.sees('All is well.');
    person.type('?');
    await person.sees('take up a run that nobody works on');
    person.type('\u001a');
    await person.sees('[stopped] $');
    expect(person.shown.cursorIsShown()).toBe(true);
    expect(person.screen()).not.toContain('take up a run');
    person.type('fg\r');
    await person.sees('take up a run that nobody works on');
    person.type('xq');
    expect(await person.ended).toBe(0);
    expect(person.screen()).not.toContain('All is well.');

    await using killed = sitDown(project, ['attach', 'last']);
    await killed.sees('All is well.');
    killed.kill('SIGTERM');
    expect(await killed.ended).toBe(130);
    expect(killed.screen()).not.toContain('All is well.');
    expect(killed.shown.cursorIsShown()).toBe(true);
    const piped = await project.look('attach', 'last');
    expect(piped).toMatchObject({ code: 2, err: expect.stringContaining('attach needs a terminal') });
  });
});

describe('a run that is worked on here', () => {
  it('is left only by who says so, and can be resumed', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(SHELL, () => new Promise(() => undefined));
    await project.look('run', 'w', 'Go.');
    await project.look('deny', 'last', '--no-resume');
    await using person = sitDown(project, ['attach', 'last']);
    await person.sees('nobody works on this run: r takes it up here');
    person.type('r');
    await person.sees('worked on here');
    person.type('q');
    await person.sees('leaving stops it');
    person.type('n');
    await person.sees(/worked on here[\s\S]*q leave/);
    person.type('q');
    await person.sees('leaving stops it');
    person.type('y');
    expect(await person.ended).toBe(130);
    expect(person.screen()).toMatch(/Go on with: troupe resume \w+/);
    await project.serve({ text: 'Done.' });
    expect(await project.look('resume', 'last')).toMatchObject({ code: 0 });
  });
});

describe('a run that has ended', () => {
  it('has its answer once, however it ends, and what is pasted outside of a line does nothing', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve({ text: 'It is \u001b[1mwell\u001b[0m said.\n\n' });
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 0 });
    await using person = sitDown(project, ['attach', 'last']);
    await person.sees('It is well said.');
    expect(person.screen().match(/well said/g)).toHaveLength(1);
    person.type('\u001b[200~quit\u001b[201~');
    person.type('?');
    await person.sees('any key back');
    person.type('x');
    await person.sees('It is well said.');
    person.type('q');
    expect(await person.ended).toBe(0);
  });
});
