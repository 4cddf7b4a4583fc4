/** `troupe ps` beside runs that spawn: real processes, one of which is killed. */
import { describe, expect, it } from 'vitest';
import { type JsonObject, parseJson } from '../../src/base/json.ts';
import { FOR_EVER_MS } from '../support/patience.ts';
import { createTestProject, type TestProject } from './support-project.ts';

const LEAD = '---\nname: lead\ntools: [assistants]\nmaxTurns: 80\n---\nYou lead.\n';
const SLOW = '---\nname: slow\n---\nYou take your time.\n';

const writes = (message: string) => ({
  delayMs: 500,
  toolCalls: [{ name: 'send_message', input: { to_assistant_id: 'slow', thread_id: '{{match thr_\\w+}}', message } }],
});

/** A lead that spawns one who thinks for a minute, and writes to it until it has begun: what comes then stays unread. */
const REPLIES = {
  agents: {
    lead: [
      { toolCalls: [{ name: 'spawn_assistant', input: { assistant_id: 'slow', query: 'Think.' } }] },
      ...Array.from({ length: 3 }, (_, index) => writes(`Are you there? (${index})`)),
      { delayMs: FOR_EVER_MS, text: 'Well.' },
    ],
    slow: [{ delayMs: FOR_EVER_MS, text: 'Hm.' }],
  },
};

async function rowsOf(project: TestProject): Promise<JsonObject[]> {
  const { code, out } = await project.look('ps', '--json');
  const parsed = parseJson(out);
  if (code !== 0 || !parsed.ok || !Array.isArray(parsed.value)) throw new Error(`not a list: ${out}`);
  return parsed.value as JsonObject[];
}

async function until(project: TestProject, holds: (rows: JsonObject[]) => boolean): Promise<JsonObject[]> {
  let rows: JsonObject[] = [];
  await expect
    .poll(async () => {
      rows = await rowsOf(project);
      return holds(rows) ? 'so' : rows;
    })
    .toBe('so');
  return rows;
}

describe('troupe ps', () => {
  it('shows an assistant at work, its process and what it has not read, and how things stand after kill -9', async () => {
    await using project = await createTestProject('model: scripted:replies.yaml\n');
    await project.write('agents/lead.md', LEAD);
    await project.write('agents/slow.md', SLOW);
    await project.write('replies.yaml', JSON.stringify(REPLIES));
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
