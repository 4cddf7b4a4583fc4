/**
 * Coding agents that others wrote do a whole task for an agent, with a model server on this machine: what they want is allowed
 * by rule and by a person, files are written and a command is run, they are killed in the middle and taken up, and cancelled.
 * The same steps for all; what each does differently is data. One of them does a task of an architect as well, and one asks an
 * agent of ours.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { EventType } from '../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../src/events/envelope.ts';
import { geminiAsks } from '../support/a2a/gemini-client.ts';
import { served } from '../support/a2a/served.ts';
import { codingAgentWorld } from '../support/executors/coding-agent-world.ts';
import { describeWithCodingAgents } from '../support/executors/coding-agents.ts';
import type { Reply } from '../support/models/script.ts';
import { sandboxHere } from '../support/sandbox/sandbox-here.ts';

/** What the command prints does not stand in it. */
const COMMAND = "printf 'it-%s' ran >> ran.txt && cat ran.txt";
const PRINTED = 'it-ran';

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'utf8'));

const payloadsIn = (events: readonly LedgerEvent[], type: EventType) =>
  events.flatMap(({ event_type, payload }) => (event_type === type ? [payload as Readonly<Record<string, unknown>>] : []));

describeWithCodingAgents('coding agents', (installed) => {
  const rows = installed.flatMap((agent) => agent.protocols.map((protocol) => ({ ...agent, protocol })));

  it.each(rows)('$executor, in version $protocol of the protocol', async ({ protocol, ...agent }) => {
    const events: LedgerEvent[] = [];
    const of = (type: EventType) => payloadsIn(events, type);
    const onEvent = (event: LedgerEvent): void => void events.push(event);
    let [hangs, stage] = [0, 'write'];
    const hanging = (): Reply => {
      hangs += 1;
      return { fault: 'hang', after: 'Let me see.' };
    };
    const world = await codingAgentWorld(agent, protocol, ({ toolResults, body }) => {
      if (stage === 'write') return toolResults === 0 ? { calls: [agent.write(join(world.work, 'a.txt'), 'hello')] } : hanging();
      if (stage === 'cancel') return hanging();
      if (stage === 'task') return toolResults === 0 ? { calls: [agent.write('b.txt', 'hello')] } : { text: 'b.txt is there.' };
      return JSON.stringify(body).includes(PRINTED) ? { text: 'All is done.' } : { calls: [agent.run(COMMAND)] };
    });
    const { troupe, work, reached } = world;
    /** Its model thinks for so many times; a run that rests before that says why. */
    const hung = async (times: number, going: Promise<unknown>): Promise<void> => {
      let rests: unknown;
      void going.then((result) => {
        rests = result;
      });
      await expect.poll(() => rests ?? hangs).toBe(times);
    };

    // It writes a file, and is killed while its model thinks.
    const asked: unknown[] = [];
    const going = troupe.run('coder', 'Write a.txt, and run the command.', {
      onEvent,
      approve: ({ tool, input }) => {
        asked.push([tool, input]);
        return JSON.stringify(input).includes(COMMAND) ? undefined : true;
      },
    });
    await hung(1, going);
    const first = Number(of('executor.session')[0]?.['pid']);
    stage = 'command';
    process.kill(first, 'SIGKILL');

    // It is taken up, and asks a person before it runs the command.
    const waiting = await going;
    expect(waiting).toMatchObject({ status: 'waiting', waits: [{ tool: 'shell', input: { command: COMMAND } }] });
    expect(asked).toHaveLength(agent.writesByCommand ? 2 : 1);
    const result = await troupe.resume(waiting.run, { onEvent, approve: () => true });
    expect(result).toMatchObject({ status: 'completed', report: { body: expect.stringContaining('All is done.') } });
    const lives = of('executor.session').filter(({ restored }) => restored !== 'live');
    expect(lives).toMatchObject([
      { restored: 'new', protocol },
      { restored: agent.takenUp === 'loaded' ? 'loaded' : expect.stringMatching(/^(?:loaded|new)$/), protocol },
    ]);
    expect(lives.map(({ sandbox }) => sandbox)).toEqual([sandboxHere, sandboxHere]);
    expect([readFileSync(join(work, 'a.txt'), 'utf8'), readFileSync(join(work, 'ran.txt'), 'utf8')]).toEqual(['hello', PRINTED]);
    expect(of('file.diff')).toMatchObject([
      { path: 'a.txt', before: null },
      { path: 'ran.txt', before: null },
    ]);
    const decided = of('executor.decided').map(({ decision, by }) => [decision, by]);
    expect(decided).toEqual([
      ['allowed', agent.writesByCommand ? 'person' : 'rule'],
      ['allowed', 'person'],
    ]);
    expect(reached).toEqual([]);

    // One of them does a task of an architect in the place of what comes last, which its other version does.
    if (agent.executor === 'codex' && protocol === 1) {
      stage = 'task';
      const git = (...words: readonly string[]) =>
        execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...words], { cwd: work });
      git('init', '-q');
      git('add', '-A');
      git('commit', '-qm', 'first');
      const led = await troupe.run('lead', 'Have b.txt written.', { onEvent, approve: () => true });
      expect(led).toMatchObject({ status: 'completed', verification: { state: 'verified' } });
      expect(of('task.captured')).toMatchObject([{ files: [{ path: 'b.txt' }], undone: [], patch: expect.any(String) }]);
      expect(of('task.judged')).toMatchObject([{ verdict: 'accepted', acceptance: [{ how: 'run', met: true }] }]);
      expect(of('task.merged')).toMatchObject([{ files: 1, conflicts: [] }]);
      expect(existsSync(join(work, 'b.txt'))).toBe(false);
      expect(reached).toEqual([]);
      return;
    }

    // Another run is cancelled while its model thinks.
    stage = 'cancel';
    const enough = new AbortController();
    const cancelled = troupe.run('coder', 'Think for long.', { onEvent, signal: enough.signal });
    await hung(2, cancelled);
    enough.abort();
    expect(await cancelled).toMatchObject({ status: 'cancelled' });
    const pids = new Set(of('executor.session').map(({ pid }) => Number(pid)));
    expect(pids.size).toBe(3);
    await expect.poll(() => [...pids].filter(isAlive)).toEqual([]);
    expect(of('executor.ended')).toMatchObject([{ signal: 'SIGKILL' }, { stop: 'end_turn' }, { stop: 'cancelled' }]);
    expect(reached).toEqual([]);
  });

  it.runIf(installed.some(({ executor }) => executor === 'gemini'))('Gemini CLI asks an agent here, by A2A 0.3', async () => {
    await using server = await served({ play: () => ({ text: 'The bedroom is at 18 degrees.' }) });
    const said = await geminiAsks(server, 'Set the bedroom to 18 degrees.', (heard) =>
      heard.includes('at 18 degrees') ? 'The house did it.' : 'The house said something else.',
    );
    expect(said).toContain('The house did it.');
    const runs = await server.project.ledger.runs({ roots: true });
    expect(runs).toMatchObject([{ agent: 'helper', state: 'completed' }]);
    expect(server.errors).toEqual([]);
  });
});
