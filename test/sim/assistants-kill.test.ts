/**
 * Real servers, real runners, real SIGKILL of either or both at random moments, while assistants work and write to each other
 * and to the client that spawned them. Whoever comes next takes everything up: no process is left behind, no message is lost or
 * heard twice, no status is untrue, and no model call whose answer is recorded is made again.
 */
import { statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/base/random.ts';
import type { TestProject } from '../e2e/support-project.ts';
import { type AssistantsClient, ConnectionLost, connectStdio } from '../support/assistants/client.ts';
import { only, rootsIn, sessionOf, withLedger } from '../support/assistants/ledger.ts';
import { answerServedBoss, SERVED_BOSS_REPORT, servedBossAgents, troublesIn, WORDS } from '../support/assistants/served-boss.ts';
import { createAssistantsProject, toolsOf } from '../support/assistants/served-project.ts';
import { isRunner, killUntilDead, type Victim } from '../support/assistants/server-kills.ts';
import type { ModelServer } from '../support/models/model-server.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { runningProcesses } from '../support/process/marked-processes.ts';

const KILLS = Number(process.env['TROUPE_KILLS'] ?? 30);
const LANES = 2;
/** More kills of one runner within one life of its server than the few after which a run is given up, rightly. */
const SETTINGS = 'assistants:\n  restarts: 100\n';

interface BossRun {
  /** Makes a call of the client and its repetition one. */
  readonly key: string;
  run: string | undefined;
  /** Which model calls had a recorded answer at some moment, and how many had been made until then. */
  readonly moments: { readonly answered: ReadonlySet<string>; readonly made: number }[];
}

interface Lane {
  readonly project: TestProject;
  readonly model: ModelServer;
  readonly random: Random;
  readonly mark: string;
  readonly bossRuns: BossRun[];
  readonly kills: Victim[];
  enough(): boolean;
}

/** Run after run of a boss, in life after life, until enough were killed and the last has come to its end. */
async function playLane(lane: Lane): Promise<void> {
  newDrama(lane);
  for (;;) {
    const life = await beginLife(lane);
    const failure = await playOn(lane, life.client).then(
      () => undefined,
      (error: unknown) => ({ error }),
    );
    await life.end();
    if (failure === undefined) return;
    // A call whose server dies fails; anything else is what this test is looking for.
    if (!life.wasKilled() || !(failure.error instanceof ConnectionLost)) throw failure.error;
    const bossRun = newest(lane);
    bossRun.run ??= await lostRun(lane);
  }
}

async function playOn(lane: Lane, client: AssistantsClient): Promise<void> {
  for (;;) {
    const bossRun = newest(lane);
    await act(lane, bossRun, client);
    await checkEnd(lane, bossRun);
    if (lane.enough()) return;
    newDrama(lane);
  }
}

const newest = (lane: Lane): BossRun => lane.bossRuns.at(-1) ?? newDrama(lane);

function newDrama({ bossRuns, mark }: Lane): BossRun {
  const bossRun: BossRun = { key: `${mark}-${bossRuns.length}`, run: undefined, moments: [] };
  bossRuns.push(bossRun);
  return bossRun;
}

async function beginLife(lane: Lane) {
  const client = await connectStdio(lane.project, '2025-11-25');
  let over = false;
  let killed = false;
  const killing = killUntilDead({
    server: client.pid,
    mark: lane.mark,
    random: lane.random,
    work: () => lane.model.requests.length,
    written: () => stampOf(join(lane.project.folder, '.troupe/ledger.db-wal')),
    isOver: () => over || lane.enough(),
    async onKill(victim) {
      lane.kills.push(victim);
      killed ||= victim !== 'runner';
      await remember(lane, newest(lane));
    },
  });
  killing.catch(() => undefined);
  return {
    client,
    wasKilled: () => killed,
    async end(): Promise<void> {
      over = true;
      await killing;
      await client[Symbol.asyncDispose]();
    },
  };
}

/** Nothing of a file that is not there. */
function stampOf(path: string): string {
  const file = statSync(path, { bigint: true, throwIfNoEntry: false });
  return `${file?.size} ${file?.mtimeNs}`;
}

async function remember({ project, model }: Lane, { run, moments }: BossRun): Promise<void> {
  if (run === undefined) return;
  const answers = only(await sessionOf(project.folder, run), 'model.response');
  moments.push({ answered: new Set(answers.map(({ run_id, step }) => `${run_id}/${step}`)), made: model.requests.length });
}

/** The run that the client spawned without hearing its number, if its server got that far. */
async function lostRun({ project, bossRuns }: Lane): Promise<string | undefined> {
  const known = new Set(bossRuns.map(({ run }) => run));
  return (await rootsIn(project.folder)).find((run) => !known.has(run));
}

/** The client's part: whatever it had no answer to, it does again. */
async function act(lane: Lane, bossRun: BossRun, client: AssistantsClient): Promise<void> {
  const tools = toolsOf(client);
  const run = bossRun.run ?? (await tools.spawn('boss', 'Have the file checked.')).process_id;
  bossRun.run = run;
  const thread_id = run.replace('run_', 'thr_');
  for (const message of WORDS) {
    const input = { to_assistant_id: 'boss', thread_id, message };
    expect(await client.callTool('send_message', input, `${bossRun.key}-${message}`)).toEqual({ success: true });
    await pause(lane.random.fraction() * 100);
  }
  while ((await truePoll(lane, client, run)) !== 'finished');
  const { messages } = await tools.receive(thread_id, { unread_only: true, mark_as_read: true }, `${bossRun.key}-report`);
  expect(messages.map(({ from_assistant_id, content }) => [from_assistant_id, content])).toEqual([['boss', SERVED_BOSS_REPORT]]);
}

/** Recorded before the poll means finished; not even recorded after it means not finished. */
async function truePoll({ project }: Lane, client: AssistantsClient, run: string): Promise<string> {
  const ended = async (): Promise<string | undefined> =>
    only(await sessionOf(project.folder, run), 'run.ended').find(({ run_id }) => run_id === run)?.payload.status;
  const before = await ended();
  const { process } = await toolsOf(client).poll(run, { wait_ms: 300 });
  const after = await ended();
  if (before !== undefined) expect(process).toMatchObject({ status: 'finished', exit_code: 0 });
  if (after === undefined) expect(['starting', 'running']).toContain(process.status);
  expect(after ?? 'completed').toBe('completed');
  return process.status;
}

async function checkEnd({ project, model }: Lane, { run = '', moments }: BossRun): Promise<void> {
  const events = await sessionOf(project.folder, run);
  const runs = new Set<string>(only(events, 'run.started').map(({ run_id }) => run_id));
  const requests = model.requests.filter((request) => runs.has(callOf(request).split('/')[0] ?? ''));
  expect(troublesIn(events, requests)).toEqual([]);
  const repeated = moments.flatMap(({ answered, made }) =>
    model.requests
      .slice(made)
      .map(callOf)
      .filter((call) => answered.has(call)),
  );
  expect(repeated, 'answered before a kill and asked again after it').toEqual([]);
}

const callOf = ({ headers }: ModelServer['requests'][number]): string => String(headers['idempotency-key']);

/** After the last life: the ledger is whole, and nothing of what it says was started is there any more. */
async function checkLane({ project, bossRuns }: Lane): Promise<void> {
  expect(await withLedger(project.folder, (ledger) => ledger.verify())).toMatchObject({ kind: 'sound' });
  const runs = await rootsIn(project.folder);
  expect(runs.toSorted()).toEqual(bossRuns.flatMap(({ run }) => run ?? []).toSorted());
  const events = (await Promise.all(runs.map((run) => sessionOf(project.folder, run)))).flat();
  const pids = new Set(only(events, 'process.started').map(({ payload }) => payload.pid));
  expect(pids.size).toBeGreaterThan(runs.length);
  const left = (): readonly unknown[] => runningProcesses().filter((one) => pids.has(one.pid) && isRunner(one));
  await expect.poll(left).toEqual([]);
}

describe('kill -9 of a server, of a runner, and of both', () => {
  it(`${KILLS} times at random moments: all assistants come to their end as if nothing had happened`, {
    timeout: LONG_TEST_MS,
  }, async () => {
    const seed = Number(process.env['TROUPE_SEED'] ?? 20_261_116);
    const kills: Victim[] = [];
    const played = await Promise.all(
      Array.from({ length: LANES }, async (_value, index) => {
        const { project, model } = await createAssistantsProject(servedBossAgents, answerServedBoss, SETTINGS);
        await using _project = project;
        const mark = `troupe-assistants-kill-${process.pid}-${index}`;
        project.env['TROUPE_TEST_MARK'] = mark;
        const enough = (): boolean => kills.length >= KILLS;
        const lane: Lane = { project, model, mark, random: seededRandom(seed + index), bossRuns: [], kills, enough };
        await playLane(lane);
        await checkLane(lane);
        return lane.bossRuns.length;
      }),
    );
    const times = (victim: Victim): number => kills.filter((one) => one === victim).length;
    for (const victim of ['parent', 'runner', 'both'] as const) expect(times(victim), victim).toBeGreaterThan(KILLS / 10);
    expect(Math.min(...played)).toBeGreaterThan(1);
  });
});
