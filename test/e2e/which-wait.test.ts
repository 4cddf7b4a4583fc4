/** Which of several open questions an answer is for: the run that is named first, then what is below it, and never a guess. */
import { access } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const WORKERS = ['w1', 'w2', 'w3'];
const BOSS = '---\nname: boss\nagents: [w1, w2, w3]\n---\nYou are boss.\n';

/** A boss whose three workers each ask for the shell, in the same turn of each. */
async function threeAsk(): Promise<TestProject> {
  const project = await createTestProject('', BOSS);
  for (const name of WORKERS)
    await project.write(
      `agents/${name}.md`,
      `---\nname: ${name}\ntools: [shell]\npermissions: { shell: ask }\n---\nYou are ${name}.\n`,
    );
  await project.serve(({ body, toolResults }) => {
    const [, who = ''] = /You are (\w+)/.exec(JSON.stringify(body)) ?? [];
    if (toolResults > 0) return { text: `${who} is done.` };
    if (who === 'boss') return { calls: WORKERS.map((name) => ({ name, input: { prompt: 'Go.', reason: 'need' } })) };
    return { calls: [{ name: 'shell', input: { command: `touch ${who}.txt` } }] };
  });
  return project;
}

const isThere = async (project: TestProject, name: string): Promise<boolean> =>
  access(join(project.folder, `${name}.txt`)).then(
    () => true,
    () => false,
  );
const there = async (project: TestProject): Promise<readonly string[]> => {
  const found: string[] = [];
  for (const name of WORKERS) if (await isThere(project, name)) found.push(name);
  return found;
};

/** The commands that are printed beside the question about this file. */
const printed = (text: string, name: string): readonly string[] =>
  new RegExp(`touch ${name}\\.txt\\n((?: {2}troupe .*\\n?)+)`).exec(text)?.[1]?.trim().split(/\n\s*/) ?? [];

describe('several runs of a tree ask at once', () => {
  it('each command that is printed answers the run that it names, and says who was first when it comes again', async () => {
    await using project = await threeAsk();
    const asked = await project.troupe('run', 'boss', 'Go.');
    expect(asked.code).toBe(5);
    const inbox = (await project.look('inbox')).out;
    for (const name of WORKERS) expect(printed(inbox, name)).toEqual(printed(asked.err, name));
    const [approve = ''] = printed(inbox, 'w2');
    const first = await project.typed(approve);
    expect(first).toMatchObject({ code: 5, err: expect.not.stringContaining('several') });
    expect(await there(project)).toEqual(['w2']);
    const again = await project.typed(approve);
    expect(again).toMatchObject({ code: 2, err: expect.stringMatching(/its last question was answered: approved by/) });
    const [, deny = ''] = printed(inbox, 'w3');
    expect(await project.typed(deny)).toMatchObject({ code: 5 });
    const [last = ''] = printed(inbox, 'w1');
    expect(await project.typed(last)).toMatchObject({ code: 0, out: 'boss is done.\n' });
    expect(await there(project)).toEqual(['w1', 'w2']);
  });

  it('show says in the tree what the summary says of a run that nobody drives', async () => {
    await using project = await threeAsk();
    expect((await project.look('run', 'boss', 'Go.')).code).toBe(5);
    // Whoever has its answer and nobody who drives it stands still for that reason, and its boss for the sake of the others.
    for (const [name, word] of [
      ['w1', 'waiting'],
      ['w2', 'waiting'],
      ['w3', 'interrupted'],
    ] as const) {
      const [approve = ''] = printed((await project.look('inbox')).out, name);
      await project.look(...approve.split(' ').slice(1), '--no-resume');
      const { out } = await project.look('show', 'last');
      expect(out).toMatch(new RegExp(`^. boss +${word} ·`));
      expect(out).toMatch(new RegExp(`─ . ${name} \\(sub-agent\\) +interrupted ·`));
      expect(out).not.toMatch(/working|running/);
      const { status, tree } = objectIn((await project.look('show', 'last', '--json')).out);
      expect([status, (tree as { status: string }[])[0]?.status]).toEqual([word, word]);
    }
  });

  it('a name that several of them have is refused, and each choice that is listed is a command that works', async () => {
    await using project = await threeAsk();
    expect((await project.look('run', 'boss', 'Go.')).code).toBe(5);
    const [open] = JSON.parse((await project.look('inbox', '--json')).out) as { wait: string; root: string; shown: string }[];
    const vague = await project.look('approve', 'last', '--wait', String(open?.wait));
    expect(vague).toMatchObject({ code: 2, err: expect.stringContaining(`several below it that wait for "${open?.wait}"`) });
    expect(await there(project)).toEqual([]);
    for (const name of WORKERS) {
      const [choice = ''] = printed(vague.err, name);
      expect((await project.lookTyped(choice)).err).not.toContain('several');
      expect(await isThere(project, name)).toBe(true);
    }
  });

  it('what was seen tells them apart', async () => {
    await using project = await threeAsk();
    const asked = await project.look('run', 'boss', 'Go.');
    const [, shown = ''] = /--shown (\w+)/.exec(printed(asked.err, 'w3')[0] ?? '') ?? [];
    expect(await project.look('approve', 'last', '--shown', shown)).toMatchObject({ code: 5 });
    expect(await there(project)).toEqual(['w3']);
    // The others are still open: whoever means the same once more is told who was first, and not of those.
    const again = await project.look('approve', 'last', '--shown', shown);
    expect(again).toMatchObject({ code: 2, err: expect.stringMatching(/answered .* already; .*: approved by /) });
  });
});

describe('several agents of one dispatch ask at once', () => {
  it('each command that is printed names the question that it answers, wherever it is printed', async () => {
    await using project = await createTestProject('', '---\nname: desk\ndispatch: { agents: [w1, w2] }\n---\nYou are desk.\n');
    for (const name of ['w1', 'w2'])
      await project.write(`agents/${name}.md`, `---\nname: ${name}\ndescription: Does ${name}\n---\nYou are ${name}.\n`);
    await project.serve(({ body }) => {
      const said = JSON.stringify(body);
      const [, who = ''] = /You are (w\d)/.exec(said) ?? [];
      const chosen = { agentId: 'w1', confidence: 0.9, reasoning: 'Both.', additionalAgents: ['w2'], agentInstructions: [] };
      if (who === '') return { text: JSON.stringify(chosen) };
      return { text: said.includes('Green.') ? `${who} is done.` : `What for ${who}?` };
    });
    const asked = await project.troupe('run', 'desk', 'Go.');
    expect(asked.code).toBe(5);
    const answers = (text: string) => text.match(/troupe answer .*/g)?.toSorted();
    const inbox = (await project.look('inbox', '--list')).out;
    expect(answers(inbox)).toHaveLength(2);
    for (const text of [asked.err, (await project.look('show', 'last')).out]) expect(answers(text)).toEqual(answers(inbox));
    // One command could answer it only with the name: the list of runs leads to where that stands.
    expect((await project.look('ps')).out).toMatch(/troupe show \w{6}/);
    const [first = '', second = ''] = (answers(inbox) ?? []).map((line) => line.replace('your answer', 'Green.'));
    expect(await project.typed(first)).toMatchObject({ code: 5, err: expect.not.stringContaining('several') });
    const [left = ''] = answers((await project.look('inbox', '--list')).out) ?? [];
    // Of one alone no name is needed, and the one that was printed before is as good.
    expect(left).not.toContain('--wait');
    expect(await project.typed(second)).toMatchObject({ code: 0 });
  });
});
