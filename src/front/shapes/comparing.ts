/** What programs get of a run that was played again, and of two runs held against each other. */
import { z } from 'zod';
import { failure } from '../../events/catalogue.ts';
import { forkSource } from '../../events/going-on.ts';
import { tokens } from './runs.ts';

const count = z.number().int().nonnegative();

const replayCounts = {
  run: z.string().describe('the root run: a run is played again with the whole tree that it is in'),
  status: z.string(),
  runs: count,
  events: count.describe('recorded events that were come to again'),
};

export const replayed = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('identical'), ...replayCounts }),
  z.object({
    kind: z.literal('different'),
    first: z.object({
      kind: z.enum(['changed', 'missing', 'new']),
      run: z.string(),
      agent: z.string(),
      type: z.string(),
      step: z.string(),
      position: count.describe('of the recorded event; of a new one, behind which event of its run'),
      path: z.string().describe('the part of the payload; empty for the whole'),
      recorded: z.unknown().optional(),
      now: z.unknown().optional(),
    }),
    ...replayCounts,
  }),
]);

const comparedAct = z.object({
  run: z.string(),
  agent: z.string(),
  path: z.string().describe('down to it in the tree of runs'),
  event: z.string(),
  kind: z.enum(['call', 'start', 'decision', 'answer', 'failure', 'words', 'end']),
  name: z.string().describe('a tool, an agent, the type of an event'),
  given: z.string().describe('the arguments as canonical JSON; ids and folders are left out'),
  result: z.string().nullable(),
  failed: z.boolean(),
  answer: z.string().nullable().describe('what a person said to what the call asked'),
  cut: z.boolean().describe('these texts are longer than what is shown of them'),
});

const divergence = z.object({
  kind: z.enum(['changed', 'answer', 'result', 'only_a', 'only_b']),
  a: comparedAct.nullable(),
  b: comparedAct.nullable(),
  below: count.describe('steps of the runs that it began, where the other side has none'),
});

const sameSteps = z.object({
  kind: z.literal('same'),
  count,
  moved: count.describe('how many of them stand in another place of their turn'),
  a: comparedAct.describe('the first of them'),
  b: comparedAct,
});

const comparedSide = z.object({
  run: z.string(),
  session: z.string(),
  agent: z.string(),
  status: z.string(),
  ended: z.boolean(),
  verification: z.string().nullable(),
  error: failure.nullable(),
  turns: count,
  toolCalls: count,
  runs: count,
  tokens,
  cost: z.object({
    nanoUsd: count.describe('with what a fork took over'),
    unknownCalls: count,
    takenOver: count.describe('what of it was spent by the source of a fork'),
  }),
  durationMs: z.number().nonnegative().describe('of a fork, since it went on by itself'),
  events: count,
  forked: forkSource.nullable(),
});

export const comparedRuns = z.object({
  same: z.boolean(),
  a: comparedSide,
  b: comparedSide,
  prose: z.boolean().describe('words of agents were compared too'),
  terms: z.array(
    z.object({
      path: z.string(),
      what: z.enum(['agent', 'prompt', 'model', 'system', 'tools', 'settings']),
      a: z.string(),
      b: z.string(),
    }),
  ),
  first: divergence.nullable(),
  counts: z.object({
    ...{ same: count, moved: count, changed: count, answers: count, results: count, onlyA: count, onlyB: count },
  }),
  steps: z.array(z.union([sameSteps, divergence])),
  left: count.describe('divergences that are counted and not among the steps'),
  byStep: z.boolean().describe('they differ by too much to be aligned, and were compared step by step'),
  sameAnswer: z.boolean().nullable(),
  files: z.object({
    ...{ same: count, different: count, onlyA: count, onlyB: count },
    changed: z.array(
      z.object({
        path: z.string(),
        how: z.enum(['same', 'different', 'only_a', 'only_b']),
        a: z.string().nullable().describe('the SHA-256 of what it holds in the end; null where it was removed'),
        b: z.string().nullable(),
      }),
    ),
  }),
});
