/** Models without a key, through the real command line: a warning of `check`, a refusal of `run`, or the failure of one child. */
import { describe, expect, it } from 'vitest';
import { createTestProject, expectKept, type TestProject } from './support-project.ts';

const POOR = '---\nname: poor\ndescription: Has no key.\nmodel: google/gemini-2.5-pro\n---\nYou help.\n';
const lead = (line: string): string => `---\nname: lead\n${line}\n---\nYou lead.\n`;

async function projectWith(line: string): Promise<TestProject> {
  const project = await createTestProject();
  await project.write('agents/poor.md', POOR);
  await project.write('agents/lead.md', lead(line));
  return project;
}

describe.concurrent('a child whose model has no key', () => {
  it('is a warning of check, with its place', async () => {
    await using project = await projectWith('advisors: [poor]');
    await project.serve({ text: 'Hello.' });
    const checked = await project.look('check');
    expect(checked.code).toBe(0);
    expect(`${checked.out}${checked.err}`).toMatch(
      /agents\/poor\.md:4:\d+: warning: no model of poor can be asked from this shell: .*GOOGLE_GENERATIVE_AI_API_KEY/,
    );
    project.env['GEMINI_API_KEY'] = 'a-key-for-a-test';
    const again = await project.look('check');
    expect(`${again.out}${again.err}`).not.toContain('can be asked');
  });

  it('is found before the first call when it is sure to be asked', async () => {
    await using project = await projectWith('advisors: [poor]');
    const server = await project.serve({ text: 'Hello.' });
    const refused = await project.troupe('run', 'lead', 'hi');
    expect(refused).toMatchObject({
      code: 2,
      out: '',
      err: expect.stringMatching(/poor, which lead needs: .*no key for google/),
    });
    expect(server.requests).toEqual([]);
    expect((await project.look('ps', '--json')).out.trim()).toBe('[]');
  });

  it('fails alone when it is only asked by choice', async () => {
    await using project = await projectWith('agents: [poor]');
    const server = await project.serve(
      { calls: [{ name: 'poor', input: { prompt: 'Help me.', reason: 'I am busy.' } }] },
      { text: 'I did without.' },
    );
    const ran = await project.troupe('run', 'lead', 'hi');
    expect(ran).toMatchObject({ code: 0, out: 'I did without.\n' });
    const named =
      'warning: no model of poor, which lead names as sub-agent, can be asked from this shell: There is no key for google';
    expect(ran.err.indexOf(named)).toBe(0);
    expect(JSON.stringify(server.requests[1]?.body)).toMatch(/no key for google/);
    await expectKept(project, 'completed');
  });
});
