/**
 * How much memory it takes to write a session out: `node bench/export.ts [--events 10000,100000]`. The command line as it is
 * published writes a session of each size, as a bundle, packed and not, and as lines of JSON; its greatest resident memory is
 * compared. Flat means that ten times the events take at most 1.2 times the memory. The heap has a ceiling: without one Node
 * collects the less the more there is free, and what is measured is that (`--heap 0` shows it).
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { build, builtFolder } from './build.ts';
import { agent, begun, calls, open, says } from './place.ts';
import { withFolder } from './processes.ts';
import { bytes, number, table } from './table.ts';

const { values } = parseArgs({
  options: { events: { type: 'string', default: '10000,100000' }, heap: { type: 'string', default: '64' } },
});
const NODE_OPTIONS = values.heap === '0' ? '' : `--max-old-space-size=${values.heap} --max-semi-space-size=4`;
const sizes = values.events.split(',').map(Number);
const MOST_TIMES = 1.2;
/** Of a turn with one call. */
const EVENTS_A_TURN = 4;
const RESULT_CHARACTERS = 1_000;

/** Told by the process itself when it ends. */
const PEAK =
  "process.on('exit', () => require('node:fs').writeFileSync(process.env.PEAK, String(process.resourceUsage().maxRSS)))";

/** A project with one run of so many events. */
async function project(folder: string, events: number): Promise<number> {
  mkdirSync(join(folder, '.troupe'), { recursive: true });
  writeFileSync(join(folder, 'troupe.yaml'), '');
  const turns = Math.ceil(events / EVENTS_A_TURN);
  const definition = agent({ tools: ['look'], permissions: { look: 'allow' }, maxTurns: 1_000_000, contextWindow: 16_000 });
  const place = open(join(folder, '.troupe/ledger.db'), definition, RESULT_CHARACTERS, (turn) =>
    turn < turns ? calls('look', turn) : says('Done.'),
  );
  const handle = await begun(place.engine);
  const end = await handle.done;
  if (end.kind !== 'ended') throw new Error(JSON.stringify(end));
  const [last] = await place.ledger.read({ session: handle.session, newest: true, limit: 1 });
  await place.close();
  return last?.position ?? 0;
}

interface Written {
  readonly peakBytes: number;
  readonly fileBytes: number;
  readonly ms: number;
}

async function exported(folder: string, name: string, words: readonly string[]): Promise<Written> {
  const [file, peak, hook] = [join(folder, name), join(folder, 'peak'), join(folder, 'peak.cjs')];
  writeFileSync(hook, PEAK);
  const { PATH = '' } = process.env;
  const at = performance.now();
  const child = spawn(
    process.execPath,
    ['--require', hook, `${builtFolder}/src/cli/main.js`, 'export', 'last', ...words, '-o', file],
    { cwd: folder, env: { PATH, HOME: folder, PEAK: peak, NODE_OPTIONS }, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  const [code] = await once(child, 'close');
  if (code !== 0) throw new Error(`export ended with ${code}`);
  const ms = performance.now() - at;
  return { peakBytes: Number(readFileSync(peak, 'utf8')) * 1_024, fileBytes: statSync(file).size, ms };
}

const ways: readonly (readonly [what: string, file: string, words: readonly string[]])[] = [
  ['--bundle', 'a.tar', ['--bundle']],
  ['--bundle, packed', 'a.tar.gz', ['--bundle']],
  ['--format jsonl', 'a.jsonl', ['--format', 'jsonl']],
];

build();
await withFolder(async (folder) => {
  const before = loadavg()[0] ?? 0;
  const found = new Map<string, Written[]>();
  const counts: number[] = [];
  for (const events of sizes) {
    const own = join(folder, String(events));
    counts.push(await project(own, events));
    for (const [what, file, words] of ways) found.set(what, [...(found.get(what) ?? []), await exported(own, file, words)]);
  }
  const rows = [...found].map(([what, all]) => {
    const times = (all.at(-1)?.peakBytes ?? Number.NaN) / (all[0]?.peakBytes ?? Number.NaN);
    const shown = all.map(
      ({ peakBytes, fileBytes, ms }) => `${bytes(peakBytes)} for ${bytes(fileBytes)} in ${number(ms / 1_000)} s`,
    );
    return [what, ...shown, number(times, 2), `at most ${MOST_TIMES}`, times <= MOST_TIMES ? 'yes' : 'no'];
  });
  const heads = counts.map((count) => `${number(count)} events`);
  console.log(table(['troupe export', ...heads, 'times the memory', 'aim', 'reached'], rows));
  console.log(`load before ${before.toFixed(1)}, after ${(loadavg()[0] ?? 0).toFixed(1)}`);
});
