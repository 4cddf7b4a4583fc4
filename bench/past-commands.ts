/**
 * The same question as `past.ts`, as somebody at a keyboard asks it: `node bench/past-commands.ts [--prompts 500] [--events 15000]
 * [--rounds 11]`. Each measurement is a process of its own, from its start to the first request that reaches the model's server:
 * a prompt in a session with many behind it and in one with one, and an approval late in a run and early in another. The past is
 * made in this process, on the same ledger.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import type { RunId, SessionId } from '../src/base/ids.ts';
import { present } from '../src/base/present.ts';
import type { RunHandle } from '../src/engine/port.ts';
import { createTroupe, type Troupe, userText } from '../src/index.ts';
import { startModelServer } from '../test/support/models/model-server.ts';
import type { Reply } from '../test/support/models/script.ts';
import { number, table } from './table.ts';

const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));
const AGENT = `---
name: worker
tools: [plan, write]
permissions: { write: ask }
maxTurns: 1000000
---
You work.
`;
const TURNS_PER_PROMPT = 6;
const AIM = 1.3;

const { values } = parseArgs({
  options: {
    prompts: { type: 'string', default: '500' },
    events: { type: 'string', default: '15000' },
    rounds: { type: 'string', default: '11' },
  },
});

/** Never twice the same: an agent that repeats itself is stopped. */
const plan = (turn: number): Reply => ({
  calls: [{ name: 'plan', input: { steps: [{ text: `part ${turn}`, status: 'active' }] } }],
});
/** Each run its own file: what an approval would come to must not change with another one. */
const write = (name: string): Reply => ({ calls: [{ name: 'write', input: { path: `${name}.txt`, content: 'x' } }] });
const done: Reply = { text: 'Done.' };

/** What the model says next, and who wants to know that it was asked. */
let reply: () => Reply = () => done;
let asked: (() => void) | undefined;

const median = (all: readonly number[]): number => all.toSorted((one, other) => one - other)[all.length >> 1] ?? Number.NaN;

/** From the start of the command to the first request; then the command may end. */
async function firstRequest(folder: string, env: NodeJS.ProcessEnv, args: readonly string[]): Promise<number> {
  const started = performance.now();
  const reached = new Promise<number>((resolve) => {
    asked = () => resolve(performance.now() - started);
  });
  const child = spawn(process.execPath, [MAIN, ...args], { cwd: folder, env, stdio: ['ignore', 'ignore', 'ignore'] });
  const ended = new Promise<'ended'>((resolve) => child.once('exit', () => resolve('ended')));
  const first = await Promise.race([reached, ended]);
  if (first === 'ended') throw new Error(`troupe ${args.join(' ')} ended without asking the model`);
  asked = undefined;
  await ended;
  return first;
}

async function begin(project: Troupe, session?: SessionId): Promise<RunHandle> {
  const started = await project.engine.start({
    agent: 'worker',
    input: userText('Do it.'),
    workspace: project.root,
    ...present({ session }),
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}

/** Says `plan` so many times, then this. */
function after(turns: number, last: Reply): () => Reply {
  let count = 0;
  return () => {
    count += 1;
    return count < turns ? plan(count) : last;
  };
}

async function sessionOf(project: Troupe, prompts: number): Promise<RunHandle> {
  let handle: RunHandle | undefined;
  for (let prompt = 0; prompt < prompts; prompt += 1) {
    reply = after(TURNS_PER_PROMPT, done);
    handle = await begin(project, handle?.session);
    await handle.done;
  }
  return handle as RunHandle;
}

/** A run that waits for a permission after so many events. */
async function waitingRun(project: Troupe, events: number, name: string): Promise<RunId> {
  reply = after(Math.max(2, Math.round(events / 5)), write(name));
  const handle = await begin(project);
  const end = await handle.done;
  if (end.kind !== 'waiting') throw new Error(JSON.stringify(end));
  return handle.run;
}

interface Pair {
  readonly early: number[];
  readonly late: number[];
}

function row(what: string, { early, late }: Pair): string[] {
  const ratio = median(late) / median(early);
  const shown = (ms: number): string => `${ms.toFixed(0)} ms`;
  return [what, shown(median(early)), shown(median(late)), ratio.toFixed(2), `${AIM}`, ratio <= AIM ? 'yes' : 'no'];
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-past-commands-'));
mkdirSync(join(folder, 'agents'));
writeFileSync(join(folder, 'agents', 'worker.md'), AGENT);
const server = await startModelServer(() => {
  asked?.();
  return reply();
});
const env = { PATH: process.env['PATH'], HOME: folder, OPENAI_BASE_URL: `${server.origin}/v1`, OPENAI_MODEL: 'bench' };
try {
  const rounds = Number(values.rounds);
  const prompts: Pair = { early: [], late: [] };
  const approvals: Pair = { early: [], late: [] };
  const project = await createTroupe({ root: folder, env });
  const old = await sessionOf(project, Number(values.prompts) - 1);
  const shorts: RunHandle[] = [];
  for (let round = 0; round < rounds; round += 1) shorts.push(await sessionOf(project, 1));
  const waits: { readonly early: RunId; readonly late: RunId }[] = [];
  const approvalRounds = Math.min(rounds, 5);
  for (let round = 0; round < approvalRounds; round += 1)
    waits.push({
      early: await waitingRun(project, 40, `early-${round}`),
      late: await waitingRun(project, Number(values.events), `late-${round}`),
    });
  await project.close();
  reply = () => done;
  for (const short of shorts) {
    prompts.early.push(await firstRequest(folder, env, ['run', 'worker', 'Go on.', '--session', short.session]));
    prompts.late.push(await firstRequest(folder, env, ['run', 'worker', 'Go on.', '--session', old.session]));
  }
  for (const { early, late } of waits) {
    approvals.early.push(await firstRequest(folder, env, ['approve', early]));
    approvals.late.push(await firstRequest(folder, env, ['approve', late]));
  }
  const rows = [
    row(`first model call of prompt ${values.prompts} and of prompt 2`, prompts),
    row(`an approval at event ${number(Number(values.events))} and at event 40`, approvals),
  ];
  console.log(table(['what, as a command', 'early', 'late', 'ratio', 'aim: at most', 'reached'], rows));
} finally {
  await server.close();
  rmSync(folder, { recursive: true, force: true });
}
