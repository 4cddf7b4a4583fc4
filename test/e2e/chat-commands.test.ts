/** What begins with a stroke in a chat: said to the chat, done to the conversation in the ledger. */
import { describe, expect, it } from 'vitest';
import type { Reply } from '../support/models/script.ts';
import { inChat, told } from './support-chat.ts';
import { agentWith, createTestProject } from './support-project.ts';

const writes = (path: string): Reply => ({ calls: [{ name: 'write', input: { path, content: 'x' } }] });

describe('/undo', () => {
  it('leaves the last exchange out for good, and names the files that stay changed', async () => {
    await using project = await createTestProject('permissions: { write: allow }', agentWith('tools: [write]'));
    const server = await project.serve(
      { text: 'Said first.' },
      writes('changed.txt'),
      { text: 'Said second.' },
      { text: 'Said third.' },
    );
    await using person = await inChat(project);
    await person.says('/undo', 'nothing was said yet');
    await person.says('Alpha?', 'Said first.\n\n1 turn');
    await person.says('Beta?', 'Said second.\n\n2 turns');
    await person.says('/undo', 'left out: Beta?\nit changed files, which stay as they are now:\n  changed.txt');
    // What was left out is not the last answer any more.
    await person.says('/why', 'because');
    expect(person.screen().split('/why').at(-1)).toContain('Said first.');
    expect(person.screen().split('/why').at(-1)).not.toContain('Said second.');
    person.kill('SIGKILL');
    await person.ended;
    expect((await project.look('run', '--continue', 'Gamma?')).code).toBe(0);
    expect(['Alpha?', 'Beta?', 'Gamma?'].filter((words) => told(server).includes(words))).toEqual(['Alpha?', 'Gamma?']);
  });
});

describe('/compact', () => {
  it('begins the next message condensed', async () => {
    await using project = await createTestProject('permissions: { write: allow }', agentWith('tools: [write]'));
    const server = await project.serve(writes('a.txt'), { text: 'Said.' });
    await using person = await inChat(project);
    await person.says('/compact', 'there is nothing to condense yet');
    await person.says('Alpha?', 'Said.\n\n2 turns');
    await person.says('/compact', 'the next message begins with what was said before condensed');
    await person.says('Beta?', 'Said.\n\n1 turn');
    expect(told(server)).toContain('condensed to save room');
    expect(told(server)).toContain('Said.');
    expect(told(server)).not.toContain('tool_calls');
  });
});

describe('/model and /agent', () => {
  it('hold for the next messages, and a model also for whoever comes back', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    const server = await project.serve({ text: 'Said.' });
    await using person = await inChat(project);
    await person.says('/model', 'openai/test-model, named by TROUPE_MODEL');
    await person.says('/model nobody/knows-this', 'error');
    await person.says('Alpha?', 'Said.\n\n1 turn');
    expect(server.requests.at(-1)?.model).toBe('test-model');
    await person.says('/model openai/other-model', 'the next messages go to openai/other-model');
    await person.says('Beta?', 'Said.\n\n1 turn');
    expect(server.requests.at(-1)?.model).toBe('other-model');
    person.type('/exit\r');
    expect(await person.ended).toBe(0);
    await using again = await inChat(project, ['--continue']);
    await again.says('/model', 'openai/other-model, chosen with /model');
    await again.says('/agent', 'helper answers; there are: helper');
    await again.says('Gamma?', 'Said.\n\n1 turn');
    expect(server.requests.at(-1)?.model).toBe('other-model');
  });

  it('whoever lives elsewhere has models of its own', async () => {
    await using project = await createTestProject('', agentWith('tools: [ask]'));
    await project.write('agents/far.md', '---\na2a: http://127.0.0.1:1/card\n---\n');
    await using person = await inChat(project, ['helper']);
    await person.says('/agent far', 'the next messages go to far');
    await person.says('/model', 'far lives elsewhere and has models of its own');
  });
});

describe('looking', () => {
  it('/cost and /why print what the commands do; /help lists all; what is none is none', async () => {
    const settings = 'prices: { openai/test-model: { input: 1000, output: 1000 } }';
    await using project = await createTestProject(settings, agentWith('tools: [ask]'));
    const server = await project.serve({ text: 'Said.', usage: { input: 1000, output: 100 } });
    await using person = await inChat(project, ['--budget-usd', '10']);
    await person.says('/cost', 'nothing was said yet');
    await person.says('Alpha?', 'Said.\n\n1 turn · ');
    expect(person.screen()).toMatch(/· \$1\.10 · chat \$1\.10 of \$10\.00\n/);
    await person.says('/cost', 'total');
    expect(person.screen()).toContain((await project.look('cost', 'last')).out.split('\n')[1]?.trimEnd());
    await person.says('/why', 'because');
    await person.says('Beta?', 'chat $2.20 of $10.00');
    person.type('/cost\r');
    await person.sees(/total +2 +2\.0k +200 +0 +\$2\.20\n\n›$/);
    await person.says('/help', '/compact');
    await person.says('/modle', 'There is no command /modle\n  fix: did you mean /model?');
    await person.says('/etc/hosts is what?', 'Said.\n\n1 turn');
    expect(told(server)).toContain('/etc/hosts is what?');
    await person.says(' /help me', 'Said.\n\n1 turn');
    expect(told(server)).toContain(' /help me');
  });

  it('a budget holds for the whole conversation, also for whoever comes back', async () => {
    const settings = 'prices: { openai/test-model: { input: 1000, output: 1000 } }';
    await using project = await createTestProject(settings, agentWith('tools: [ask]\nmaxOutputTokens: 100'));
    const server = await project.serve({ text: 'Said.', usage: { input: 9_000, output: 1_000 } });
    await using person = await inChat(project, ['--budget-usd', '5']);
    await person.says('Alpha?', 'chat $10.00 of $5.00');
    person.type('/exit\r');
    await person.ended;
    await using again = await inChat(project, ['--continue', '--budget-usd', '5']);
    again.type('Beta?\r');
    await again.sees(/The budget of this chat, \$5\.00, is used up[\s\S]*› Beta\?$/);
    expect(server.requests).toHaveLength(1);
  });
});
