/** Approvals one can trust, at a real pseudo-terminal: a person types, waits for the screen, and looks. */
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { asksFor, WORKER } from '../scenes/workers.ts';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, decisions, objectIn } from './support-project.ts';

describe('edit and approve', () => {
  it('makes the call as the person has changed it, and the model is told', async () => {
    await using project = await createTestProject('', WORKER);
    const server = await project.serve({ calls: [{ name: 'shell', input: { command: 'touch wrong.txt' } }] }, { text: 'Done.' });
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('e\r');
    await person.sees('command: touch wrong.txt');
    person.type('\u0015touch right.txt\r');
    await person.sees(/shell as you have changed it \([0-9a-f]{8}\):\n {2}\| touch right\.txt\n/);
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    expect(await readdir(project.folder)).toContain('right.txt');
    expect(await readdir(project.folder)).not.toContain('wrong.txt');
    expect(JSON.stringify(server.requests.at(-1)?.body)).toContain('The user changed this call before it was made');
    const [, answered] = await decisions(project);
    expect(answered).toMatchObject({ answer: { kind: 'approved', input: { command: 'touch right.txt' } }, where: 'terminal' });
    const { out } = await project.look('logs', 'last', '--jsonl');
    expect(out.split('\n').find((line) => line.includes('"event_type":"tool.call"'))).toContain('touch right.txt');
  });

  it('a no with words reaches the model; an answer outlives whoever asked for it', async () => {
    await using project = await createTestProject('', WORKER);
    const server = await project.serve(
      { calls: [{ name: 'shell', input: { command: 'echo once >> once.txt' } }] },
      { text: 'Done.' },
    );
    const person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.kill('SIGKILL');
    await person.ended;
    expect(await project.look('approve', 'last', '--no-resume')).toMatchObject({ code: 0 });
    expect(await project.look('resume', 'last')).toMatchObject({ code: 0 });
    expect(await readFile(join(project.folder, 'once.txt'), 'utf8')).toBe('once\n');
    await project.serve({ calls: [{ name: 'shell', input: { command: 'touch never.txt' } }] }, { text: 'Done.' });
    await using second = sitDown(project, ['run', 'w', 'Go.']);
    await second.sees('allow? yes, always, edit');
    second.type('no use the other folder\r');
    expect(await second.ended).toBe(0);
    expect(server.requests).toHaveLength(2);
    expect((await project.look('logs', 'last', '--jsonl')).out).toContain('They wrote: use the other folder');
  });
});

describe('keys at the question', () => {
  it('Ctrl-Z and back: the question is still there, and what is typed counts', async () => {
    await using project = await createTestProject('', WORKER);
    await project.script(...asksFor({ name: 'shell', input: { command: 'touch kept.txt' } }));
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always');
    // What stands behind the key is on the screen once the key was heard. Without a shell above it nothing stops; what a shell
    // sends with `fg` comes all the same.
    person.type('\u001ano not');
    await person.sees('): no not');
    person.kill('SIGCONT');
    person.type(' this\r');
    expect(await person.ended).toBe(0);
    expect((await decisions(project))[1]).toMatchObject({ answer: { kind: 'denied', note: 'not this' } });
  });

  it('a yes with a condition behind it is none', async () => {
    await using project = await createTestProject('', WORKER);
    await project.script(...asksFor({ name: 'shell', input: { command: 'touch PWNED' } }));
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always');
    for (const almost of ['yes but ask Bob first', 'a lot of files', 'always projekt']) {
      person.type(`${almost}\r`);
      await person.sees(new RegExp(`${almost}[\\s\\S]*allow\\? yes, always, .*:$`));
    }
    person.type('no\r');
    expect(await person.ended).toBe(0);
    expect((await decisions(project)).map(({ answer }) => answer)).toEqual([undefined, { kind: 'denied' }]);
  });

  it('Ctrl-C leaves the inbox, Ctrl-D only the question', async () => {
    await using project = await createTestProject('', WORKER);
    for (const name of ['one', 'two']) {
      await project.script(...asksFor({ name: 'shell', input: { command: `touch ${name}` } }));
      expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
    }
    await using leaving = sitDown(project, ['inbox']);
    await leaving.sees('which first?');
    expect(leaving.screen()).toMatch(
      /1 {2}\S+ ago · w · \w{6} *\n {3}shell: touch one *\n2 {2}\S+ ago · w · \w{6} *\n {3}shell: touch two/,
    );
    leaving.type('\r');
    await leaving.sees('allow? yes, always');
    leaving.type('\u0003');
    expect(await leaving.ended).toBe(130);
    expect(leaving.screen().match(/wants to use shell/g)).toHaveLength(1);
    await using passing = sitDown(project, ['inbox']);
    await passing.sees('which first?');
    passing.type('\r');
    await passing.sees('| touch one');
    await passing.sees('allow? yes, always');
    passing.type('\u0004');
    await passing.sees(/\| touch two[\s\S]*allow\? yes, always/);
    passing.type('\u0004');
    expect(await passing.ended).toBe(0);
    expect(passing.screen()).toContain('2 questions left open');
  });

  it('the inbox lists what there is, and any of it can be answered first', async () => {
    await using project = await createTestProject('', WORKER);
    for (const name of ['one', 'two', 'three']) {
      await project.script(...asksFor({ name: 'shell', input: { command: `touch ${name}` } }));
      expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
    }
    await using person = sitDown(project, ['inbox'], { rows: 50 });
    await person.sees('3  ');
    await person.sees('which first?');
    person.type('4\r');
    await person.sees('none of the numbers');
    await person.sees(/none of the numbers[\s\S]*which first\?/);
    person.type('2\r');
    await person.sees('| touch two');
    await person.sees('allow? yes, always');
    person.type('no\r');
    // Of the two that are left the younger one is the second now.
    await person.sees(/: no\b[\s\S]*which first\?/);
    person.type('2\r');
    await person.sees('| touch three');
    await person.sees(/touch three\s+always[\s\S]*allow\?/);
    person.type('no\r');
    // The last one is no choice.
    await person.sees('| touch one');
    await person.sees(/touch one\s+always[\s\S]*allow\?/);
    person.type('\u0004');
    expect(await person.ended).toBe(0);
    expect(person.screen()).toContain('1 question left open');
    await using looking = sitDown(project, ['inbox', '--list']);
    expect(await looking.ended).toBe(0);
    expect(looking.screen()).toMatch(/touch one[\s\S]*troupe approve/);
  });
});

describe('a run that is cancelled from elsewhere', () => {
  it('takes its question back wherever it is put, and says why', async () => {
    await using project = await createTestProject('', WORKER);
    await project.script(...asksFor({ name: 'shell', input: { command: 'touch PWNED' } }));
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always');
    await using inbox = sitDown(project, ['inbox']);
    await inbox.sees('allow? yes, always');
    await using attached = sitDown(project, ['attach', 'last']);
    await attached.sees('i answers');
    attached.type('i');
    await attached.sees('allow? yes, always');
    expect(await project.look('cancel', 'last', '--reason', 'enough of it')).toMatchObject({ code: 0 });
    expect(await person.ended).toBe(130);
    for (const one of [person, inbox, attached]) await one.sees('no longer asked: The run was cancelled: enough of it');
    expect(person.screen()).not.toContain('troupe approve');
    expect(await inbox.ended).toBe(0);
    expect(inbox.screen()).toContain('nothing else waits for you');
    expect(attached.screen()).not.toContain('answered elsewhere');
    expect(await readdir(project.folder)).not.toContain('PWNED');
  });
});

describe('Ctrl-C with several questions open', () => {
  const touch = (name: string) => ({ name: 'shell', input: { command: `touch ${name}` } });

  it.each([
    ['at the first', ''],
    ['after a no', 'no\r'],
  ])('stops the run, and says how it goes on: %s', async (_name, before) => {
    await using project = await createTestProject('', WORKER);
    await project.script(...asksFor(touch('one'), touch('two'), touch('three')));
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees(/\| touch one[\s\S]*allow\? yes, always/);
    person.type(before);
    if (before !== '') await person.sees(/\| touch two[\s\S]*allow\? yes, always/);
    person.type('\u0003');
    expect(await person.ended).toBe(130);
    const [, below = ''] = person.screen().split('stopping; what is done is kept.');
    expect(below).toMatch(/waiting · .*\n[\s\S]*troupe approve/);
    expect(below).not.toContain('interrupted');
    expect(below).not.toContain('allow?');
    // What waits is drawn once, below what was said.
    expect(person.screen().match(/w {2}waiting on you/g)).toHaveLength(1);
    expect(await readdir(project.folder)).not.toContain('one');
    await using again = sitDown(project, ['resume', 'last']);
    await again.sees(before === '' ? /\| touch one[\s\S]*allow\?/ : /\| touch two[\s\S]*allow\?/);
  });
});

it('Ctrl-C at a question leaves a run that waits, and run and resume say so as every other command does', async () => {
  await using project = await createTestProject('', WORKER);
  await project.script(...asksFor({ name: 'shell', input: { command: 'touch one' } }));
  for (const args of [
    ['run', '--json', 'w', 'Go.'],
    ['resume', 'last', '--json'],
  ]) {
    await using person = sitDown(project, args);
    await person.sees(/touch one[\s\S]*allow\?/);
    person.type('\u0003');
    expect(await person.ended).toBe(130);
    expect(person.screen().replace(/\s+/g, '')).toMatch(/"status":"waiting".*"waits":\[\{"run":/);
    expect(objectIn((await project.look('show', 'last', '--json')).out)).toMatchObject({ status: 'waiting', waits: [{}] });
  }
});

describe('where nothing is drawn', () => {
  it.each([
    ['run --quiet', ['run', '--quiet', 'w', 'Go.'], 'stopping; what is done is kept'],
    ['inbox', ['inbox'], '1 question left open; back with: troupe inbox'],
  ])('Ctrl-C at a question of %s ends its line before anything else is said', async (command, args, said) => {
    await using project = await createTestProject('', WORKER);
    await project.script(...asksFor({ name: 'shell', input: { command: 'touch one' } }));
    if (command === 'inbox') await project.look('run', 'w', 'Go.');
    await using person = sitDown(project, args);
    await person.sees(/touch one[\s\S]*allow\? yes, always/);
    person.type('ye\u0003');
    expect(await person.ended).toBe(130);
    expect(person.screen()).toMatch(new RegExp(`why\\): ye *\\n${said}`));
  });
});

describe('asked at once, answered at once', () => {
  const sub = (name: string): string =>
    `---\nname: ${name}\ntools: [shell]\npermissions: { shell: ask }\n---\nYou are ${name}.\n`;
  const LEAD = '---\nname: lead\nagents: [ann, bob, cid]\n---\nYou are lead.\n';

  it('while one works, another goes on with its answer, and the third is answered in another terminal', async () => {
    await using project = await createTestProject('', LEAD);
    for (const name of ['ann', 'bob', 'cid']) await project.write(`agents/${name}.md`, sub(name));
    const cid = Promise.withResolvers<void>();
    await project.serve(async ({ body, toolResults }) => {
      const [, who = ''] = /You are (\w+)/.exec(JSON.stringify(body)) ?? [];
      if (who === 'lead' && toolResults === 0)
        return { calls: ['ann', 'bob', 'cid'].map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) };
      if (who === 'cid') await cid.promise;
      if (who === 'lead' || who === 'cid' || toolResults > 0) return { text: `${who} is done.` };
      return { calls: [{ name: 'shell', input: { command: `touch ${who}.txt` } }] };
    });
    await using person = sitDown(project, ['run', 'lead', 'Go.'], { rows: 40 });
    await person.sees(/touch (ann|bob)\.txt/);
    await person.sees('allow? yes, always');
    const [, first = ''] = /touch (ann|bob)\.txt/.exec(person.screen()) ?? [];
    const second = first === 'ann' ? 'bob' : 'ann';
    // The tree stays while it is asked.
    await person.sees(/cid[^\n]*\n(?:[^\n]*\n)* {2}allow\?/);
    person.type('yes\r');
    await person.sees(`| touch ${second}.txt`);
    await expect.poll(() => readFile(join(project.folder, `${first}.txt`), 'utf8').catch(() => 'not yet')).toBe('');
    const inbox = JSON.parse((await project.look('inbox', '--json')).out) as Record<string, unknown>[];
    expect(inbox).toMatchObject([{ kind: 'permission', agent: second, path: ['lead', second], tool: 'shell' }]);
    await using elsewhere = sitDown(project, ['inbox']);
    await elsewhere.sees(`lead › ${second}`);
    await elsewhere.sees('allow? yes, always');
    elsewhere.type('yes\r');
    await elsewhere.sees('nothing else waits for you');
    await person.sees(/answered elsewhere: approved by .*\(inbox\)/);
    await expect.poll(() => readFile(join(project.folder, `${second}.txt`), 'utf8').catch(() => 'not yet')).toBe('');
    const late = await project.look('approve', String(inbox[0]?.['run']), '--wait', String(inbox[0]?.['wait']));
    expect(late).toMatchObject({ code: 2, err: expect.stringMatching(/their answer counts: approved by .*\(inbox\)/) });
    cid.resolve();
    expect(await person.ended).toBe(0);
    expect(person.screen()).toContain('lead is done.');
  });
});

describe('what is approved is seen whole', () => {
  it('a long command page by page: it can be refused at once, and allowed only behind its last page', async () => {
    await using project = await createTestProject('', WORKER);
    const command = `${Array.from({ length: 45 }, (_none, index) => `echo ${index}`).join('\n')}\ntouch PWNED`;
    await project.script(...asksFor({ name: 'shell', input: { command } }));
    await using person = sitDown(project, ['run', 'w', 'Go.'], { columns: 60, rows: 24 });
    await person.sees('page 1 of 3');
    expect(person.screen()).not.toContain('PWNED');
    person.type('yes\r');
    await person.sees('page 2 of 3');
    person.type('\r');
    await person.sees('allow? yes, always');
    expect(person.screen()).toContain('| touch PWNED');
    // What "always" would allow is as long, and is not shown a second time.
    expect(person.screen()).toContain('always (this session) or always project:\n    shell, this very command');
    person.type('no not like this\r');
    expect(await person.ended).toBe(0);
    const [asked, answered] = await decisions(project);
    expect(answered).toMatchObject({
      answer: { kind: 'denied', note: 'not like this' },
      by: expect.stringMatching(/.@./),
      where: 'terminal',
      shown: asked?.['shown'],
    });
  });

  it('a long command from the beginning when the window gets too small for its pages, and as it is when it grows', async () => {
    await using project = await createTestProject('', WORKER);
    const command = `echo ${Array.from({ length: 300 }, (_none, index) => `word${index}`).join(' ')}; touch PWNED`;
    await project.script(...asksFor({ name: 'shell', input: { command } }));
    await using person = sitDown(project, ['run', 'w', 'Go.'], { columns: 100, rows: 16 });
    await person.sees('page 1 of 3');
    person.resize(110, 18);
    person.type('\r');
    await person.sees('page 2 of 3');
    person.resize(50, 12);
    await person.sees(/page 2 of 3: Enter, or no: *$/);
    person.type('\r');
    for (const page of ['page 1 of 6', 'page 2 of 6', 'page 3 of 6', 'page 4 of 6', 'page 5 of 6']) {
      await person.sees(page);
      person.type('\r');
    }
    await person.sees('allow? yes');
    person.type('no\r');
    expect(await person.ended).toBe(0);
    // All of it stood on screens of that size, each row behind its mark.
    const [, again = ''] = person.screen().split('the window is smaller now: from the beginning');
    const rows = again.split('\n').filter((row) => /^ {2}[|¦] /.test(row));
    expect(Math.max(...rows.map(({ length }) => length))).toBeLessThanOrEqual(50);
    expect(rows.map((row) => row.slice(4)).join('')).toContain('word299; touch PWNED');
    expect(rows.join('').replaceAll(/\W/g, '')).toBe(command.replaceAll(/\W/g, ''));
  });

  it('a change as a difference to the file as it is; when the file has changed since, it is asked for again', async () => {
    await using project = await createTestProject('', WORKER);
    const file = join(project.folder, 'a.txt');
    await writeFile(file, 'one\ntwo\nthree\n');
    await project.script(...asksFor({ name: 'edit', input: { path: 'a.txt', old: 'two', new: '2' } }));
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes');
    expect(person.screen()).toMatch(
      /wants to use edit:\n {2}\| a\.txt \(\+1 -1 lines\)\n.*@@.*\n {2}\| {2}one\n {2}\| -two\n {2}\| \+2\n/,
    );
    await writeFile(file, 'one\ntwo\nTHREE\n');
    person.type('yes\r');
    await person.sees('it would come to something else than you approved');
    await person.sees(/THREE[\s\S]*allow\? yes/);
    expect(await readFile(file, 'utf8')).toBe('one\ntwo\nTHREE\n');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    expect(await readFile(file, 'utf8')).toBe('one\n2\nTHREE\n');
    const [asked, , again, answered] = await decisions(project);
    expect([again?.['again'], again?.['shown'] === asked?.['shown'], answered?.['shown'] === again?.['shown']]).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('an address as it is really asked, a new file line by line', async () => {
    await using project = await createTestProject('', WORKER);
    const url = 'https://ex\u0430mple.org@evil.example/\u202ex';
    await project.script(
      ...asksFor({ name: 'fetch', input: { url } }, { name: 'write', input: { path: 'n.txt', content: 'a\nb\n' } }),
    );
    const asked = await project.look('run', 'w', 'Go.');
    expect(asked.code).toBe(5);
    expect(asked.err).toContain('  | GET https://ex%D0%B0mple.org@evil.example/%E2%80%AEx\n  | host: evil.example\n');
    expect(asked.err).toContain('⟨U+202E⟩x');
    expect(asked.err).toContain('  | n.txt (new file, +2 -0 lines)\n  | @@ -0,0 +1,2 @@\n  | +a\n  | +b\n');
    const [, approve = ''] = /troupe (approve .* --shown \w{8})/.exec(asked.err) ?? [];
    const other = await project.look(...approve.replace(/\w{8}$/, '00000000').split(' '));
    expect(other).toMatchObject({ code: 2, err: expect.stringContaining('asks for something else') });
  });
});
