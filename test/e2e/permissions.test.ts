/** What was said "always" to for a session: seen by `troupe permissions`, and taken back while the run is at work elsewhere. */
import { expect, it } from 'vitest';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const AGENT = '---\nname: helper\ntools: [shell]\npermissions: { shell: ask }\n---\nYou help.\n';
const ECHO = { calls: [{ name: 'shell', input: { command: 'echo one' } }] };

async function ofSessions(project: TestProject) {
  const { rules, sessionsLeftOut } = objectIn((await project.look('permissions', '--json')).out);
  expect(sessionsLeftOut).toBe(0);
  return (rules as readonly Record<string, unknown>[]).filter(({ from }) => from === 'session');
}

it('an answer for the session is listed with it, and taken back by another process before the next call', async () => {
  await using project = await createTestProject('', AGENT);
  let session = '';
  await project.serve(
    ECHO,
    ECHO,
    async () => {
      const [rule, ...others] = await ofSessions(project);
      expect(others).toEqual([]);
      session = String(rule?.['session']);
      expect(rule).toEqual({ from: 'session', tool: 'shell', pattern: 'echo one', permission: 'allow', session });
      const short = session.slice(-6);
      expect((await project.look('permissions')).out).toMatch(new RegExp(`session ${short} +shell +echo one +allow +the ledger`));
      expect((await project.look('complete', '--', 'permissions', 'remove', '')).out).toBe('shell\tremembered\n');
      expect((await project.look('complete', '--', 'permissions', 'remove', 'shell', '')).out).toBe('echo one\tshell\n');
      expect((await project.look('complete', '--', 'permissions', 'remove', '--session', '')).out).toContain(`${short}\t`);
      expect(await project.look('permissions', 'remove', 'shell', 'echo one')).toMatchObject({ code: 2 });
      expect(await project.look('permissions', 'remove', 'shell', 'echo two', '--session', short)).toMatchObject({ code: 2 });
      const removed = await project.troupe('permissions', 'remove', 'shell', 'echo one', '--session', short, '--json');
      expect(objectIn(removed.out)).toEqual({ removed: [{ tool: 'shell', pattern: 'echo one' }], session });
      return ECHO;
    },
    ECHO,
    { text: 'Done.' },
  );
  expect((await project.troupe('run', 'helper', 'Go.')).code).toBe(5);
  expect((await project.troupe('approve', 'last', '--remember')).code).toBe(5);
  expect(session).toMatch(/^ses_/);
  expect(await ofSessions(project)).toEqual([]);
  expect((await project.look('logs', 'last')).out).toMatch(/"always" for shell echo one taken back by \S+@/);
  // Said again, it counts again; and with the next prompt of the session, too, until all of it is taken back.
  expect((await project.troupe('approve', 'last', '--remember')).code).toBe(0);
  expect(await ofSessions(project)).toHaveLength(1);
  const all = await project.look('permissions', 'remove', '--all', '--session', 'last');
  expect(all).toMatchObject({ code: 0, out: 'removed 1 rule\n' });
  expect(await ofSessions(project)).toEqual([]);
});

it('a question says why a rule that looks as if it allowed the command does not, and what to write', async () => {
  const agent = AGENT.replace('{ shell: ask }', '{ shell: { "ls *": allow, "helm *": allow } }');
  await using project = await createTestProject('', agent);
  await project.serve({ calls: [{ name: 'shell', input: { command: 'ls . && helm list -A' } }] }, { text: 'Done.' });
  const { code, out, err } = await project.look('run', 'helper', 'Go.');
  expect(code).toBe(5);
  expect(out + err).toContain(
    'helper wants to use shell; "helm *" does not stand for "-A", which is not known to be harmless; "helm list -A*" would',
  );
});

it('what is taken back for the project is named where a session still remembers it', async () => {
  await using project = await createTestProject('', AGENT);
  await project.serve(ECHO, { text: 'Done.' });
  expect((await project.look('run', 'helper', 'Go.')).code).toBe(5);
  expect((await project.look('approve', 'last', '--remember', 'project')).code).toBe(0);
  const [rule] = await ofSessions(project);
  const short = String(rule?.['session']).slice(-6);
  const removed = await project.look('permissions', 'remove', 'shell', 'echo one');
  expect(removed).toMatchObject({ code: 0, out: 'removed 1 rule\n' });
  const command = `permissions remove shell "echo one" --session ${short}`;
  expect(removed.err).toContain(`still remembered for 1 session, to take back there:\n  troupe ${command}\n`);
  const all = await project.look('permissions', 'remove', '--all');
  expect(all).toMatchObject({ out: 'removed 0 rules\n', err: expect.stringContaining(`remove --all --session ${short}\n`) });
  expect((await project.look('permissions', 'remove', 'shell', 'echo one', '--session', short)).out).toBe('removed 1 rule\n');
  expect((await project.look('permissions', 'remove', '--all')).err).toBe('');
});
