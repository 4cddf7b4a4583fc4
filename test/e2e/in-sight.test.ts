/** What is approved is in sight when it is approved, whatever became of the screen meanwhile. */
import { describe, expect, it } from 'vitest';
import { type AtKeyboard, sitDown } from '../support/terminal/at-keyboard.ts';
import { inChat } from './support-chat.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const WORKER = '---\nname: w\ntools: [shell]\npermissions: { shell: ask }\n---\nYou are w.\n';
const ASKS = { toolCalls: [{ name: 'shell', input: { command: 'rm -rf build' } }] };
const CLEAR = 'printf "\\033[H\\033[2J\\033[3J" >&2; fg\r';
const ASKED_FOR = /wants to use shell:\n {2}\| rm -rf build\n/;
const WITH_QUESTION = new RegExp(`${ASKED_FOR.source}[\\s\\S]*allow\\? yes, always, edit, no \\(or no and why\\):`);

/** Ctrl-Z, clear and back. */
async function clears(person: AtKeyboard): Promise<void> {
  person.type('\u001a');
  await person.sees('[stopped]');
  person.type(CLEAR);
  await expect.poll(() => person.screen()).not.toContain('[stopped]');
}

const seats: Readonly<Record<string, (project: TestProject) => Promise<AtKeyboard>>> = {
  run: async (project) => sitDown(project, ['run', 'w', 'Go.'], { shell: 'jobs' }),
  inbox: async (project) => {
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
    return sitDown(project, ['inbox'], { shell: 'jobs' });
  },
  chat: async (project) => {
    const person = await inChat(project, ['w'], { shell: 'jobs' });
    person.type('Go.\r');
    return person;
  },
};

describe.each(Object.keys(seats))('what %s asks for', (seat) => {
  it('is shown again after Ctrl-Z and clear, and after an answer that is none', async () => {
    await using project = await createTestProject('', WORKER);
    await project.script(ASKS, { text: 'Done.' });
    await using person = await (seats[seat]?.(project) ?? Promise.reject(new Error(seat)));
    await person.sees(WITH_QUESTION);
    await clears(person);
    await person.sees(WITH_QUESTION);
    person.type('yse\r');
    await person.sees(new RegExp(`none of the answers[\\s\\S]*${WITH_QUESTION.source}$`));
    person.type('no\r');
    await person.sees(/Done\.|ended completed/);
  });
});

it('leaves room for what is asked for above the tree of a large team', async () => {
  const names = Array.from({ length: 9 }, (_, index) => `helper-${index}`);
  await using project = await createTestProject('', `---\nname: lead\nagents: [w, ${names.join(', ')}]\n---\nYou are lead.\n`);
  await project.write('agents/w.md', WORKER);
  for (const name of names) await project.write(`agents/${name}.md`, `---\nname: ${name}\n---\nYou are ${name}.\n`);
  await project.serve(({ body, toolResults }) => {
    const [, who = ''] = /You are ([\w-]+)/.exec(JSON.stringify(body)) ?? [];
    if (who === 'lead' && toolResults === 0)
      return { calls: ['w', ...names].map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) };
    if (who === 'w' && toolResults === 0) return { calls: [{ name: 'shell', input: { command: 'rm -rf build' } }] };
    return who === 'w' || who === 'lead' ? { text: 'Done.' } : { fault: 'hang' };
  });
  const rows = 10;
  await using person = sitDown(project, ['run', 'lead', 'Go.'], { rows });
  await person.sees(/lead {2}running[\s\S]*more lines: troupe show \w+\n {2}allow\?/);
  expect(person.shown.lines().slice(-rows).join('\n')).toMatch(WITH_QUESTION);
});
