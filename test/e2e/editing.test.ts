/** A call that a person changes before it is made, in their editor or by a file: it is theirs, and still held to the rules. */
import { chmod, readdir, readFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, MAIN, objectIn, type TestProject } from './support-project.ts';

const WORKER = `---
name: w
tools: [shell, write, read]
permissions: { shell: { "*": ask, "rm *": deny }, write: ask, read: ask }
---
You work.
`;

async function given(project: TestProject): Promise<readonly Record<string, unknown>[]> {
  const { out } = await project.look('logs', 'last', '--jsonl');
  return out
    .split('\n')
    .filter((line) => line.includes('"event_type":"approval.answered"'))
    .map((line) => objectIn(line)['payload'] as Record<string, unknown>);
}

/** A program that is called with the file, and one turn of an agent that wants to run something. */
async function withEditor(script: string, input: Record<string, string> = { command: 'touch wrong.txt' }): Promise<TestProject> {
  const project = await createTestProject('', WORKER);
  await project.write('my editor', `#!/bin/sh\n${script}\n`);
  await chmod(join(project.folder, 'my editor'), 0o755);
  // Two words, the way people have it with options.
  project.env['EDITOR'] = `'${join(project.folder, 'my editor')}' --wait`;
  const name = 'command' in input ? 'shell' : 'content' in input ? 'write' : 'read';
  await project.script({ toolCalls: [{ name, input }] }, { text: 'Done.' });
  return project;
}

describe('an editor', () => {
  it('has the terminal and a file of its own, which goes; what comes back is shown whole with its hash', async () => {
    await using project = await withEditor(
      'echo "$@" > called; stat -c "%a" "$2" "$(dirname "$2")" >> called; cat "$2" >> called; ' +
        'printf "in the editor: "; read -r typed; printf "%s\\n" "$typed" > "$2"',
    );
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees('in the editor:');
    // The terminal is in its line mode: Backspace is the terminal's to handle, and the keys are echoed by it.
    person.type('touch right.txtX\u007f\r');
    await person.sees(/shell as you have changed it \([0-9a-f]{8}\):\n {2}\| touch right\.txt\n/);
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    const files = await readdir(project.folder);
    expect(files).toContain('right.txt');
    expect(files).not.toContain('wrong.txt');
    const [words = '', mode, folderMode, before] = (await readFile(join(project.folder, 'called'), 'utf8')).trim().split('\n');
    expect([mode, folderMode, before]).toEqual(['600', '700', 'touch wrong.txt']);
    const [option, path = ''] = words.split(' ');
    expect(option).toBe('--wait');
    expect(path.startsWith(tmpdir())).toBe(true);
    await expect(readFile(path)).rejects.toThrow('ENOENT');
    await expect(readdir(join(path, '..'))).rejects.toThrow('ENOENT');
    expect(await given(project)).toMatchObject([
      { answer: { kind: 'approved', input: { command: 'touch right.txt' } }, where: 'terminal' },
    ]);
    expect((await project.look('logs', 'last')).out).toMatch(/approved by .*, with another input than was asked for/);
  });

  it.each([
    ['fails', 'echo touch PWNED > "$2"; exit 3', 'the editor ended with 3'],
    ['changes nothing', ':', 'nothing was changed'],
    ['empties the file', ': > "$2"', 'the file is empty'],
    ['removes the file', 'rm "$2"', 'the file is gone'],
    ['leaves what is no text', 'printf "touch \\377" > "$2"', 'the file is not text'],
    ['cannot be started', 'exec /no/such/editor', 'the editor ended with 127'],
  ])('that %s approves nothing: it is asked again', async (_name, script, said) => {
    await using project = await withEditor(script);
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees(new RegExp(`${said}[\\s\\S]*allow\\? yes, always, .*:$`));
    person.type('no\r');
    expect(await person.ended).toBe(0);
    expect((await given(project)).map(({ answer }) => answer)).toEqual([{ kind: 'denied' }]);
  });

  it('whose text does not fit the tool approves nothing: it is said why, and what was written can be mended', async () => {
    // A key is misspelled first; what is there then is set right.
    await using project = await withEditor(
      `if grep -q pth "$2"; then sed -i s/pth/path/ "$2"; else sed -i 's/"path": "a.txt"/"pth": "b.txt"/' "$2"; fi`,
      { path: 'a.txt' },
    );
    await project.write('b.txt', 'the other file');
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees('`path` is required and must be a string');
    await person.sees('Nothing is approved.');
    await person.sees('edit it again? edit, no (or no and why):');
    person.type('yes\r');
    // What is typed before it is asked again is thrown away.
    await person.sees(/that is none of the answers[\s\S]*edit it again\? edit, no \(or no and why\):$/);
    expect(await given(project)).toEqual([]);
    person.type('edit\r');
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    expect((await given(project)).map(({ answer }) => answer)).toMatchObject([{ kind: 'approved', input: { path: 'b.txt' } }]);
  });

  it('whose text a rule denies approves nothing: it is said which rule, and what was written can be changed again', async () => {
    await using project = await withEditor(
      'if grep -q rm "$2"; then echo touch right.txt > "$2"; else echo "rm -r src" > "$2"; fi',
    );
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees(/shell "rm \*": deny \(agents\/\S+\.md\)/);
    await person.sees(/Nothing is approved\.[\s\S]*edit it again\? edit, no \(or no and why\):$/);
    expect(await given(project)).toEqual([]);
    person.type('edit\r');
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    expect((await given(project)).map(({ answer }) => answer)).toMatchObject([{ input: { command: 'touch right.txt' } }]);
  });

  it('is given several lines as they are, and what is too long for a screen is allowed behind its last page', async () => {
    const content = Array.from({ length: 5 }, (_, line) => `line ${line}`).join('\n');
    await using project = await withEditor('seq 1 60 >> "$2"', { path: 'long.txt', content });
    await using person = sitDown(project, ['run', 'w', 'Go.']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees(/page 1 of 3: Enter for the next/);
    person.type('yes\r');
    await person.sees(/page 2 of 3: Enter for the next/);
    person.type('\r');
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    expect(await person.ended).toBe(0);
    expect(await readFile(join(project.folder, 'long.txt'), 'utf8')).toMatch(/^line 0\n[\s\S]*\nline 41\n2\n[\s\S]*\n60$/);
  });

  it('is there in the inbox, too, and Ctrl-C in it stops no run', async () => {
    await using project = await withEditor(
      'trap "echo caught" INT; printf "in the editor: "; read -r typed || read -r typed; echo "$typed" > "$2"',
    );
    expect((await project.look('run', 'w', 'Go.')).code).toBe(5);
    await using person = sitDown(project, ['inbox']);
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees('in the editor:');
    person.type('\u0003');
    await person.sees('caught');
    person.type('touch right.txt\r');
    await person.sees('allow this? yes, edit, no');
    person.type('yes\r');
    await person.sees('nothing else waits for you');
    expect(await person.ended).toBe(0);
    expect(await readdir(project.folder)).toContain('right.txt');
    expect(await given(project)).toMatchObject([{ answer: { input: { command: 'touch right.txt' } }, where: 'inbox' }]);
  });
});

/** A shell of sorts: starts the command line, says how the terminal is before and after it, and where the process is. */
const AROUND = `
import { execFileSync, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
const modes = () => execFileSync('stty', ['-g'], { stdio: ['inherit', 'pipe', 'ignore'], encoding: 'utf8' }).trim();
const before = modes();
const child = spawn(process.execPath, process.argv.slice(2), { stdio: 'inherit' });
writeFileSync('pid', String(child.pid));
child.on('close', (code) => console.log('[over]', code, modes() === before ? 'as it was' : 'torn'));
`;

/** An editor behind a script, which has the terminal in a mode of its own. */
const STUBBORN =
  'sh -c \'stty raw -echo; echo $$ > editor; printf "in the editor"; while :; do sleep 1; done\'; echo touch PWNED > "$2"';

function isThere(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('whoever is told to go while an editor is open', () => {
  it.each([
    ['a run', ['run', 'w', 'Go.'], ''],
    ['the inbox', ['inbox'], ''],
    ['the whole screen', ['attach', 'last'], 'i'],
    ['a run whose editor does not listen', ['run', 'w', 'Go.'], 'deaf'],
  ])('ends it, leaves the terminal as it was and the question open: %s', async (_name, args, how) => {
    await using project = await withEditor(how === 'deaf' ? STUBBORN.replace('stty', 'trap "" TERM; stty') : STUBBORN);
    await project.write('around.mjs', AROUND);
    if (args[0] !== 'run') expect((await project.look('run', 'w', 'Go.')).code).toBe(5);
    await using person = sitDown(project, [MAIN, ...args], { main: join(project.folder, 'around.mjs') });
    if (how === 'i') {
      await person.sees('i answers');
      person.type('i');
    }
    await person.sees('allow? yes, always, edit');
    person.type('edit\r');
    await person.sees('in the editor');
    const read = async (name: string): Promise<number> => Number(await readFile(join(project.folder, name), 'utf8'));
    const editor = await read('editor');
    process.kill(await read('pid'), 'SIGTERM');
    await person.sees(/\[over\] (130|5) as it was/);
    await expect.poll(() => isThere(editor)).toBe(false);
    expect(await given(project)).toEqual([]);
    expect(await readdir(project.folder)).not.toContain('PWNED');
    expect(objectIn((await project.look('show', 'last', '--json')).out)).toMatchObject({
      status: 'waiting',
      waits: [{ kind: 'permission', tool: 'shell' }],
    });
    expect(await project.look('deny', 'last')).toMatchObject({ code: 0 });
  });
});

describe('a file with the arguments', () => {
  const asked = async (): Promise<TestProject> => {
    const project = await createTestProject('', WORKER);
    await project.serve({ calls: [{ name: 'shell', input: { command: 'touch wrong.txt' } }] }, { text: 'Done.' });
    expect((await project.look('run', 'w', 'Go.')).code).toBe(5);
    return project;
  };

  it('is what the call is made with, recorded as the answer of whoever gave it', async () => {
    await using project = await asked();
    await project.write('call.json', '{ "command": "touch right.txt" }');
    expect(await project.look('approve', 'last', '--input', 'call.json')).toMatchObject({ code: 0 });
    expect(await readdir(project.folder)).toContain('right.txt');
    expect(await readdir(project.folder)).not.toContain('wrong.txt');
    expect(await given(project)).toMatchObject([
      { answer: { kind: 'approved', input: { command: 'touch right.txt' } }, where: 'command', by: expect.any(String) },
    ]);
    const { out } = await project.look('logs', 'last', '--jsonl');
    expect(out).toContain('The user changed this call before it was made');
  });

  it('may come on stdin', async () => {
    await using project = await asked();
    const piped = project.start(['approve', 'last', '--input', '-'], { input: '{"command":"touch right.txt"}' });
    expect(await piped.ended).toMatchObject({ code: 0 });
    expect(await readdir(project.folder)).toContain('right.txt');
  });

  it.each([
    ['is not there', undefined, 'There is no file'],
    ['is not JSON', '{ command: touch }', 'is not JSON'],
    ['is not an object', '"touch right.txt"', 'is not an object'],
    ['is not text', new Uint8Array([0x7b, 0xff]), 'cannot be read as text'],
    ['does not fit the tool', '{"comand":"touch right.txt"}', "do not fit the tool's schema"],
    ['has a mark where a secret was', '{"command":"echo [redacted:KEY]"}', '[redacted:'],
  ])('that %s approves nothing', async (_name, content, said) => {
    await using project = await asked();
    if (content !== undefined) await project.write('call.json', content);
    const { code, err } = await project.look('approve', 'last', '--input', 'call.json');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining(said) });
    expect(await given(project)).toEqual([]);
  });

  it('remembers nothing, and opens nothing that is denied', async () => {
    await using project = await asked();
    await project.write('call.json', '{ "command": "rm agents/helper.md" }');
    expect((await project.look('approve', 'last', '--input', 'call.json', '--remember')).code).toBe(2);
    const { code, err } = await project.look('approve', 'last', '--input', 'call.json');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringMatching(/shell "rm \*": deny \(agents\/\S+\.md\)/) });
    expect(await given(project)).toEqual([]);
    expect(await readdir(join(project.folder, 'agents'))).toEqual(['helper.md']);
  });
});
