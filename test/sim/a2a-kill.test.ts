/**
 * A real `troupe serve`, killed with SIGKILL after so many things that its peers heard, again and again; peers that lose what
 * they knew, or both at once. Whoever had no answer does the same again: no task is lost, begun twice or in a state that may not
 * follow, and no model call whose answer is recorded is made again.
 */
import { describe, expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { createTestProject } from '../e2e/support-project.ts';
import {
  advance,
  askedAgain,
  checkJobs,
  isDone,
  JOBS_AGENT,
  type Job,
  type Moment,
  momentOf,
  newJob,
  pick,
  playJobs,
} from '../support/a2a/jobs.ts';
import { type ServeProcess, serve } from '../support/a2a/serve-process.ts';
import { ALICE, type Binding, connect } from '../support/a2a/served.ts';
import { LONG_TEST_MS } from '../support/patience.ts';

const KILLS = Number(process.env['TROUPE_KILLS'] ?? 9);
const PEERS = 4;
/** A task from its beginning to its end is about this much. */
const MOST_HEARD = 12;
const victims = ['server', 'peers', 'both'] as const;
type Victim = (typeof victims)[number];
const bindings: readonly Binding[] = ['JSONRPC', 'HTTP+JSON', 'GRPC'];

interface Play {
  readonly random: Random;
  readonly jobs: Job[];
  /** What each peer is at. */
  readonly desks: (Job | undefined)[];
  /** Set while a round lasts: the model server is heard, too. */
  heard: () => void;
}

/** Until somebody is struck, or, without a victim, until everybody has done what they were at. */
async function round(play: Play, server: ServeProcess, victim?: Victim): Promise<void> {
  const { random, jobs, desks } = play;
  const line = new AbortController();
  let left = victim === undefined ? Number.POSITIVE_INFINITY : 1 + Math.floor(random.fraction() * MOST_HEARD);
  let struck = false;
  play.heard = () => {
    left -= 1;
    if (left > 0 || struck) return;
    struck = true;
    if (victim !== 'peers') process.kill(server.pid, 'SIGKILL');
    if (victim !== 'server') line.abort();
  };
  const work = async (desk: number): Promise<void> => {
    const client = await connect(server.origin, ALICE, pick(random, bindings));
    while (!struck) {
      let job = desks[desk];
      if (job === undefined || isDone(job)) {
        if (victim === undefined) return;
        job = newJob(jobs.length);
        jobs.push(job);
        desks[desk] = job;
      }
      await advance(job, { client, signal: line.signal, heard: () => play.heard() }, random);
    }
  };
  const worked = await Promise.allSettled(Array.from({ length: PEERS }, (_, desk) => work(desk)));
  play.heard = () => undefined;
  // Whoever was cut off goes on in the next round; anything else is what this test is looking for.
  for (const one of worked) if (one.status === 'rejected' && (!struck || isFound(one.reason))) throw one.reason;
  if (victim === 'server') return;
  for (const job of desks) if (job !== undefined) job.known = undefined;
}

const isFound = (reason: unknown): boolean => /went from|no state of ours|is one task/.test(String(reason));

describe('kill -9 of a server, of its peers, and of both', () => {
  it(`${KILLS} times: every task is begun once and comes to its end`, { timeout: LONG_TEST_MS }, async () => {
    const random = seededRandom(Number(process.env['TROUPE_SEED'] ?? 20_261_117));
    await using project = await createTestProject('', JOBS_AGENT);
    const play: Play = { random, jobs: [], desks: Array.from({ length: PEERS }), heard: () => undefined };
    const model = await project.serve((request) => {
      play.heard();
      return playJobs(request);
    });
    const moments: Moment[] = [];
    let server: ServeProcess | undefined;
    for (let kill = 0; kill < KILLS; kill += 1) {
      const victim = victims[kill % victims.length] ?? 'server';
      server ??= await serve(project);
      await round(play, server, victim);
      if (victim === 'peers') continue;
      await server.end('SIGKILL');
      server = undefined;
      moments.push(await momentOf(play.jobs.slice(-3 * PEERS), model, project.folder));
    }
    await using last = server ?? (await serve(project));
    await round(play, last);
    await checkJobs(play.jobs, await connect(last.origin, ALICE, 'JSONRPC'), project.folder);
    expect(askedAgain(moments, model), 'answered before a kill and asked again after it').toEqual([]);
    expect(moments.some(({ answered }) => answered.size > 0)).toBe(true);
    expect(play.jobs.length).toBeGreaterThan(PEERS);
  });
});
