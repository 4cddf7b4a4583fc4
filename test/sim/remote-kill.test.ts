/**
 * The command line asks an agent behind a real `troupe serve`, and `kill -9` strikes the command, the server or both after so
 * many pieces have passed between them. Whoever was struck is started again and looks at its ledger: every errand is one run here
 * and one task there, its question is asked once, and it comes to its end.
 */
import { expect, it } from 'vitest';
import { type Random, seededRandom } from '../../src/base/random.ts';
import { createTestProject, type Running, type TestProject } from '../e2e/support-project.ts';
import { JOBS_AGENT, pick, playJobs } from '../support/a2a/jobs.ts';
import { serve } from '../support/a2a/serve-process.ts';
import { ALICE } from '../support/a2a/served.ts';
import { rootsIn, withLedger } from '../support/assistants/ledger.ts';
import { LONG_TEST_MS } from '../support/patience.ts';
import { countingWire } from '../support/peers/counting-wire.ts';
import { checkErrand, type Errand, newErrand, nextCommand } from '../support/peers/errands.ts';

const KILLS = Number(process.env['TROUPE_KILLS'] ?? 5);
const DESKS = 2;
/** An errand from its beginning to its end is about this much. */
const MOST_PIECES = 24;
const victims = ['command', 'server', 'both'] as const;

/** Says when so many pieces have passed. */
function createCount() {
  let left = Number.POSITIVE_INFINITY;
  let reached = (): void => undefined;
  return {
    piece(): void {
      left -= 1;
      if (left <= 0) reached();
    },
    async after(pieces: number): Promise<void> {
      await new Promise<void>((resolve) => {
        left = pieces;
        reached = resolve;
      });
      left = Number.POSITIVE_INFINITY;
    },
  };
}

async function callerOf(origin: string): Promise<TestProject> {
  const here = await createTestProject();
  here.env['THERE_TOKEN'] = ALICE;
  const card = `${origin}/a2a/agents/helper/.well-known/agent-card.json`;
  await here.write('agents/weather.md', `---\nname: weather\na2a: { card: "${card}", token: "\${THERE_TOKEN}" }\n---\n`);
  expect((await here.look('agents', 'allow', 'weather', '--yes')).code).toBe(0);
  return here;
}

/** One person at the keyboard: errand after errand, each to its end, until it is over. Gives how many commands were killed. */
async function desk(here: TestProject, errands: Errand[], commands: Set<Running>, isOver: () => boolean): Promise<number> {
  let killed = 0;
  while (!isOver()) {
    const errand = newErrand(errands.length);
    errands.push(errand);
    for (;;) {
      const command = await nextCommand(here.folder, errand);
      if (command === undefined) break;
      const running = here.start(command);
      commands.add(running);
      const { code, err } = await running.ended;
      commands.delete(running);
      if (code === null) killed += 1;
      // Done, or there is something to answer or to wait for.
      else if (code !== 0 && code !== 5) throw new Error(`troupe ${command.join(' ')} ended with ${code}: ${err}`);
    }
  }
  return killed;
}

interface Played {
  readonly errands: number;
  readonly commands: number;
  readonly servers: number;
}

/** How many errands were done, and who was killed on the way. */
async function play(random: Random, there: TestProject): Promise<Played> {
  const count = createCount();
  await there.serve((request) => {
    count.piece();
    return playJobs(request);
  });
  await using wire = await countingWire(() => count.piece());
  await using here = await callerOf(wire.origin);
  const started = async () => {
    const server = await serve(there);
    wire.leadsTo(new URL(server.origin).port);
    return server;
  };
  let server = await started();
  let kills = 0;
  let servers = 0;
  const errands: Errand[] = [];
  const commands = new Set<Running>();
  const desks = Promise.all(Array.from({ length: DESKS }, () => desk(here, errands, commands, () => kills >= KILLS)));
  const striking = (async () => {
    for (; kills < KILLS; kills += 1) {
      await count.after(1 + Math.floor(random.fraction() * MOST_PIECES));
      const victim = pick(random, victims);
      if (victim !== 'server') for (const running of commands) running.kill('SIGKILL');
      if (victim === 'command') continue;
      wire.leadsTo(undefined);
      await server.end('SIGKILL');
      servers += 1;
      server = await started();
    }
  })();
  try {
    await Promise.race([striking, desks]);
    const killed = (await desks).reduce((sum, one) => sum + one, 0);
    for (const errand of errands) await checkErrand(errand, here.folder, there.folder);
    for (const { folder } of [here, there]) {
      expect(await rootsIn(folder)).toHaveLength(errands.length);
      expect(await withLedger(folder, (ledger) => ledger.verify())).toMatchObject({ kind: 'sound' });
    }
    return { errands: errands.length, commands: killed, servers };
  } finally {
    for (const running of commands) running.kill('SIGKILL');
    await server.end('SIGKILL');
  }
}

it(`kill -9 of the command, of the server and of both, ${KILLS} times: every errand is done once`, {
  timeout: LONG_TEST_MS,
}, async () => {
  await using there = await createTestProject('', JOBS_AGENT);
  const played = await play(seededRandom(Number(process.env['TROUPE_SEED'] ?? 20_261_117)), there);
  expect(played.errands).toBeGreaterThan(DESKS);
  expect(played.commands).toBeGreaterThan(0);
  expect(played.servers).toBeGreaterThan(0);
});
