/** The line of a chat, key by key at a real pseudo-terminal, and the files that a message names. */
import { symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type InChat, inChat, told } from './support-chat.ts';
import { agentWith, createTestProject, type TestProject } from './support-project.ts';

const LEFT = '\u001b[D';
const UP = '\u001b[A';
const DOWN = '\u001b[B';
const pasted = (text: string): string => `\u001b[200~${text.replaceAll('\n', '\r')}\u001b[201~`;

async function talks(
  settings = '',
): Promise<{ readonly project: TestProject; readonly person: InChat; readonly last: () => string }> {
  const project = await createTestProject(settings, agentWith('tools: [ask]'));
  const server = await project.serve({ text: 'Said.' });
  const person = await inChat(project);
  const last = (): string => {
    const messages = (server.requests.at(-1)?.body['messages'] ?? []) as readonly { readonly content: unknown }[];
    const content = messages.at(-1)?.content;
    return typeof content === 'string' ? content : JSON.stringify(content);
  };
  return { project, person, last };
}

describe('keys', () => {
  it('edit the line where the cursor stands', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    person.type('wrld\u0001hello \u001b[C\u0006\bo\u0005!');
    person.type(`${LEFT}${LEFT}\u0004\u001b[3~\u001b[F now`);
    await person.sees('› hello wol now');
    person.type('\u0017then\u0001\u000bnew text\u0015fresh one\u001bb\u000b');
    await person.sees(/› fresh$/);
    person.type('start\r');
    await person.isBack('Said.\n\n1 turn');
    expect(last()).toBe('fresh start');
  });

  it('make lines: Alt-Enter, Ctrl-J, and a stroke at the end', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    person.type('one\u001b\rtwo\nthree\\\rfour');
    await person.sees('› one\n  two\n  three\n  four');
    person.type(`${UP}${UP}s\r`);
    await person.isBack('› one\n  twos\n  three\n  four\n\nSaid.');
    expect(last()).toBe('one\ntwos\nthree\nfour');
  });

  it('recall what was said in the project, as the ledger keeps it, and come back to what was being typed', async () => {
    const { project, person } = await talks();
    await using _project = project;
    await using _person = person;
    await person.says('Alpha sk-proj-abcdefghijklmnopqrstuvwxyz', 'Said.\n\n1 turn');
    await person.says('Beta', 'Said.\n\n1 turn');
    person.type('/exit\r');
    await person.ended;
    await using again = await inChat(project);
    again.type(`half${UP}`);
    await again.sees(/› Beta$/);
    again.type(UP);
    await again.sees(/› Alpha \[redacted:api-key\]$/);
    again.type(`${UP}${DOWN}${DOWN}`);
    await again.sees(/› half$/);
  });

  it('recall what was pasted or said by a script as that: it names no file, and what was sent along is again', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    await project.write('secret.txt', 'the secret');
    await project.write('plan.txt', 'the plan');
    const heard = async (at: InChat, typed: string): Promise<string> => {
      at.type('\u000c');
      await at.sees(/^\s*›$/);
      at.type(`${typed}\r`);
      await at.isBack('Said.\n\n1 turn');
      return last();
    };
    const first = await heard(person, `@plan.txt and ${pasted('@secret.txt')}`);
    await heard(person, pasted('/undo'));
    expect(await heard(person, UP)).toBe('/undo');
    const again = await heard(person, UP.repeat(3));
    person.type('/exit\r');
    await person.ended;
    await project.troupe('run', 'helper', 'from a script: @secret.txt');
    await using back = await inChat(project);
    expect(await heard(back, UP)).toBe('from a script: @secret.txt');
    for (const sent of [first, again, await heard(back, UP.repeat(3)), await heard(back, UP)])
      expect([sent.includes('the plan'), sent.includes('the secret')]).toEqual([true, false]);
  });

  it('of wide signs and emoji move by what one sees', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    person.type(`日本語👨‍👩‍👧e\u0301!${LEFT}${LEFT}\u007f${LEFT}x`);
    await person.sees('› 日本x語e\u0301!');
    person.type('\r');
    await person.isBack('Said.\n\n1 turn');
    expect(last()).toBe('日本x語e\u0301!');
  });

  it('a long line is wrapped, and drawn anew when the screen gets narrower or wider', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    const words = Array.from({ length: 40 }, (_none, index) => `word${index}`).join(' ');
    person.type(words);
    await person.sees('word39');
    person.resize(60, 30);
    await person.sees(/› word0 .{40,57}\n {2}.{50,58}\n[\s\S]*word39$/);
    person.resize(120, 30);
    await person.sees(/› word0 .{100,117}\n {2}.{100,118}\n[\s\S]*word39$/);
    person.type('\r');
    await person.isBack('Said.\n\n1 turn');
    expect(person.screen().match(/word0/g)).toHaveLength(1);
    expect(last()).toBe(words);
  });

  it.each([
    ['line', 'half', 100],
    ['rows', `${'a long one '.repeat(20)}\n\nhalf`, 100],
    ['rows, narrower by then', `${'a long one '.repeat(20)}\n\nhalf`, 60],
  ])('Ctrl-Z leaves to the shell, and comes back to the same %s', async (_what, draft, columns) => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const server = await project.serve({ text: 'Said.' });
    await using person = await inChat(project, [], { shell: 'jobs' });
    person.type(draft);
    await person.sees(/half$/);
    person.type('\u001a');
    await person.sees('[stopped] $');
    expect(person.screen()).not.toContain('half');
    if (columns !== 100) person.resize(columns, 30);
    person.type('fg\r');
    await person.sees(/\[stopped\] \$ fg[\s\S]*half$/);
    for (const once of ['›', 'half']) expect(person.screen().split(once), once).toHaveLength(2);
    expect(person.screen().replace(/\s/g, '').split('longone')).toHaveLength(draft.split('long one').length);
    person.type(' of it\r');
    await person.isBack('Said.\n\n1 turn');
    expect(told(server)).toContain('half of it');
  });
});

describe('a paste', () => {
  it('of 5,000 lines is one message, and nothing in it is a command, a file or an Enter', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    const lines = Array.from({ length: 5_000 }, (_none, index) => `@missing/file.ts line ${index}`).join('\n');
    person.type(pasted(`/exit\n${lines}\n`));
    await person.sees(/› \[pasted: 5002 lines, \d+ characters\]$/);
    person.type(' is what?\r');
    await person.isBack('Said.\n\n1 turn');
    expect(last()).toBe(`/exit\n${lines}\n is what?`);
  });

  it('of a few lines can be edited, and is no command either', async () => {
    const { project, person, last } = await talks();
    await using _project = project;
    await using _person = person;
    person.type(pasted('/exit'));
    await person.sees(/› \/exit$/);
    person.type(`${pasted('\n@app.route("/")\n\u001b]0;title\u0007')}end\r`);
    await person.isBack('Said.\n\n1 turn');
    expect(last()).toBe('/exit\n@app.route("/")\n]0;titleend');
  });

  it('of more than a message holds is refused with the limit', async () => {
    const { project, person } = await talks();
    await using _project = project;
    await using _person = person;
    person.type(pasted('x'.repeat(limits.promptBytes + 1)));
    await person.sees('that is more than one message can hold (limit promptBytes)');
  });
});

describe('@file', () => {
  const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg==';

  it('sends text between fences and a picture as a picture; Tab completes the path', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    await project.write('src/notes.txt', 'The word is swordfish.\n');
    await project.write('src/other.txt', 'Nothing.\n');
    await project.write('src/a pixel.png', Buffer.from(PIXEL, 'base64'));
    const server = await project.serve({ text: 'Said.' });
    await using person = await inChat(project);
    person.type('Read @src/n\t');
    await person.sees('› Read @src/notes.txt');
    person.type('and @src/\t');
    await person.sees('src/a pixel.png\nsrc/notes.txt\nsrc/other.txt');
    person.type('a\t');
    await person.sees('› Read @src/notes.txt and @"src/a pixel.png"');
    person.type('of bob@example.com, @alice.\r');
    await person.sees('@alice. is no file; it is sent as it is');
    await person.isBack('Said.\n\n1 turn');
    const [, message] = (server.requests[0]?.body['messages'] ?? []) as readonly { readonly content: readonly unknown[] }[];
    expect(message?.content).toMatchObject([
      { type: 'text', text: 'Read @src/notes.txt and @"src/a pixel.png" of bob@example.com, @alice.' },
      {
        type: 'text',
        text: expect.stringMatching(/The file src\/notes\.txt, sent along:\n<file-\w+>\nThe word is swordfish\.\n\n<\/file-/),
      },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${PIXEL}` } },
      { type: 'text', text: expect.stringContaining('written by others') },
    ]);
  });

  it('that is not there, outside, too large or no text is said before anything is sent', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const server = await project.serve({ text: 'Said.' });
    await symlink('/etc/hostname', join(project.folder, 'link.txt'));
    await project.write('large.txt', 'x'.repeat(limits.attachedFileBytes + 1));
    await project.write('data.bin', Buffer.from([1, 0, 2]));
    await project.write('no.png', 'not a picture');
    await project.write('.env', 'KEY=1');
    await using person = await inChat(project);
    const refused: readonly (readonly [word: string, why: string])[] = [
      ['src/missing.ts', 'there is no such file in the workspace; nothing was sent'],
      ['../../../../../../etc/passwd', 'is outside the project folder; nothing was sent'],
      ['/etc/passwd', 'is outside the project folder; nothing was sent'],
      ['link.txt', 'is outside the project folder; nothing was sent'],
      ['large.txt', `is larger than ${limits.attachedFileBytes} bytes (limit attachedFileBytes); nothing was sent`],
      ['data.bin', 'is neither text nor a picture; nothing was sent'],
      ['no.png', 'is no picture that can be sent (png, jpg, gif, webp); nothing was sent'],
      ['.env', 'may hold secrets and is never read; nothing was sent'],
      ['agents', 'is a folder: name a file in it; nothing was sent'],
    ];
    for (const [word, why] of refused) {
      person.type(`See @${word}\r`);
      await person.sees(`@${word}: ${why}`);
      await person.sees(new RegExp(`› See @${word.replaceAll(/[./]/g, '\\$&')}$`));
      person.type('\u0003');
      await person.isBack();
    }
    expect(server.requests).toHaveLength(0);
  });

  it('a picture that the model does not take ends the turn with words that help', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    await project.write('pixel.png', Buffer.from(PIXEL, 'base64'));
    const body = JSON.stringify({ error: { message: 'this model takes no images' } });
    const server = await project.serve({ fault: 'status', status: 400, body }, { text: 'Said.' });
    await using person = await inChat(project);
    await person.says('See @pixel.png', 'a picture was sent along, which not every model takes: /undo leaves the message out');
    expect(person.screen()).toContain('this model takes no images');
    await person.says('/undo', 'left out: See @pixel.png');
    await person.says('Alpha?', 'Said.\n\n1 turn');
    expect(told(server)).not.toContain('image_url');
  });
});
