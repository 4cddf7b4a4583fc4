/**
 * Whether cost grows with the past: `node bench/past.ts [--prompts 500] [--events 15000] [--turns 2000] [--rounds 31]`, and
 * `--only prompts,approvals,heap,condensed`. Measures pairs in one process, turn by turn, and prints their ratio beside its
 * aim: the first model call of a late prompt of a session and of its second, an approval late in a run and an early one, the
 * heap of a long run and of a short one, and how often long work is condensed in a small window. The model answers at once, so
 * that everything measured is our own.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { RunId, SessionId } from '../src/base/ids.ts';
import type { RunHandle } from '../src/engine/port.ts';
import { readAll } from '../src/engine/record/read-all.ts';
import { agent, type Brain, begun, calls, open, says } from './place.ts';
import { number, table } from './table.ts';

interface Figure {
  readonly what: string;
  readonly early: number;
  readonly late: number;
  readonly unit: string;
  readonly atMost: number;
}

const KIB = 1024;
const CALL_EVERY = 6;

const median = (values: readonly number[]): number =>
  values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;

/** From asking for a prompt to its first model call, in a session with many behind it and in one with one. */
async function prompts(folder: string, count: number, rounds: number): Promise<Figure> {
  let asked = 0;
  const brain: Brain = (turn) => {
    if (turn === 1) asked = performance.now();
    return turn < CALL_EVERY ? calls('look', turn) : says('Done.');
  };
  const place = open(join(folder, 'prompts.db'), agent({}), 200, brain);
  const prompt = async (session?: SessionId): Promise<{ readonly session: SessionId; readonly ms: number }> => {
    const at = performance.now();
    const handle = await begun(place.engine, session);
    await handle.done;
    return { session: handle.session, ms: asked - at };
  };
  const { session } = await prompt();
  for (let index = 2; index < count; index += 1) await prompt(session);
  const early: number[] = [];
  const late: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const fresh = await prompt();
    early.push((await prompt(fresh.session)).ms);
    late.push((await prompt(session)).ms);
  }
  const events = (await readAll(place.ledger, session)).length;
  await place.close();
  const what = `first model call of prompt ${count} (${number(events)} events) and of prompt 2`;
  return { what, early: median(early), late: median(late), unit: 'ms', atMost: 1.3 };
}

/** From answering to the next model call, early in a run and late in another. */
async function approvals(folder: string, events: number, rounds: number): Promise<Figure> {
  let asked = 0;
  let asking = false;
  const brain: Brain = (turn) => {
    asked = performance.now();
    return turn % 8 === 0 && (turn === 8 || asking) ? calls('act', turn) : calls('look', turn);
  };
  const place = open(join(folder, 'approvals.db'), agent({}), 200, brain);
  const approve = async (run: RunId): Promise<{ readonly ms: number; readonly handle: RunHandle }> => {
    const [wait] = await place.engine.waits(run);
    const at = performance.now();
    await place.engine.answer(run, wait?.wait ?? '', { kind: 'approved' });
    const resumed = await place.engine.resume(run);
    if (resumed.kind !== 'resumed') throw new Error(resumed.kind);
    const before = asked;
    while (asked === before) await new Promise((resolve) => setImmediate(resolve));
    return { ms: asked - at, handle: resumed.handle };
  };
  const old = await begun(place.engine);
  await old.done;
  const goingOn = await approve(old.run);
  for (let length = 0; length < events; ) {
    await new Promise((resolve) => setTimeout(resolve, 50));
    length = (await place.ledger.read({ session: old.session, newest: true, limit: 1 }))[0]?.position ?? 0;
  }
  asking = true;
  await goingOn.handle.done;
  const early: number[] = [];
  const late: number[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const fresh = await begun(place.engine);
    await fresh.done;
    const first = await approve(fresh.run);
    early.push(first.ms);
    // It goes on until it asks again, and must not do so while the other one is measured.
    await first.handle.done;
    const next = await approve(old.run);
    late.push(next.ms);
    await next.handle.done;
  }
  await place.close();
  const what = `an approval at event ${number(events)} and at event 40`;
  return { what, early: median(early), late: median(late), unit: 'ms', atMost: 1.3 };
}

/** What is in use after a collection, late in a run and early in it. */
async function heap(folder: string, turns: number, does: 'look' | 'dig', what: string): Promise<Figure> {
  setFlagsFromString('--expose-gc');
  const collect = runInNewContext('gc') as () => void;
  const used = (): number => {
    collect();
    return process.memoryUsage().heapUsed / KIB / KIB;
  };
  let early = 0;
  let late = 0;
  const place = open(join(folder, `heap-${does}.db`), agent({ tools: [does], permissions: {} }), 100 * KIB, (turn) => {
    if (turn === 20) early = used();
    if (turn < turns) return calls(does, turn);
    late = used();
    return says('Done.');
  });
  await (await begun(place.engine)).done;
  await place.close();
  return { what: `heap at turn ${number(turns)} and at turn 20, ${what} of 100 KB`, early, late, unit: 'MB', atMost: 2 };
}

/** How many of a run's turns were condensed: the early figure is the turns, the late one how often. */
async function condensed(folder: string, turns: number, window: number, characters: number): Promise<Figure> {
  const definition = agent({ contextWindow: window * KIB });
  const brain: Brain = (turn) => (turn < turns ? calls('look', turn) : says('Done.'));
  const place = open(join(folder, `condensed-${window}-${characters}.db`), definition, characters, brain);
  const handle = await begun(place.engine);
  const end = await handle.done;
  if (end.kind !== 'ended' || end.result.status !== 'completed' || end.result.turns !== turns)
    throw new Error(JSON.stringify(end));
  const times = (await readAll(place.ledger, handle.session, { run: handle.run, types: ['task.summary'] })).length;
  await place.close();
  const what = `condensed in a window of ${window}k, results of ${number(Math.round(characters / KIB))} KB`;
  return { what, early: turns, late: times, unit: '', atMost: 0.1 };
}

const { values } = parseArgs({
  options: {
    prompts: { type: 'string', default: '500' },
    events: { type: 'string', default: '15000' },
    turns: { type: 'string', default: '2000' },
    rounds: { type: 'string', default: '31' },
    only: { type: 'string', default: 'prompts,approvals,heap,condensed' },
  },
});
const rounds = Number(values.rounds);
const turns = Number(values.turns);
const windows = [16, 32, 64].flatMap((window) => [2 * KIB, 100 * KIB].map((characters) => ({ window, characters })));
const parts: { readonly [name: string]: readonly ((folder: string) => Promise<Figure>)[] } = {
  prompts: [(folder) => prompts(folder, Number(values.prompts), rounds)],
  approvals: [(folder) => approvals(folder, Number(values.events), rounds)],
  heap: [(folder) => heap(folder, turns, 'look', 'results'), (folder) => heap(folder, turns, 'dig', 'attachments')],
  condensed: windows.map(
    ({ window, characters }) =>
      (folder) =>
        condensed(folder, turns, window, characters),
  ),
};

function row({ what, early, late, unit, atMost }: Figure): string[] {
  const ratio = late / early;
  const shown = (value: number): string => `${unit === '' ? value : value.toFixed(1)} ${unit}`.trim();
  return [what, shown(early), shown(late), ratio.toFixed(2), `${atMost}`, ratio <= atMost ? 'yes' : 'no'];
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-past-'));
try {
  const rows: string[][] = [];
  for (const name of values.only.split(',')) for (const measure of parts[name] ?? []) rows.push(row(await measure(folder)));
  console.log(table(['what', 'early', 'late', 'ratio', 'aim: at most', 'reached'], rows));
} finally {
  rmSync(folder, { recursive: true, force: true });
}
