/** `troupe forget` and what holds it back: what goes, what stays elsewhere, what is said of it, and that no byte is left. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createTestProject, expectErrorObject, objectIn, type TestProject } from './support-project.ts';

const MARK = 'zebra-crossing';
const AGENT = '---\nname: helper\ntools: [read, write, shell, ask]\npermissions: { "*": allow }\n---\nYou help.\n';

async function played(): Promise<TestProject> {
  const project = await createTestProject('', AGENT);
  await project.script(
    { toolCalls: [{ name: 'shell', input: { command: `echo ${MARK}; seq 30000` } }] },
    { toolCalls: [{ name: 'write', input: { path: 'out.txt', content: `of ${MARK}\n` } }] },
    { text: `It is ${MARK}.` },
  );
  expect(await project.look('run', 'helper', `Look for ${MARK}.`, '--quiet')).toMatchObject({ code: 0 });
  return project;
}

/** Files below `.troupe` in which these bytes are. */
async function filesWith(project: TestProject, text: string): Promise<readonly string[]> {
  const entries = await readdir(join(project.folder, '.troupe'), { recursive: true, withFileTypes: true });
  const found: string[] = [];
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name);
    if ((await readFile(path)).includes(text)) found.push(path);
  }
  return found;
}

const sessionsOf = async (project: TestProject) =>
  JSON.parse((await project.look('sessions', '--json')).out) as readonly { session: string; forgotten: string | null }[];

describe('troupe forget', () => {
  it('shows first what would go, and destroys a session so that nothing of it is left', async () => {
    await using project = await played();
    expect((await filesWith(project, MARK)).length).toBeGreaterThan(0);
    const shown = await project.look('forget', 'last');
    expect(shown).toMatchObject({ code: 0, err: expect.stringMatching(/do it with --yes[\s\S]*/) });
    expect(shown.out).toMatch(/^to forget: \d+ events in 1 session, \d+ payloads/);
    expect(shown.err.replaceAll(/\s+/g, ' ')).toContain('not in reach: what was exported');
    expect((await filesWith(project, MARK)).length).toBeGreaterThan(0);
    const done = await project.look('forget', 'last', '--yes', '--json');
    expect(done).toMatchObject({ code: 0 });
    expect(objectIn(done.out)).toMatchObject({ dryRun: false, left: [], files: [], shared: [] });
    expect(await filesWith(project, MARK)).toEqual([]);
    const verified = await project.look('ledger', 'verify');
    expect(verified).toMatchObject({
      code: 0,
      out: expect.stringMatching(/^sound: \d+ events in 1 session, \d+ payloads forgotten/),
    });
    for (const command of ['show', 'logs', 'export', 'replay', 'fork', 'why'])
      expect((await project.look(command, 'last')).err.replaceAll(/\s+/g, ' '), command).toContain('was forgotten at');
    expect((await project.look('sessions')).out).toContain('(forgotten) ?');
    expect(await project.look('cost')).toMatchObject({
      code: 0,
      err: expect.stringContaining('1 session collected or forgotten'),
    });
    expect((await project.look('ps')).out).toContain('completed');
  });

  it('forgets every event with a text, and what is left of the run can be read', async () => {
    await using project = await played();
    await project.look('run', 'helper', 'Something else.', '--quiet');
    const done = objectIn((await project.look('forget', '--matching', MARK, '--yes', '--json')).out);
    expect(done).toMatchObject({ left: [], files: [] });
    expect(await filesWith(project, MARK)).toEqual([]);
    expect((await project.look('show', 'last')).code).toBe(0);
    const [, first] = await sessionsOf(project);
    const logs = await project.look('logs', first?.session ?? '', '--json');
    expect(logs).toMatchObject({ code: 0, out: expect.stringContaining('[forgotten]') });
    expect(logs.out).not.toContain(MARK);
    for (const command of ['show', 'logs', 'export', 'cost'])
      expect((await project.look(command, first?.session ?? '')).code, command).toBe(0);
    for (const command of ['replay', 'fork'])
      expect((await project.look(command, first?.session ?? '')).err.replaceAll(/\s+/g, ' '), command).toContain(
        'was forgotten at',
      );
    expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringContaining('forgotten') });
    expect(objectIn((await project.look('forget', '--matching', MARK, '--yes', '--json')).out)).toMatchObject({ events: 0 });
  });

  it('forgets one event', async () => {
    await using project = await played();
    const [row] = await sessionsOf(project);
    const events = JSON.parse((await project.look('logs', 'last', '--json')).out) as { event_id: string; event_type: string }[];
    const result = events.find(({ event_type }) => event_type === 'tool.result');
    expect(await project.look('forget', result?.event_id ?? '', '--yes')).toMatchObject({
      code: 0,
      out: expect.stringContaining('forgotten: 1 event'),
    });
    expect((await sessionsOf(project))[0]).toMatchObject({ session: row?.session, forgotten: 'part' });
    const after = await project.look('logs', 'last', '--json');
    expect(after.out).toContain('[forgotten]');
    expect(after.out).toContain(MARK);
    expectErrorObject(await project.look('forget', `${row?.session}.9999`, '--json'), 'unknown_event');
  });

  it('names forks, which keep what they have, and takes them along when it is told to', async () => {
    await using project = await played();
    const [source] = await sessionsOf(project);
    expect(await project.look('fork', 'last', '--at', 'turn 1', '--no-run', '--quiet')).toMatchObject({ code: 0 });
    expect(await project.look('resume', 'last', '--quiet')).toMatchObject({ code: 0 });
    const [fork] = await sessionsOf(project);
    const alone = await project.look('forget', source?.session ?? '');
    expect(alone.out).toContain(`a fork stays: ${fork?.session}`);
    expect(alone.out).toMatch(new RegExp(`stays there: \\d+ payloads? that ${fork?.session} has too`));
    const both = await project.look('forget', source?.session ?? '', '--with-forks', '--yes');
    expect(both).toMatchObject({ code: 0, out: expect.stringContaining('in 2 sessions') });
    expect(await filesWith(project, MARK)).toEqual([]);
    expect((await sessionsOf(project)).map(({ forgotten }) => forgotten)).toEqual(['whole', 'whole']);
  });

  it('is refused while a session is held or has an unfinished run', async () => {
    await using project = await played();
    const [row] = await sessionsOf(project);
    const hold = await project.look('sessions', 'hold', 'last', '--reason', 'case 12', '--json');
    expect(objectIn(hold.out)).toMatchObject({ session: row?.session, hold: { reason: 'case 12' } });
    expect((await project.look('sessions')).out).toContain('(held)');
    expectErrorObject(await project.look('forget', 'last', '--yes', '--json'), 'session_held');
    expectErrorObject(await project.look('sessions', 'hold', 'last', '--reason', 'more', '--json'), 'session_held');
    expect(await project.look('sessions', 'release', 'last')).toMatchObject({ code: 0 });
    expectErrorObject(await project.look('sessions', 'release', 'last', '--json'), 'session_free');
    await project.look('sessions', 'pin', 'last');
    expect((await project.look('forget', 'last')).out).toContain('pinned, and goes all the same');
    await project.script({ toolCalls: [{ name: 'ask', input: { question: 'Which?' } }] });
    expect(await project.look('run', 'helper', 'Ask.', '--quiet')).toMatchObject({ code: 5 });
    expectErrorObject(await project.look('forget', 'last', '--yes', '--json'), 'session_unfinished');
  });
});

describe('ledger gc', () => {
  const settings = [
    'retention:',
    '  sessions: 1ms',
    '  rules:',
    '    - { agent: keeper, sessions: forever }',
    '    - { tag: law, sessions: 90d }',
  ].join('\n');
  const named = (name: string, more = ''): string => `---\nname: ${name}\n${more}---\nYou are ${name}.\n`;

  it('follows the settings, shows why each session stays, and keeps everything without them', async () => {
    await using project = await createTestProject('', AGENT);
    for (const [name, more] of [['keeper'], ['lawyer', 'tags: [law]\n'], ['anybody'], ['held'], ['pinned']] as const) {
      await project.write(`agents/${name}.md`, named(name, more));
      await project.script({ text: `${name} is done.` });
      expect(await project.look('run', name, `For ${name}.`, '--quiet')).toMatchObject({ code: 0 });
      if (name === 'held') await project.look('sessions', 'hold', 'last', '--reason', 'case 12');
      if (name === 'pinned') await project.look('sessions', 'pin', 'last');
    }
    const everything = await project.look('ledger', 'gc', '--yes', '--json');
    expect(objectIn(everything.out)).toMatchObject({ sessions: [], payloads: 0 });
    await project.write('troupe.yaml', `${settings}\n`);
    const planned = await project.look('ledger', 'gc');
    expect(planned).toMatchObject({ code: 0 });
    for (const why of ['kept for ever, as rule 1 says', 'kept for 90d, as rule 2 says', 'case 12', 'pinned'])
      expect(planned.out).toContain(why);
    expect(planned.out).toMatch(/^goes {3}ses_\w+$/m);
    expect(planned.out).toMatch(/would collect \d+ payloads \(.*\) of 1 session; do it with --yes/);
    const collected = objectIn((await project.look('ledger', 'gc', '--yes', '--json')).out);
    expect(collected).toMatchObject({ sessions: [expect.any(String)], dryRun: false });
    expect(collected['stays']).toHaveLength(4);
    const prompts = JSON.parse((await project.look('sessions', '--json')).out) as { agent: string; prompt: string | null }[];
    expect(prompts.filter(({ prompt }) => prompt === null).map(({ agent }) => agent)).toEqual(['anybody']);
    expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringContaining('collected') });
    const older = objectIn((await project.look('ledger', 'gc', '--older-than', '30d', '--json')).out);
    expect(older).toMatchObject({ sessions: [] });
  });

  it('takes events of some types before their session, and the rest can be read', async () => {
    await using project = await played();
    const events = 'events: { tool.result: 1ms, cli.stdout: 1ms, cli.run: forever, task.error: 1d }';
    await project.write('troupe.yaml', `retention: { ${events}, rules: [{ agent: keeper, sessions: forever }] }\n`);
    await project.write('agents/keeper.md', AGENT.replace('helper', 'keeper'));
    await project.script({ toolCalls: [{ name: 'shell', input: { command: 'echo kept' } }] }, { text: 'Done.' });
    expect(await project.look('run', 'keeper', 'Keep it.', '--quiet')).toMatchObject({ code: 0 });
    const planned = await project.look('ledger', 'gc');
    expect(planned.out).toMatch(/^goes {3}ses_\w+ {2}2 tool\.result$/m);
    expect(planned.out).toMatch(/would collect \d+ payloads \(.*\) of 0 sessions and \d+ events of others; do it with --yes/);
    const [, session] = (await sessionsOf(project)).map((row) => row.session);
    await project.look('sessions', 'pin', session ?? '');
    expect(objectIn((await project.look('ledger', 'gc', '--yes', '--json')).out)).toMatchObject({ events: [], payloads: 0 });
    await project.look('sessions', 'unpin', session ?? '');
    const done = objectIn((await project.look('ledger', 'gc', '--yes', '--json')).out);
    expect(done).toMatchObject({ sessions: [], left: [], dryRun: false });
    expect(done['events']).toContainEqual({ session, type: 'tool.result', events: 2 });
    const logs = JSON.parse((await project.look('logs', session ?? '', '--json')).out) as {
      event_type: string;
      forgotten?: string;
    }[];
    const gone = new Set(logs.filter(({ forgotten }) => forgotten !== undefined).map(({ event_type }) => event_type));
    expect([...gone].toSorted()).toEqual(['cli.stdout', 'tool.result']);
    expect(logs.find(({ forgotten }) => forgotten !== undefined)?.forgotten).toContain('by troupe ledger gc');
    expect(await project.look('show', session ?? '')).toMatchObject({ code: 0, out: expect.stringContaining(`It is ${MARK}.`) });
    expect((await project.look('logs', 'last')).out).toContain('kept');
    expect(await project.look('ledger', 'verify')).toMatchObject({ code: 0, out: expect.stringMatching(/payloads? forgotten/) });
    expect(objectIn((await project.look('ledger', 'gc', '--yes', '--json')).out)).toMatchObject({ events: [], payloads: 0 });
    const goesOn = await project.look('run', 'helper', 'More.', '--session', session ?? '', '--quiet');
    expect(goesOn.err.replaceAll(/\s+/g, ' ')).toMatch(/forgotten at .* by troupe ledger gc/);
    expect((await sessionsOf(project)).length).toBe(2);
  });

  it('refuses a rule that is for nobody, that says no time, and types that are not kept by themselves', async () => {
    for (const [rules, why] of [
      ['rules: [{ sessions: 1d }]', 'must say of which agent, tag or session'],
      ['rules: [{ agent: helper }]', 'must say for how long: sessions or events'],
      ['events: { artifact.stored: 1d }', 'artifact.stored'],
    ] as const) {
      await using project = await createTestProject(`retention: { ${rules} }\n`, AGENT);
      const refused = await project.look('ledger', 'gc');
      expect(refused, rules).toMatchObject({ code: 2, err: expect.stringContaining(why) });
    }
  });
});
