/** `troupe send`: a person writes to a run that another process works on, that stands still, or that has ended. */
import { describe, expect, it } from 'vitest';
import { createTestProject, objectIn, serveHeld, type TestProject } from './support-project.ts';

const WORDS = 'Leave the tests alone';
const heardIn = (request: unknown): number => JSON.stringify(request).split(WORDS).length - 1;
const LIST = { calls: [{ name: 'list', input: { path: '.' } }] };

const gated = (project: TestProject) => serveHeld(project, LIST, { text: 'Done.' });

describe('what a person says to a run', () => {
  it('that another process works on is heard before its next turn, and shown wherever the run is', async () => {
    await using project = await createTestProject();
    const { server, asked, goOn } = await gated(project);
    const running = project.start(['run', 'helper', 'Go.']);
    await asked;
    const sent = await project.start(['send', 'last', '-'], { input: WORDS }).ended;
    expect(sent).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^told helper \(\w+\): it hears it before its next turn\n$/),
    });
    goOn();
    expect(await running.ended).toMatchObject({ code: 0, out: 'Done.\n' });
    expect(server.requests.map(({ body }) => heardIn(body))).toEqual([0, 1]);
    expect(JSON.stringify(server.requests[1]?.body)).toContain('MESSAGE FROM THE USER');
    expect((await project.look('show', 'last')).out).toMatch(
      new RegExp(`said meanwhile:\n.* → helper {2}“${WORDS}” {2}in turn 2 after `),
    );
    expect((await project.look('logs', 'last')).out).toMatch(new RegExp(`says to helper: ${WORDS}`));
    expect((await project.look('why', 'last')).out).toMatch(new RegExp(`says to helper: ${WORDS}`));
    expect((await project.look('export', 'last')).out).toMatch(new RegExp(`says to helper[\\s\\S]*${WORDS}`));
    const late = await project.look('send', 'last', 'Too late');
    expect(late).toMatchObject({ code: 2, err: expect.stringContaining('has ended (completed) and hears nothing any more') });
    expect(late.err).toContain('run --continue --session ses_');
  });

  it('and that came too late is named where the run ends, and wherever it is shown', async () => {
    await using project = await createTestProject();
    const { asked, goOn } = await gated(project);
    const running = project.start(['run', 'helper', 'Go.', '--max-turns', '1']);
    await asked;
    expect(await project.look('send', 'last', WORDS)).toMatchObject({ code: 0 });
    goOn();
    const told = `Your message came too late, helper ended without having read it: ${WORDS}`;
    expect(await running.ended).toMatchObject({ code: 1, err: expect.stringContaining(`\nunread  ${told}\n`) });
    expect((await project.look('show', 'last')).out).toContain(`\nunread  ${told}\n`);
    expect(objectIn((await project.look('show', 'last', '--json')).out)).toMatchObject({ unread: [told] });
  });

  it('is heard once after kill -9, although nobody worked on it when it was said', async () => {
    await using project = await createTestProject();
    const { asked } = await gated(project);
    const running = project.start(['run', 'helper', 'Go.']);
    await asked;
    expect(await project.look('send', 'last', WORDS)).toMatchObject({ code: 0 });
    running.kill('SIGKILL');
    await running.ended;
    const again = await project.look('send', 'last', 'And hurry', '--json');
    expect(objectIn(again.out)).toMatchObject({ state: 'interrupted', live: false });
    const server = await project.serve(LIST, { text: 'Done.' });
    expect(await project.look('resume', 'last')).toMatchObject({ code: 0 });
    const [first, second] = server.requests.map(({ body }) => JSON.stringify(body));
    // The request that was under way is put as it was.
    expect([heardIn(first), heardIn(second)]).toEqual([0, 1]);
    expect(second).toContain('And hurry');
  });

  it('that waits is kept, and the command says how it goes on', async () => {
    await using project = await createTestProject();
    await project.script({ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] }, { text: 'Done.' });
    expect(await project.look('run', 'helper', 'Go.')).toMatchObject({ code: 5 });
    const kept = await project.look('send', 'last', WORDS);
    expect(kept.out).toMatch(
      /^kept for helper \((\w+)\), which waits for an answer and hears it when it goes on: troupe answer \1 "…"\n$/,
    );
    expect((await project.look('ps')).out).toContain('helper');
    expect((await project.look('show', 'last')).out).toContain('unread for');
  });

  it.each([
    ['nothing', '   ', 'The message is empty'],
    ['more than a message may hold', 'x'.repeat(65 * 1024), 'limit messageBytes'],
  ])('is refused when it is %s', async (_what, text, why) => {
    await using project = await createTestProject();
    await project.script({ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] });
    await project.look('run', 'helper', 'Go.');
    expect(await project.look('send', 'last', text)).toMatchObject({ code: 2, err: expect.stringContaining(why) });
  });
});
