/** What the recorded scenes do not show: that the same figures stand everywhere, and what must not touch a terminal. */
import { describe, expect, it } from 'vitest';
import { sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

async function teamOf(project: TestProject): Promise<void> {
  await project.write('agents/lead.md', '---\nname: lead\nagents: [ann, bob]\n---\nYou are lead.\n');
  for (const name of ['ann', 'bob']) await project.write(`agents/${name}.md`, `---\nname: ${name}\n---\nYou are ${name}.\n`);
  await project.serve(({ body, toolResults }) =>
    JSON.stringify(body).includes('You are lead') && toolResults === 0
      ? { calls: ['ann', 'bob'].map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) }
      : { text: 'Done.' },
  );
}

describe('figures', () => {
  it('a run has as many turns in the tree as in the summary, for people and for programs', async () => {
    await using project = await createTestProject();
    await teamOf(project);
    expect(await project.look('run', 'lead', 'Go.')).toMatchObject({ code: 0 });
    const { out } = await project.look('show', 'last');
    const counts = out.split('\n').flatMap((line) => (/(lead|^completed).* (\d+) turns/.exec(line) ?? []).slice(2));
    expect(counts).toEqual(['4', '4']);
    const shown = objectIn((await project.look('show', 'last', '--json')).out);
    expect(shown).toMatchObject({ turns: 4, tree: [{ turns: 4 }, { turns: 1 }, { turns: 1 }] });
  });
});

describe('a run in the background', () => {
  it('leaves the keys of the terminal alone, and is not stopped for them', async () => {
    await using project = await createTestProject();
    await project.script({ text: 'Done.' });
    await using person = sitDown(project, ['run', 'helper', 'Go.'], { shell: 'background' });
    expect(await person.ended).toBe(0);
    expect(person.screen()).toContain('completed, unchecked');
  });
});

describe('in a pipe', () => {
  const LEAD = '---\nname: lead\nagents: [helper]\n---\nYou are lead.\n';
  const CALLS = { toolCalls: [{ name: 'helper', input: { prompt: 'Go.', reason: 'need' } }] };
  const LISTS = { toolCalls: [{ name: 'list', input: {} }] };
  const times = (text: string, part: string): number => text.split(part).length - 1;

  it.each([
    ['a budget that is used up', [LISTS], ['helper', 'Go.', '--budget-calls', '1'], 'has 0 calls of 1 call left'],
    ['the same below', [CALLS], ['lead', 'Go.', '--budget-calls', '1'], 'has 0 calls of 1 call left'],
    ['turns that are used up', [LISTS], ['helper', 'Go.', '--max-turns', '1'], 'without giving an answer'],
    ['a key', [{ error: { kind: 'auth', message: 'the key was refused' } }], ['helper', 'Go.'], 'the key was refused'],
  ])('%s is told once, and not as the answer', async (_what, replies, args, told) => {
    await using project = await createTestProject();
    await project.write('agents/lead.md', LEAD);
    await project.script(...replies);
    const { out, err } = await project.look('run', ...args);
    expect([out, times(err, told)]).toEqual(['', 1]);
    expect(err).toMatch(new RegExp(`^why {5}.*${told}`, 'm'));
  });

  it('what went wrong below is told where it did, when the run goes on', async () => {
    await using project = await createTestProject();
    await project.write('agents/lead.md', LEAD);
    const refused = { error: { kind: 'bad_request', message: 'this was too much' } };
    await project.serve(({ body, toolResults }) => {
      if (!JSON.stringify(body).includes('You are lead')) return { fault: 'status', status: 400, body: JSON.stringify(refused) };
      return toolResults === 0 ? { calls: [{ name: 'helper', input: { prompt: 'Go.', reason: 'need' } }] } : { text: 'Done.' };
    });
    const { out, err } = await project.look('run', 'lead', 'Go.');
    const [meanwhile = ''] = err.split('\n\n');
    expect([out, times(meanwhile, 'this was too much')]).toEqual(['Done.\n', 1]);
  });
});
