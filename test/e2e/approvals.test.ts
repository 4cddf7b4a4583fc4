/** Approvals one can trust, at a real pseudo-terminal: a person types, waits for the screen, and looks. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const WORKER = `---
name: w
tools: [shell, write, edit, fetch]
permissions: { shell: ask, write: ask, edit: ask, fetch: ask }
---
You work.
`;

const asksFor = (...calls: readonly { readonly name: string; readonly input: Record<string, string> }[]) => [
  { toolCalls: calls },
  { text: 'Done.' },
];

/** What was asked and answered, as the ledger has it. */
async function decisions(project: TestProject): Promise<readonly Record<string, unknown>[]> {
  const { out } = await project.look('logs', 'last', '--jsonl');
  return out
    .split('\n')
    .filter((line) => line.includes('"event_type":"approval.'))
    .map((line) => objectIn(line)['payload'] as Record<string, unknown>);
}

describe('what is approved is seen whole', () => {
  it('a long command page by page: it can be refused at once, and allowed only behind its last page', async () => {
    await using project = await createTestProject('', WORKER);
    const command = `${Array.from({ length: 60 }, (_none, index) => `echo ${index}`).join('\n')}\ntouch PWNED`;
    await project.script(...asksFor({ name: 'shell', input: { command } }));
    await using person = sitDown(project, ['run', 'w', 'Go.'], { columns: 60, rows: 24 });
    await person.sees('page 1 of 3');
    expect(person.screen()).not.toContain('PWNED');
    person.type('yes\r');
    await person.sees('page 2 of 3');
    person.type('\r');
    await person.sees('allow? yes, always, no');
    expect(person.screen()).toContain('| touch PWNED');
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
    await person.sees(/THREE\n {2}allow\? yes/);
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
