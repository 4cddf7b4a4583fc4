/**
 * What a task costs that comes by A2A: `node bench/a2a.ts [--tasks 300] [--rounds 3] [--streams 200]`. `troupe serve`, durable,
 * against the SDK's sample server with the same work (bench/a2a-sample.ts), in memory and with a file: CPU of the server for each
 * task, many streams at once, and the memory of an open subscription; then what a dispatch with one agent costs over that agent
 * itself. Prints a table.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseJson } from '../src/base/json.ts';
import { FINAL_MARK, ROUTER_MODEL, SYSTEM_PROMPT, USER_PROMPT } from './common.ts';
import { processCpuMs } from './process-cpu.ts';
import { median, number, spread, table } from './table.ts';

const CALLERS = ['anna', 'bert', 'cleo', 'dora'];
const AT_A_TIME = 8;
const tokenOf = (caller: string): string => `${caller}-0123456789abcdef`;
/** Holds the model's answer back for ever. */
const WAITS = 'Wait. ';

interface Side {
  readonly name: string;
  readonly process: ChildProcess;
  url(agent: string): string;
}

async function start(name: string, args: readonly string[], env: Record<string, string> = {}) {
  const child = spawn(process.execPath, [...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  return { name, child, line: String(line) };
}

function writeProject(folder: string, model: string): Record<string, string> {
  mkdirSync(join(folder, 'agents'));
  const agent = (name: string, head: string, body: string): void =>
    writeFileSync(
      join(folder, 'agents', `${name}.md`),
      `---\nname: ${name}\ndescription: Answers\na2a: true\n${head}---\n${body}\n`,
    );
  agent('direct', 'model: openai/bench-t1\nisolation: inline\n', SYSTEM_PROMPT);
  agent('waiting', 'model: openai/bench-t1-s0\nisolation: inline\n', SYSTEM_PROMPT);
  agent('front', `model: openai/${ROUTER_MODEL}\nisolation: inline\ndispatch: { agents: [direct] }\n`, SYSTEM_PROMPT);
  writeFileSync(join(folder, 'troupe.yaml'), 'assistants: { active: 1000 }\n');
  const TROUPE_TOKENS = CALLERS.map((caller) => `${caller}=${tokenOf(caller)}`).join(',');
  return { HOME: folder, OPENAI_API_KEY: 'none', OPENAI_BASE_URL: model, TROUPE_TOKENS, TROUPE_TOKEN: tokenOf('owner') };
}

let serial = 0;
const call = (method: string, params: object, side: Side, agent: string, caller: string): Promise<Response> =>
  fetch(side.url(agent), {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', authorization: `Bearer ${tokenOf(caller)}` },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
  });

function saying(text: string, returnImmediately = false): object {
  serial += 1;
  const message = { messageId: `m${serial}-${process.pid}`, role: 'ROLE_USER', parts: [{ text }] };
  return { message, configuration: { returnImmediately } };
}

const sent = z.object({ result: z.object({ task: z.object({ id: z.string() }) }) });

async function oneTask(side: Side, agent: string): Promise<void> {
  const text = await (await call('SendMessage', saying(USER_PROMPT), side, agent, 'anna')).text();
  if (!text.includes(FINAL_MARK) || !text.includes('TASK_STATE_COMPLETED'))
    throw new Error(`${side.name}: ${text.slice(0, 500)}`);
}

/** CPU of the server for each of so many tasks, a few at a time. */
async function cpuPerTask(side: Side, agent: string, tasks: number): Promise<number> {
  const before = processCpuMs(side.process.pid ?? 0);
  let left = tasks;
  const work = async (): Promise<void> => {
    for (; left > 0; ) {
      left -= 1;
      await oneTask(side, agent);
    }
  };
  await Promise.all(Array.from({ length: AT_A_TIME }, work));
  return (processCpuMs(side.process.pid ?? 0) - before) / tasks;
}

const event = z.object({
  result: z.object({
    task: z.object({ status: z.object({ state: z.string() }) }).optional(),
    statusUpdate: z.object({ status: z.object({ state: z.string() }) }).optional(),
    artifactUpdate: z.object({ append: z.boolean().optional(), artifact: z.object({ parts: z.array(z.unknown()) }) }).optional(),
  }),
});

/** Whether a stream said what it should, in order: the task, at work, the whole answer, the end. */
async function followed(side: Side, caller: string): Promise<void> {
  const text = await (await call('SendStreamingMessage', saying(USER_PROMPT), side, 'direct', caller)).text();
  const events = text.split('\n\n').flatMap((block) => {
    const read = parseJson(block.replace(/^data: /, ''));
    return read.ok ? [event.parse(read.value).result] : [];
  });
  const states = events.flatMap(({ task, statusUpdate }) => (task ?? statusUpdate)?.status.state ?? []);
  const order = ['TASK_STATE_SUBMITTED', 'TASK_STATE_WORKING', 'TASK_STATE_COMPLETED'];
  const inOrder = states.every((state, index) => index === 0 || order.indexOf(state) >= order.indexOf(states[index - 1] ?? ''));
  const whole = events.findLast(({ artifactUpdate }) => artifactUpdate !== undefined && artifactUpdate.append !== true);
  const ended = states.at(-1) === 'TASK_STATE_COMPLETED' && events.at(-1)?.statusUpdate !== undefined;
  if (!inOrder || !ended || events[0]?.task === undefined || !JSON.stringify(whole).includes(FINAL_MARK))
    throw new Error(`${side.name}: ${text.slice(0, 2_000)}`);
}

async function streams(side: Side, count: number): Promise<number> {
  const before = processCpuMs(side.process.pid ?? 0);
  await Promise.all(Array.from({ length: count }, (_, index) => followed(side, CALLERS[index % CALLERS.length] ?? '')));
  return (processCpuMs(side.process.pid ?? 0) - before) / count;
}

const residentKib = ({ process: { pid } }: Side): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

/** What so many open subscriptions take, each of which has heard the first event. */
async function kibPerSubscription(side: Side, count: number): Promise<number> {
  const readers: ReadableStreamDefaultReader[] = [];
  const tasks: string[] = [];
  for (const caller of CALLERS) {
    const begun = await call('SendMessage', saying(`${WAITS}${USER_PROMPT}`, true), side, 'waiting', caller);
    tasks.push(sent.parse(await begun.json()).result.task.id);
  }
  const open = async (many: number): Promise<void> => {
    for (let index = 0; index < many; index += 1) {
      const at = index % CALLERS.length;
      const response = await call('SubscribeToTask', { id: tasks[at] }, side, 'waiting', CALLERS[at] ?? '');
      const reader = response.body?.getReader();
      if (reader === undefined || (await reader.read()).done === true) throw new Error(`${side.name}: nothing came`);
      readers.push(reader);
    }
  };
  // The first ones pay for what all share.
  await open(count);
  for (const reader of readers.splice(0)) await reader.cancel();
  const before = residentKib(side);
  await open(count);
  const after = residentKib(side);
  for (const reader of readers) await reader.cancel();
  return (after - before) / count;
}

const { values } = parseArgs({
  options: {
    tasks: { type: 'string', default: '300' },
    rounds: { type: 'string', default: '3' },
    streams: { type: 'string', default: '200' },
  },
});
const [tasks, rounds, many] = [Number(values.tasks), Number(values.rounds), Number(values.streams)];
const folder = mkdtempSync(join(tmpdir(), 'troupe-bench-a2a-'));
const here = import.meta.dirname;
const model = await start('model', [join(here, 'server.ts')]);
const base = `http://127.0.0.1:${model.line.replace('PORT ', '')}/v1`;
const sample = await start('sample', [join(here, 'a2a-sample.ts'), base]);
const kept = await start('durable sample', [join(here, 'a2a-sample.ts'), base, join(folder, 'sample.db')]);
const serve = [join(here, '../src/cli/main.ts'), '-C', folder, 'serve', '--port', '0'];
const troupe = await start('troupe', serve, writeProject(folder, base));
try {
  const theirs: Side = { name: 'sample', process: sample.child, url: () => `${sample.line}/a2a` };
  const durable: Side = { name: 'durable sample', process: kept.child, url: () => `${kept.line}/a2a` };
  const { origin } = new URL(troupe.line);
  const ours: Side = { name: 'troupe', process: troupe.child, url: (agent) => `${origin}/a2a/agents/${agent}` };
  // Before the heap has grown for other reasons.
  const memory = [await kibPerSubscription(theirs, many), await kibPerSubscription(ours, many)].map((one) => number(one));
  const cpu = { theirs: [] as number[], durable: [] as number[], ours: [] as number[], front: [] as number[] };
  for (const side of [theirs, durable, ours]) await cpuPerTask(side, 'direct', tasks);
  await cpuPerTask(ours, 'front', tasks);
  for (let round = 0; round < rounds; round += 1) {
    cpu.theirs.push(await cpuPerTask(theirs, 'direct', tasks));
    cpu.durable.push(await cpuPerTask(durable, 'direct', tasks));
    cpu.ours.push(await cpuPerTask(ours, 'direct', tasks));
    cpu.front.push(await cpuPerTask(ours, 'front', tasks));
  }
  const ratios = cpu.ours.map((one, round) => one / (cpu.theirs[round] ?? Number.NaN));
  const overDurable = cpu.ours.map((one, round) => one / (cpu.durable[round] ?? Number.NaN));
  const streamed = [await streams(theirs, many), await streams(ours, many)].map((one) => number(one));
  const over = cpu.front.map((one, round) => one - (cpu.ours[round] ?? Number.NaN));
  const rows = [
    ['CPU of the server for a task, ms', spread(cpu.theirs), spread(cpu.ours), spread(ratios)],
    ['the same, against a sample that is durable', spread(cpu.durable), spread(cpu.ours), spread(overDurable)],
    [`${many} streams at once, all in order: CPU for each, ms`, ...streamed, '–'],
    ['memory of an open subscription, KiB', ...memory, '–'],
    ['dispatch to one agent: CPU for a task, ms', '–', spread(cpu.front), `${spread(over)} more than the agent itself`],
  ];
  process.stdout.write(`${table([`${tasks} tasks`, "SDK's sample", 'troupe serve', 'ratio'], rows)}\n\n`);
  process.stdout.write(`Held against the durable sample (docs/decisions/0027): ${number(median(overDurable))} times its CPU.\n`);
} finally {
  for (const { child } of [troupe, sample, kept, model]) child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
