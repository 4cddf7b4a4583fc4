/** Leaving the inbox while something that was allowed there is under way, at a real pseudo-terminal. */
import { access, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { eventually } from '../support/a2a/peer.ts';
import { type AtKeyboard, sitDown } from '../support/terminal/at-keyboard.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const WORKER = '---\nname: w\ntools: [shell]\npermissions: { shell: ask }\n---\nYou work.\n';
/** Under way until the test has it end. */
const SLOW = 'echo begun >> effects; until [ -e end ]; do sleep 0.1; done; echo ended >> effects';

const effects = (project: TestProject): Promise<string> => readFile(join(project.folder, 'effects'), 'utf8');

const states = async (project: TestProject): Promise<readonly unknown[]> =>
  (JSON.parse((await project.look('ps', '--json')).out) as { readonly state: unknown }[]).map(({ state }) => state);

/** Two runs wait; the first is allowed and under way, and the second is asked about. */
async function underWay(project: TestProject): Promise<AtKeyboard> {
  for (const command of [SLOW, 'touch two']) {
    await project.script({ toolCalls: [{ name: 'shell', input: { command } }] }, { text: 'Done.' });
    expect(await project.look('run', 'w', 'Go.')).toMatchObject({ code: 5 });
  }
  const person = sitDown(project, ['inbox'], { rows: 50 });
  await person.sees('which first?');
  person.type('\r');
  await person.sees(/\| echo begun[\s\S]*allow\? yes, always/);
  person.type('yes\r');
  await person.sees(/\| touch two[\s\S]*allow\? yes, always/);
  await eventually(() =>
    access(join(project.folder, 'effects')).then(
      () => true,
      () => undefined,
    ),
  );
  return person;
}

describe('leaving the inbox while what was allowed is under way', () => {
  it('Ctrl-C asks nothing more and has it come to its end', async () => {
    await using project = await createTestProject('', WORKER);
    await using person = await underWay(project);
    person.type('\u0003');
    await person.sees(
      /leaving; what you have answered goes on here until it rests: w \(\w{6}\)\. Once more to leave at\s+once\./,
    );
    await writeFile(join(project.folder, 'end'), '');
    expect(await person.ended).toBe(130);
    expect(person.screen()).toMatch(/\w{6}: ended completed\n1 question left open; back with: troupe inbox/);
    expect(await effects(project)).toBe('begun\nended\n');
    expect((await states(project)).toSorted()).toEqual(['completed', 'waiting']);
  });

  it('a second Ctrl-C leaves at once and names what it has stopped', async () => {
    await using project = await createTestProject('', WORKER);
    await using person = await underWay(project);
    person.type('\u0003');
    await person.sees('Once more to leave at once.');
    person.type('\u0003');
    expect(await person.ended).toBe(130);
    const [, short = ''] = /w was stopped; go on with: troupe resume (\w{6})/.exec(person.screen()) ?? [];
    expect(await effects(project)).toBe('begun\n');
    expect((await states(project)).toSorted()).toEqual(['interrupted', 'waiting']);
    expect(await project.look('show', short)).toMatchObject({ code: 0, out: expect.stringContaining('interrupted') });
  });

  it('SIGTERM gives it back and says how it goes on', async () => {
    await using project = await createTestProject('', WORKER);
    await using person = await underWay(project);
    person.kill('SIGTERM');
    expect(await person.ended).toBe(130);
    expect(person.screen()).toMatch(/stopping; what is done is kept[\s\S]*w was stopped; go on with: troupe resume \w{6}/);
    expect((await states(project)).toSorted()).toEqual(['interrupted', 'waiting']);
  });
});

it('what is asked below a run that is parked is in the inbox, too', async () => {
  await using project = await createTestProject('', '---\nname: helper\ntools: [assistants]\nmaxRetries: 0\n---\nYou help.\n');
  await project.write('agents/w.md', WORKER);
  const asked = Promise.withResolvers<void>();
  const done = Promise.withResolvers<void>();
  let isBack = false;
  await project.serve(async ({ body, toolResults }) => {
    if (JSON.stringify(body).includes('You work.')) {
      setImmediate(toolResults > 0 ? done.resolve : asked.resolve);
      return toolResults > 0 ? { text: 'Done.' } : { calls: [{ name: 'shell', input: { command: 'touch below' } }] };
    }
    if (toolResults === 0)
      return { calls: [{ name: 'spawn_assistant', input: { assistant_id: 'w', query: 'Go.', run_mode: 'async' } }] };
    await (isBack ? done : asked).promise;
    return isBack ? { text: 'All done.' } : { fault: 'status', status: 503 };
  });
  expect(await project.troupe('run', 'helper', 'Go.')).toMatchObject({
    code: 5,
    err: expect.stringContaining('w: asks to use shell'),
  });
  const listed = JSON.parse((await project.look('ps', '--all', '--json')).out) as { state: string; status: string }[];
  expect(listed.map(({ state }) => state)).toContain('parked');
  expect(listed.map(({ status }) => status)).toEqual(listed.map(({ state }) => state));
  const inbox = await project.look('inbox');
  expect(inbox.out).toMatch(/helper › w[\s\S]*touch below/);
  expect((await project.look('inbox', '--json')).out).toContain('touch below');
  // Whoever answers below has what stands still above go on, too.
  isBack = true;
  const [below] = JSON.parse((await project.look('inbox', '--json')).out) as { readonly run: string; readonly shown: string }[];
  const said = ['approve', below?.run ?? '', '--shown', below?.shown ?? ''];
  expect(await project.look(...said)).toMatchObject({ code: 0, out: 'All done.\n' });
  await access(join(project.folder, 'below'));
});
