/** `troupe ps` beside runs that spawn: real processes, one of which is killed. */
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../src/base/json.ts';
import { createTestProject, objectIn, type TestProject } from './support-project.ts';

const LEAD = '---\nname: lead\ntools: [assistants]\nmaxTurns: 80\n---\nYou lead.\n';
const SLOW = '---\nname: slow\n---\nYou take your time.\n';

/** A lead that spawns one who never answers, and writes to it once it was asked: what comes then stays unread. */
async function serveLead(project: TestProject): Promise<void> {
  const begun = Promise.withResolvers<void>();
  await project.serve(async ({ body, toolResults }) => {
    const said = JSON.stringify(body);
    if (said.includes('You take your time.')) begun.resolve();
    else if (toolResults === 0) return { calls: [{ name: 'spawn_assistant', input: { assistant_id: 'slow', query: 'Think.' } }] };
    else if (toolResults === 1) {
      await begun.promise;
      const [thread_id = ''] = /thr_\w+/.exec(said) ?? [];
      return { calls: [{ name: 'send_message', input: { to_assistant_id: 'slow', thread_id, message: 'Are you there? (1)' } }] };
    }
    return { fault: 'hang' };
  });
}

async function rowsOf(project: TestProject, which: readonly string[]): Promise<JsonObject[]> {
  const { code, out } = await project.look('ps', '--json', ...which);
  const parsed = parseJson(out);
  if (code !== 0 || !parsed.ok || !Array.isArray(parsed.value)) throw new Error(`not a list: ${out}`);
  return parsed.value as JsonObject[];
}

async function until(
  project: TestProject,
  holds: (rows: JsonObject[]) => boolean,
  ...which: readonly string[]
): Promise<JsonObject[]> {
  let rows: JsonObject[] = [];
  await expect
    .poll(async () => {
      rows = await rowsOf(project, which);
      return holds(rows) ? 'so' : rows;
    })
    .toBe('so');
  return rows;
}

describe('troupe ps', () => {
  it('after kill -9 calls the branch that asks waiting and the other interrupted, and pause pauses neither', async () => {
    await using project = await createTestProject('model: scripted:replies.yaml\n');
    for (const name of ['w1', 'w2'])
      await project.write(`agents/${name}.md`, '---\ntools: [shell]\npermissions: { shell: ask }\n---\nx\n');
    await project.write('agents/boss.md', '---\nagents: [w1, w2]\n---\nx\n');
    const call = (name: string, input: object) => ({ name, input });
    const replies = {
      boss: [{ toolCalls: ['w1', 'w2'].map((name) => call(name, { prompt: 'p', reason: 'r' })) }, { text: 'done' }],
      w1: [{ toolCalls: [call('shell', { command: 'touch x' })] }, { text: 'done' }],
      w2: [{ delayMs: 600_000, text: 'done' }],
    };
    await project.write('replies.yaml', JSON.stringify({ agents: replies }));
    const running = project.start(['run', 'boss', 'Go.', '-q']);
    const stateBy = (rows: readonly Record<string, unknown>[]) =>
      Object.fromEntries(rows.map(({ agent, state }) => [String(agent), state]));
    await until(project, (rows) => stateBy(rows)['w1'] === 'waiting' && stateBy(rows)['w2'] === 'running', '--all');
    running.kill('SIGKILL');
    await running.ended;
    const dead = await until(project, (rows) => rows[0]?.['pid'] === null, '--all');
    const stands = { boss: 'waiting', w1: 'waiting', w2: 'interrupted' };
    expect(stateBy(dead)).toEqual(stands);
    const { tree } = objectIn((await project.look('show', 'last', '--json')).out);
    expect(stateBy((tree as readonly Record<string, unknown>[]).map((one) => ({ ...one, state: one['status'] })))).toEqual(
      stands,
    );
    const paused = await project.look('pause', 'last');
    expect(paused.out).toContain('waits for an answer and does nothing until then');
    expect(paused.out).not.toContain('paused');
  });

  it('shows an assistant at work, its process and what it has not read, and how things stand after kill -9', async () => {
    await using project = await createTestProject();
    await project.write('agents/lead.md', LEAD);
    await project.write('agents/slow.md', SLOW);
    await serveLead(project);
    const running = project.start(['run', 'lead', 'Go.', '-q']);
    const [lead, slow] = await until(project, (rows) => Number(rows[1]?.['unread']) > 0);
    expect(lead).toMatchObject({ agent: 'lead', depth: 0, state: 'running', pid: running.pid, process: null });
    expect(slow).toMatchObject({
      agent: 'slow',
      depth: 1,
      state: 'running',
      parent: lead?.['run'],
      process: { spawnedBy: 'lead', status: 'running', thread: String(slow?.['run']).replace('run_', 'thr_') },
      lagMs: expect.any(Number),
    });
    const pid = Number(slow?.['pid']);
    expect(pid).not.toBe(running.pid);
    expect(() => process.kill(pid, 0)).not.toThrow();

    running.kill('SIGKILL');
    await running.ended;
    const dead = await until(project, (rows) => rows[0]?.['state'] === 'interrupted');
    const next = `troupe resume ${String(lead?.['run']).slice(-6)}`;
    expect(dead).toMatchObject([
      { state: 'interrupted', pid: null, next },
      { state: 'interrupted', pid: null, next: null },
    ]);
    const { out } = await project.look('ps');
    expect(out).toMatch(/^RUN +PID +AGENT +THREAD +STATUS +UNREAD +AGE +TOOK +COST +NEXT\n/);
    expect(out).toMatch(/ - +└ slow +\w{6} +interrupted +\d+ \(\d+s\) /);
    expect((await project.look('show', 'last')).out).toMatch(/lead → slow {2}“Are you there\? \(\d+\)” {2}unread for /);
  });
});
