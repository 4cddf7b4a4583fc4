/**
 * How long a fork takes to its first live call: `node bench/fork.ts [--turns 500] [--at 400] [--rounds 9]`. The command line as
 * it is published, in turns: `troupe run`, and `troupe fork` in the middle of a long run, each from the start of its process
 * until a model server has its first request. Its aim is 1.5 times a fresh run.
 */
import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { loadavg } from 'node:os';
import { parseArgs } from 'node:util';
import { build, builtFolder } from './build.ts';
import { withFolder } from './processes.ts';
import { number, spread, table } from './table.ts';

const { values } = parseArgs({
  options: {
    turns: { type: 'string', default: '500' },
    at: { type: 'string', default: '400' },
    rounds: { type: 'string', default: '9' },
  },
});
const turns = Number(values.turns);
const MOST_TIMES = 1.5;

let asked = 0;
let onAsked = (): void => undefined;
const answer = (): object => {
  const call = {
    id: `c${asked}`,
    type: 'function',
    function: { name: 'list', arguments: JSON.stringify({ path: `d${asked}` }) },
  };
  const message = asked < turns ? { tool_calls: [call] } : { content: 'Done.' };
  const choices = [
    { index: 0, finish_reason: asked < turns ? 'tool_calls' : 'stop', message: { role: 'assistant', ...message } },
  ];
  return {
    id: 'x',
    object: 'chat.completion',
    created: 1,
    model: 'bench',
    choices,
    usage: { prompt_tokens: 9, completion_tokens: 9 },
  };
};
const server = createServer((incoming, outgoing) => {
  asked += 1;
  onAsked();
  incoming.resume();
  incoming.on('end', () => outgoing.setHeader('content-type', 'application/json').end(JSON.stringify(answer())));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

function troupe(folder: string, ...words: readonly string[]): ChildProcess {
  const { PATH = '' } = process.env;
  const env = { PATH, HOME: folder, OPENAI_API_KEY: 'sk-bench', OPENAI_BASE_URL: `${origin}/v1`, TROUPE_MODEL: 'openai/bench' };
  return spawn(process.execPath, [`${builtFolder}/src/cli/main.js`, ...words], {
    cwd: folder,
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
}

/** From the start of the process to the first request; then it is not needed any more. */
async function firstCall(folder: string, ...words: readonly string[]): Promise<number> {
  const called = Promise.withResolvers<number>();
  const at = performance.now();
  onAsked = () => called.resolve(performance.now() - at);
  const child = troupe(folder, ...words, '--quiet');
  const ended = once(child, 'close');
  const early = ended.then(([code]) => Promise.reject(new Error(`${words[0]} ended with ${code} and asked nobody`)));
  const ms = await Promise.race([called.promise, early]);
  early.catch(() => undefined);
  onAsked = () => undefined;
  child.kill('SIGKILL');
  await ended;
  return ms;
}

build();
await withFolder(async (folder) => {
  mkdirSync(`${folder}/agents`);
  writeFileSync(`${folder}/agents/worker.md`, '---\nname: worker\ntools: [list]\nmaxTurns: 100000\n---\nYou work.\n');
  writeFileSync(`${folder}/troupe.yaml`, '');
  const source = troupe(folder, 'run', 'worker', 'Do what there is to do.', '--quiet');
  await once(source, 'close');
  if (asked !== turns) throw new Error(`the run to be forked asked ${asked} times`);
  const before = loadavg()[0] ?? 0;
  const rounds: { readonly fresh: number; readonly forked: number }[] = [];
  const shown = spawnSync(process.execPath, [`${builtFolder}/src/cli/main.js`, 'ps', '--all', '--json'], {
    cwd: folder,
    encoding: 'utf8',
  });
  const run = /run_\w+/.exec(shown.stdout)?.[0] ?? '';
  for (let round = 0; round < Number(values.rounds) + 1; round += 1) {
    const fresh = await firstCall(folder, 'run', 'worker', 'Do what there is to do.');
    const forked = await firstCall(folder, 'fork', run, '--at', `turn ${values.at}`);
    if (round > 0) rounds.push({ fresh, forked });
  }
  const row = (what: string, figures: readonly number[], digits: number, aim: string) => [what, spread(figures, digits), aim];
  console.log(
    table(
      ['process start to first live call', 'ms', 'aim'],
      [
        row(
          'troupe run',
          rounds.map(({ fresh }) => fresh),
          0,
          '',
        ),
        row(
          `troupe fork at turn ${values.at} of ${number(turns)}`,
          rounds.map(({ forked }) => forked),
          0,
          '',
        ),
        row(
          'times a fresh run',
          rounds.map(({ fresh, forked }) => forked / fresh),
          2,
          `at most ${MOST_TIMES}`,
        ),
      ],
    ),
  );
  console.log(`load before ${before.toFixed(1)}, after ${(loadavg()[0] ?? 0).toFixed(1)}`);
});
server.close();
