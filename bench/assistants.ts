/**
 * What talking with assistants costs: `node bench/assistants.ts [--messages 50] [--seconds 5] [--repetitions 20]`. Messages
 * between 200 threads' worth of senders and readers on one ledger file; polling 100 times a second, the service alone and
 * the whole of `troupe mcp` as a client sees it; and what runners cost, by bench/runners.ts. Prints tables.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { systemClock } from '../src/base/clock.ts';
import { pollInput, receiveInput, spawnOutput } from '../src/tools/assistants/schemas.ts';
import { CHILD, type Families, openFamilies, type Pair } from './assistants-family.ts';
import { cpuMs } from './meter.ts';
import { processCpuMs } from './process-cpu.ts';
import { median, number, spread, table } from './table.ts';

const SESSIONS = 20;
const CHILDREN = 10;
const POLLS_PER_SECOND = 100;
const WARM_CALLS = 2_000;
const PACED_REPETITIONS = 3;
const AIM_PERCENT = 5;
const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

const quietly = { signal: new AbortController().signal };
type Row = readonly [what: string, measured: string, aim: string];

async function must<Value>(outcome: Promise<{ ok: true; value: Value } | { ok: false; error: { message: string } }>) {
  const settled = await outcome;
  if (!settled.ok) throw new Error(settled.error.message);
  return settled.value;
}

/** Sends them one after the other, as a model would. */
async function sendAll({ service }: Families, pair: Pair, messages: number): Promise<void> {
  for (let index = 0; index < messages; index += 1) {
    const message = `${systemClock.now()} Message ${index}: look at the second table, please.`;
    await must(service.send(pair.parent, { to_assistant_id: CHILD, thread_id: pair.thread, message }, quietly));
  }
}

/** Reads until all have come, each marked as read; says how long each lay there. */
async function readAll({ service }: Families, pair: Pair, messages: number): Promise<readonly number[]> {
  const lags: number[] = [];
  const seen = new Set<string>();
  const input = receiveInput.parse({
    thread_id: pair.thread,
    unread_only: true,
    mark_as_read: true,
    last_n: 200,
    wait_ms: 5_000,
  });
  while (seen.size < messages) {
    const got = await must(service.receive(pair.child, input, quietly));
    const now = systemClock.now();
    for (const { id, created_at } of got.messages) {
      if (seen.has(id)) throw new Error(`message ${id} came twice`);
      seen.add(id);
      lags.push(now - created_at);
    }
  }
  return lags;
}

async function measureMessages(families: Families, messages: number): Promise<readonly Row[]> {
  await Promise.all(
    families.pairs.slice(0, CHILDREN).flatMap((pair) => [sendAll(families, pair, 5), readAll(families, pair, 5)]),
  );
  const cpu = cpuMs();
  const start = performance.now();
  const reading = families.pairs.map((pair) => readAll(families, pair, messages));
  await Promise.all(families.pairs.map((pair) => sendAll(families, pair, messages)));
  const lags = (await Promise.all(reading)).flat().toSorted((left, right) => left - right);
  const total = families.pairs.length * messages;
  const seconds = (performance.now() - start) / 1_000;
  const late = lags[Math.floor(lags.length * 0.95)] ?? Number.NaN;
  return [
    [`messages sent, read and marked per second, ${families.pairs.length} threads`, number(total / seconds), '–'],
    ['CPU per message, ms', number((cpuMs() - cpu) / total), '–'],
    ['sent to read, ms: median, 95 %', `${number(median(lags))}, ${number(late)}`, '–'],
  ];
}

/** CPU of one process: milliseconds for each of many calls in a row, and percent of a core for calls at a pace. */
interface Share {
  readonly callMs: number;
  readonly percents: readonly number[];
}

async function shareOfCore(seconds: number, cpu: () => number, call: (round: number) => Promise<unknown>): Promise<Share> {
  const straight = async (calls: number): Promise<number> => {
    const begin = cpu();
    for (let round = 0; round < calls; round += 1) await call(round);
    return (cpu() - begin) / calls;
  };
  await straight(WARM_CALLS);
  const callMs = await straight(WARM_CALLS);
  const percents: number[] = [];
  for (let repetition = 0; repetition < PACED_REPETITIONS; repetition += 1) percents.push(await paced(seconds, cpu, call));
  return { callMs, percents };
}

async function paced(seconds: number, cpu: () => number, call: (round: number) => Promise<unknown>): Promise<number> {
  const begin = cpu();
  const start = performance.now();
  const pending: Promise<unknown>[] = [];
  for (let round = 0; round < seconds * POLLS_PER_SECOND; round += 1) {
    const wait = start + (round * 1_000) / POLLS_PER_SECOND - performance.now();
    if (wait > 0) await new Promise((resolve) => setTimeout(resolve, wait));
    pending.push(call(round));
  }
  await Promise.all(pending);
  return (100 * (cpu() - begin)) / (performance.now() - start);
}

/** Without a server: the calls, and the timer that makes them. */
async function measureService(families: Families, seconds: number): Promise<readonly Row[]> {
  const share = await shareOfCore(seconds, cpuMs, (round) => {
    const pair = families.pairs[round % families.pairs.length];
    if (pair === undefined) throw new Error('nobody to poll');
    return must(families.service.poll(pair.parent, pollInput.parse({ process_id: pair.process }), quietly));
  });
  return asRows('poll, the service alone', share);
}

/** The real server with an assistant that is at work, polled by the official client; only the server's time counts. */
async function measureServer(root: string, seconds: number): Promise<readonly Row[]> {
  mkdirSync(join(root, 'agents'));
  writeFileSync(join(root, 'agents/helper.md'), '---\ndescription: Takes its time.\n---\nYou help.\n');
  writeFileSync(join(root, 'troupe.yaml'), 'model: scripted:replies.yaml\n');
  writeFileSync(join(root, 'replies.yaml'), '[{ delayMs: 600000, text: Done. }]\n');
  const env = { PATH: `${dirname(process.execPath)}:${process.env['PATH']}`, HOME: root, TROUPE_HOME: join(root, 'state') };
  const transport = new StdioClientTransport({ command: process.execPath, args: [MAIN, '-C', root, 'mcp'], env });
  const client = new Client({ name: 'bench', version: '1' });
  await client.connect(transport);
  try {
    const pid = transport.pid ?? 0;
    const spawning = { name: 'spawn_assistant', arguments: { assistant_id: 'helper', query: 'Wait.' } };
    const { process_id } = spawnOutput.parse((await client.callTool(spawning)).structuredContent);
    const polling = { name: 'poll_assistant', arguments: { process_id } };
    const share = await shareOfCore(
      seconds,
      () => processCpuMs(pid),
      () => client.callTool(polling),
    );
    await client.callTool({ name: 'cancel_assistant', arguments: { process_id } });
    return asRows('poll over MCP, the whole server', share);
  } finally {
    await client.close();
  }
}

function asRows(what: string, { callMs, percents }: Share): readonly Row[] {
  const missed = median(percents) < AIM_PERCENT ? '' : ' (missed)';
  return [
    [`${what}: CPU per call, one after the other, ms`, number(callMs), '–'],
    [`${what}: 100 a second, % of a core`, spread(percents), `below ${AIM_PERCENT}${missed}`],
  ];
}

const { values } = parseArgs({
  options: {
    messages: { type: 'string', default: '50' },
    seconds: { type: 'string', default: '5' },
    repetitions: { type: 'string', default: '20' },
  },
});
const root = mkdtempSync(join(tmpdir(), 'troupe-bench-assistants-'));
try {
  const families = await openFamilies(join(root, 'ledger.db'), SESSIONS, CHILDREN);
  const messages = await measureMessages(families, Number(values.messages));
  const service = await measureService(families, Number(values.seconds));
  await families.close();
  const server = await measureServer(root, Number(values.seconds));
  process.stdout.write(`${table(['messages and polling', 'measured', 'aim'], [...messages, ...service, ...server])}\n\n`);
} finally {
  rmSync(root, { recursive: true, force: true });
}
const runners = fileURLToPath(new URL('./runners.ts', import.meta.url));
process.stdout.write(execFileSync(process.execPath, [runners, '--repetitions', values.repetitions], { encoding: 'utf8' }));
