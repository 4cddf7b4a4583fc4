/** A conversation at a real pseudo-terminal: what is said, stopped, killed and taken up again is what the ledger has. */
import { readdir } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/models/script.ts';
import { programOf } from '../support/programs/programs.ts';
import { inChat, told } from './support-chat.ts';
import { agentWith, createTestProject, objectIn } from './support-project.ts';

const MCP_SERVER = await programOf(fileURLToPath(new URL('../support/mcp/server.ts', import.meta.url)));
const WORKER = agentWith('tools: [shell, write, ask]\npermissions: { shell: ask, write: allow }');
const call = (command: string): Reply => ({ calls: [{ name: 'shell', input: { command } }] });

describe('talking', () => {
  it('goes on from message to message, and ends with Ctrl-D', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const server = await project.serve(({ index }) => ({ text: `Answer **${index}**.` }));
    await using person = await inChat(project);
    await person.says('Alpha?', 'Answer 0.\n\n1 turn · ');
    await person.says('Beta?', 'Answer 1.\n\n1 turn · ');
    person.type('\u0004');
    expect(await person.ended).toBe(0);
    expect(person.screen()).toMatch(/to come back: troupe chat --session \w{6}$/);
    expect(person.shown.cursorIsShown()).toBe(true);
    for (const words of ['Alpha?', 'Answer **0**.', 'Beta?']) expect(told(server)).toContain(words);
    // It is a conversation like any other.
    expect((await project.look('run', '--continue', 'Gamma?')).code).toBe(0);
    for (const words of ['Alpha?', 'Beta?', 'Gamma?']) expect(told(server)).toContain(words);
  });

  it('is with the only agent, the one that was talked to last, or the one that is named', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    await project.write('agents/second.md', '---\nname: second\n---\nYou are the second.\n');
    const server = await project.serve({ text: 'Said.' });
    await using first = await inChat(project, ['second']);
    await first.says('Alpha?', 'Said.\n\n1 turn');
    expect(told(server)).toContain('You are the second.');
    first.type('/exit\r');
    expect(await first.ended).toBe(0);
    await using other = await inChat(project);
    expect(other.screen()).toContain('second listens');
    await other.says('/agent helpr', 'did you mean helper?');
    await other.says('/agent helper', 'the next messages go to helper');
    await other.says('Beta?', 'Said.\n\n1 turn');
    expect(told(server)).toContain('You help.');
    expect(told(server)).not.toContain('Alpha?');
  });

  it('needs a terminal, and says what does not', async () => {
    await using project = await createTestProject();
    const refused = await project.troupe('chat');
    expect(refused).toMatchObject({ code: 2, err: expect.stringContaining('troupe run --continue') });
    expect(await readdir(project.folder)).not.toContain('.troupe');
  });
});

describe('Ctrl-C', () => {
  it('stops the turn and not the chat, and what was said stays', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const replies: Reply[] = [{ fault: 'hang', after: 'Half of an ans' }, { text: 'Whole answer.' }];
    const server = await project.serve(...replies);
    await using person = await inChat(project);
    person.type('Alpha?\r');
    await person.sees('Half of an ans');
    person.type('\u0003');
    await person.isBack('cancelled');
    expect(person.screen()).toMatch(/stopping\n\nHalf of an ans\n/);
    await person.says('Beta?', 'Whole answer.\n\n1 turn');
    for (const words of ['Alpha?', 'Beta?']) expect(told(server)).toContain(words);
    const { out } = await project.look('ps', '--json');
    expect(JSON.parse(out)).toMatchObject([{ state: 'completed' }, { state: 'cancelled' }]);
  });

  it('at a question stops it too, and nothing is done', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(call('touch PWNED'), { text: 'Said.' });
    await using person = await inChat(project);
    person.type('Go.\r');
    await person.sees('allow? yes, always');
    person.type('\u0003');
    await person.isBack('cancelled');
    await person.says('Again.', 'Said.\n\n1 turn');
    expect(await readdir(project.folder)).not.toContain('PWNED');
  });

  it('at the first of several questions asks no other', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(
      { calls: ['touch one', 'touch two'].map((command) => ({ name: 'shell', input: { command } })) },
      { text: 'Said.' },
    );
    await using person = await inChat(project);
    person.type('Go.\r');
    await person.sees('allow? yes, always');
    person.type('\u0003');
    await person.isBack('cancelled');
    expect(person.screen()).not.toContain('| touch two');
    await person.says('Again.', 'Said.\n\n1 turn');
  });

  it('in another terminal, with troupe cancel: the question is taken back, and the line is there again', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(call('touch PWNED'), { text: 'Said.' });
    await using person = await inChat(project);
    person.type('Go.\r');
    await person.sees('allow? yes, always');
    expect(await project.look('cancel', 'last', '--reason', 'enough of it')).toMatchObject({ code: 0 });
    await person.isBack('cancelled');
    expect(person.screen()).toContain('no longer asked: The run was cancelled: enough of it');
    await person.says('Again.', 'Said.\n\n1 turn');
  });

  it('empties the line; with nothing on it, twice leaves', async () => {
    await using project = await createTestProject();
    await using person = await inChat(project);
    person.type('half a mess');
    await person.sees('› half a mess');
    person.type('\u0003');
    await person.isBack();
    person.type('\u0003');
    await person.sees('Ctrl-C once more, or Ctrl-D, leaves the chat');
    person.type('x');
    await person.sees(/› x$/);
    person.type('\u0003\u0003\u0003');
    expect(await person.ended).toBe(0);
  });
});

describe('coming back', () => {
  it('after kill -9 in a turn, an empty line goes on where it was cut off', async () => {
    await using project = await createTestProject('', WORKER);
    const replies: Reply[] = [
      { calls: [{ name: 'write', input: { path: 'once.txt', content: 'x' } }] },
      { fault: 'hang', after: 'Half' },
      { text: 'Whole answer.' },
    ];
    const server = await project.serve(...replies);
    await using person = await inChat(project);
    person.type('Alpha?\r');
    await person.sees('Half');
    person.kill('SIGKILL');
    await person.ended;
    await using again = await inChat(project, ['--continue']);
    expect(again.screen()).toContain('› Alpha?\n\nthis has no answer yet (interrupted): an empty line goes on with it');
    // Nothing else can be said before that, and what was typed is not lost.
    again.type('Beta?\r');
    await again.sees(/The message before has no answer yet \(interrupted\)[\s\S]*› Beta\?$/);
    again.type('\u0003\r');
    await again.isBack('Whole answer.\n\n2 turns · ');
    await again.says('Gamma?', 'Whole answer.\n\n1 turn');
    expect(server.requests).toHaveLength(4);
    expect(told(server)).toContain('Alpha?');
  });

  it('after SIGTERM in a turn: it is given back, and can be ended', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve({ fault: 'hang', after: 'Half' }, { text: 'Said.' });
    await using person = await inChat(project);
    person.type('Alpha?\r');
    await person.sees('Half');
    person.kill('SIGTERM');
    expect(await person.ended).toBe(130);
    const [, session = ''] = /chat --session (\w+)/.exec(person.screen()) ?? [];
    await using again = await inChat(project, ['--session', session]);
    await again.says('/stop', 'ended; the conversation goes on');
    await again.says('/stop', 'nothing is unfinished');
    await again.says('Beta?', 'Said.\n\n1 turn');
  });

  it('/resume lists what is unfinished elsewhere, and moves there', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(({ body }) =>
      JSON.stringify(body).includes('Elsewhere?') ? call('touch made.txt') : { text: 'Said here.' },
    );
    expect((await project.look('run', 'helper', 'Elsewhere?')).code).toBe(5);
    const run = String(objectIn((await project.look('show', 'last', '--json')).out)['run']);
    await using person = await inChat(project);
    await person.says('Here?', 'Said here.\n\n1 turn');
    await person.says('/resume', `${run.slice(-6)}  waiting  helper: Elsewhere?`);
    person.type(`/resume ${run.slice(-6)}\r`);
    await person.sees('allow? yes, always');
    expect(await readdir(project.folder)).not.toContain('made.txt');
  });
});

describe('standing still', () => {
  it('for a key that is refused: an empty line tries again once it is mended', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]\nmaxRetries: 0'));
    const body = JSON.stringify({ error: { message: 'no such key' } });
    const server = await project.serve({ fault: 'status', status: 401, body }, { text: 'Said.' });
    await using person = await inChat(project);
    await person.says('Alpha?', 'Enter goes on with it, /stop ends it, /model names another model for it');
    expect(person.screen()).toContain('parked');
    person.type('\r');
    await person.isBack('Said.\n\n1 turn');
    await person.says('Beta?', 'Said.\n\n1 turn');
    expect(server.requests).toHaveLength(3);
    expect(told(server)).toContain('Alpha?');
  });

  it('for what the model refused: /resume goes on with another one', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]\nmaxRetries: 0'));
    const body = JSON.stringify({ error: { message: 'not like this' } });
    const server = await project.serve({ fault: 'status', status: 400, body }, { text: 'Said.' });
    await using person = await inChat(project);
    await person.says('Alpha?', 'another model may do it: /model names one, then /resume goes on');
    await person.says('/model openai/other-model', 'the next messages go to');
    person.type('/resume\r');
    await person.isBack('Said.\n\n1 turn');
    expect(server.requests.map(({ model }) => model)).toEqual(['test-model', 'other-model']);
  });

  it('with Ctrl-Z in a turn: it comes back to it', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const release = Promise.withResolvers<void>();
    await project.serve(async () => {
      await release.promise;
      return { text: 'Said.' };
    });
    await using person = await inChat(project, [], { shell: 'jobs' });
    person.type('Alpha?\r');
    await person.sees('turn 1');
    person.type('\u001a');
    await person.sees('[stopped] $');
    expect(person.shown.cursorIsShown()).toBe(true);
    release.resolve();
    person.type('fg\r');
    await person.isBack('Said.\n\n1 turn');
    // The keyboard is ours again: what is typed is drawn once.
    person.type('xyz');
    await person.sees(/\n› xyz$/);
  });
});

describe('questions', () => {
  it('are not put with --yes', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(call('touch made.txt'), { text: 'Done.' });
    await using person = await inChat(project, ['--yes']);
    await person.says('Go.', 'Done.\n\n2 turns');
    expect(await readdir(project.folder)).toContain('made.txt');
  });

  it('are put as by run; what was typed before answers none of them and stands on the next line', async () => {
    await using project = await createTestProject('', WORKER);
    const typed = Promise.withResolvers<void>();
    const server = await project.serve(async ({ index }) => {
      await typed.promise;
      return index === 0 ? call('touch PWNED') : index === 1 ? call('touch made.txt') : { text: 'Done.' };
    });
    await using person = await inChat(project);
    person.type('Go.\r');
    await person.sees('turn 1');
    person.type('yes\ryes\ry');
    await person.sees(/› yesyesy$/);
    typed.resolve();
    await person.sees(/\| touch PWNED[\s\S]*allow\? yes, always, .*:$/);
    person.type('no\r');
    await person.sees(/\| touch made\.txt[\s\S]*allow\? yes, always, .*:$/);
    person.type('yes\r');
    await person.sees(/Done\.[\s\S]*3 turns · [\s\S]*› yesyesy$/);
    expect(server.requests).toHaveLength(3);
    const files = await readdir(project.folder);
    expect(files).toContain('made.txt');
    expect(files).not.toContain('PWNED');
  });

  it('that nobody answers wait: an empty line puts them again', async () => {
    await using project = await createTestProject('', WORKER);
    await project.serve(call('touch made.txt'), { text: 'Done.' });
    await using person = await inChat(project);
    person.type('Go.\r');
    await person.sees('allow? yes, always');
    person.type('\u0004');
    await person.isBack('it waits for you: Enter goes on with it, /stop ends it');
    expect(person.screen()).not.toContain('\n\n\n');
    person.type('\r');
    await person.sees(/it waits for you[\s\S]*allow\? yes, always/);
    person.type('yes\r');
    await person.isBack('Done.\n\n2 turns');
    expect(await readdir(project.folder)).toContain('made.txt');
  });
});

describe('two chats in one session', () => {
  it('take turns: who comes second is told, and hears what was said', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const release = Promise.withResolvers<void>();
    const server = await project.serve(async ({ index }) => {
      if (index === 1) await release.promise;
      return { text: `Answer ${index}.` };
    });
    await using first = await inChat(project);
    await first.says('Alpha?', 'Answer 0.\n\n1 turn');
    await using second = await inChat(project, ['--continue']);
    expect(second.screen()).toContain('› Alpha?\n\nAnswer 0.');
    first.type('Beta?\r');
    await first.sees(/› Beta\?[\s\S]*turn 1/);
    second.type('Gamma?\r');
    await second.sees(/Process \d+ on \S+ works in this conversation now[\s\S]*› Gamma\?$/);
    release.resolve();
    await first.isBack('Answer 1.\n\n1 turn');
    second.type('\r');
    await second.isBack('said elsewhere meanwhile, to helper: Beta?');
    await second.isBack('Answer 2.\n\n1 turn');
    expect(second.screen()).toMatch(/to helper: Beta\?\n\nAnswer 1\.\n[\s\S]*Answer 2\./);
    for (const words of ['Alpha?', 'Beta?', 'Gamma?']) expect(told(server)).toContain(words);
    await first.says('Delta?', 'said elsewhere meanwhile, to helper: Gamma?');
    await first.isBack('Answer 3.\n\n1 turn');
    expect(first.screen()).toMatch(/to helper: Gamma\?\n\nAnswer 2\.\n[\s\S]*Answer 3\./);
    expect(told(server)).toContain('Gamma?');
  });

  it('one that comes while the other is at work is told so, also by an empty line, and shown the answer', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const release = Promise.withResolvers<void>();
    await project.serve(async ({ index }) => {
      if (index === 0) await release.promise;
      return { text: `Answer ${index}.` };
    });
    await using first = await inChat(project);
    first.type('Alpha?\r');
    await first.sees(/› Alpha\?[\s\S]*turn 1/);
    await using second = await inChat(project, ['--continue']);
    expect(second.screen()).toMatch(/works in this conversation now; what it\s+says is shown when you speak/);
    second.type('\r');
    await second.sees(/error: Process \d+ on \S+ works in this conversation now\n[\s\S]*›$/);
    release.resolve();
    await first.isBack('Answer 0.\n\n1 turn');
    second.type('Beta?\r');
    await second.isBack('Answer 1.\n\n1 turn');
    expect(second.screen()).toMatch(/gone on with elsewhere meanwhile\n\nAnswer 0\.\n[\s\S]*Answer 1\./);
    expect(first.screen()).not.toContain('gone on with elsewhere');
  });

  it('that speak at the same moment: who was slower is told by whom, and keeps the line', async () => {
    // The second has looked, and found nobody at work; it is held up until the first has begun.
    const held = 'touch waiting; until [ -e go ]; do sleep 0.02; done; exec "$0" "$1"';
    const mcp = JSON.stringify({ test: { command: 'sh', args: ['-c', held, process.execPath, MCP_SERVER] } });
    await using project = await createTestProject(`mcp: ${mcp}\n`, agentWith('tools: [ask]'));
    await project.write('agents/slow.md', '---\nname: slow\ntools: ["mcp:test"]\n---\nYou are slow.\n');
    const release = Promise.withResolvers<void>();
    await project.serve(async ({ index }) => {
      if (index === 1) await release.promise;
      return { text: `Answer ${index}.` };
    });
    await using first = await inChat(project, ['helper']);
    await first.says('Alpha?', 'Answer 0.\n\n1 turn');
    await using second = await inChat(project, ['slow', '--continue']);
    second.type('Gamma?\r');
    await expect.poll(() => readdir(project.folder)).toContain('waiting');
    first.type('Beta?\r');
    await first.sees(/› Beta\?[\s\S]*turn 1/);
    await project.write('go', '');
    await second.sees(/Process \d+ on \S+ works in this conversation now[\s\S]*› Gamma\?$/);
    expect(second.screen()).not.toContain('cancel');
    release.resolve();
    await first.isBack('Answer 1.\n\n1 turn');
    second.type('\r');
    await second.isBack('Answer 2.\n\n1 turn');
    expect(second.screen()).toMatch(/to helper: Beta\?\n\nAnswer 1\.\n[\s\S]*Answer 2\./);
  });
});
