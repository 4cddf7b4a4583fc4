/**
 * What it costs to play a run again: `node bench/replay.ts [--turns 500] [--rounds 15]`. In one process and in turns: the events
 * read and folded, the loop alone over the same answers, and the replay. Its aim is 1.2 times the first two together.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { limits } from '../src/base/limits.ts';
import { readAll } from '../src/engine/record/read-all.ts';
import type { LedgerEvent } from '../src/events/envelope.ts';
import { type UserMessage, userText } from '../src/events/messages.ts';
import type { Ledger } from '../src/ledger/port.ts';
import { plainReport } from '../src/loop/final-report.ts';
import { runLoop } from '../src/loop/loop.ts';
import type { TurnOutcome } from '../src/loop/port.ts';
import { foldCosts, initialCosts } from '../src/projections/costs.ts';
import { foldRunTree, initialRunTree } from '../src/projections/run-tree.ts';
import { createTranscripts, resultPart } from '../src/projections/transcript.ts';
import { replayRun } from '../src/replay/replay.ts';
import { cpuMs } from './meter.ts';
import { agent, begun, calls, open, says } from './place.ts';
import { number, spread, table } from './table.ts';

const { values } = parseArgs({
  options: { turns: { type: 'string', default: '500' }, rounds: { type: 'string', default: '15' } },
});
const turns = Number(values.turns);
const MOST_MS = 2_000;
const MOST_TIMES = 1.2;

async function fold(ledger: Ledger, session: LedgerEvent['session_id']): Promise<void> {
  const transcripts = createTranscripts();
  let tree = initialRunTree();
  let costs = initialCosts();
  for (const event of await readAll(ledger, session)) {
    transcripts.apply(event);
    tree = foldRunTree(tree, event);
    costs = foldCosts(costs, event);
  }
  if (tree.runs.size !== 1 || costs.total.calls !== turns) throw new Error('the fold saw something else');
}

/** The loop of the run on ports that answer at once what is recorded. */
async function loopAlone(events: readonly LedgerEvent[]): Promise<void> {
  const answers = new Map<string, TurnOutcome>();
  const results = new Map<string, ReturnType<typeof resultPart>>();
  let specs: Extract<LedgerEvent, { event_type: 'session.config' }>['payload']['tools'] = [];
  let request: UserMessage = userText('');
  for (const event of events) {
    const { step } = event;
    if (event.event_type === 'run.started') request = event.payload.input as UserMessage;
    if (event.event_type === 'session.config') specs = event.payload.tools;
    if (event.event_type === 'model.response') answers.set(step ?? '', { kind: 'answer', answer: event.payload });
    if (event.event_type === 'tool.result') results.set(step ?? '', resultPart(event.payload));
  }
  const limitsOf = { maxTurns: 100_000, turnsBefore: 0, maxToolCallsPerTurn: limits.maxToolCallsPerTurn };
  const result = await runLoop(
    {
      ...{ agent: 'worker', system: 'You work.', history: [], request, exits: [], plain: plainReport({ format: 'markdown' }) },
      limits: {
        ...{ ...limitsOf, contextWindow: limits.contextWindowTokens, maxOutputTokens: limits.maxOutputTokens },
        ...{ loopNudgeAt: limits.loopNudgeAt, loopStopAt: limits.loopStopAt },
      },
    },
    {
      model: { ask: async ({ turn }) => answers.get(`turn/${turn}/model`) ?? { kind: 'no_budget', scope: '', message: 'none' } },
      tools: { specs, call: async (turn, index) => results.get(`turn/${turn}/tool/${index}`) as ReturnType<typeof resultPart> },
      condense: async ({ text }) => userText(text),
      reference: () => undefined,
      signal: new AbortController().signal,
    },
  );
  if (result.turns !== turns) throw new Error(`the loop took ${result.turns} turns`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const at = cpuMs();
  await work();
  return cpuMs() - at;
}

const folder = mkdtempSync(join(tmpdir(), 'troupe-replay-'));
try {
  const place = open(join(folder, 'ledger.db'), agent({ permissions: { look: 'allow' } }), 200, (turn) =>
    turn < turns ? calls('look', turn) : says('Done.'),
  );
  const handle = await begun(place.engine);
  await handle.done;
  const { ledger } = place;
  const events = await readAll(ledger, handle.session);
  const rounds: { readonly fold: number; readonly loop: number; readonly replay: number }[] = [];
  const before = loadavg()[0] ?? 0;
  for (let round = 0; round < Number(values.rounds) + 3; round += 1) {
    const measured = {
      fold: await timed(() => fold(ledger, handle.session)),
      loop: await timed(() => loopAlone(events)),
      replay: await timed(async () => {
        const outcome = await replayRun(ledger, handle.run);
        if (outcome.kind !== 'identical') throw new Error(JSON.stringify(outcome));
      }),
    };
    // The first ones are not compiled yet.
    if (round >= 3) rounds.push(measured);
  }
  await place.close();
  const times = rounds.map((one) => one.replay / (one.fold + one.loop));
  const row = (what: string, figures: readonly number[], aim: string): string[] => [what, spread(figures, 1), aim];
  console.log(
    table(
      [`${number(turns)} turns, ${number(events.length)} events`, 'ms of CPU', 'aim'],
      [
        row(
          'events read and folded',
          rounds.map(({ fold }) => fold),
          '',
        ),
        row(
          'the loop alone',
          rounds.map(({ loop }) => loop),
          '',
        ),
        row(
          'played again',
          rounds.map(({ replay }) => replay),
          `below ${number(MOST_MS)}`,
        ),
        ['times both together', spread(times, 2), `at most ${MOST_TIMES}`],
      ],
    ),
  );
  console.log(`load before ${before.toFixed(1)}, after ${(loadavg()[0] ?? 0).toFixed(1)}`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
