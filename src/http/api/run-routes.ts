/** Runs: listed, shown, started and steered. */
import { z } from 'zod';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail } from '../../base/result.ts';
import { budget, forkSource } from '../../events/going-on.ts';
import { goOnFromOutside, retryRun, sayTo, signalRun, startRun } from '../../front/acts.ts';
import { forkFromOutside } from '../../front/forks/forks.ts';
import { readPsRows } from '../../front/run-rows.ts';
import { psRow, shown, signalled } from '../../front/shapes/runs.ts';
import { readShownRun, shownValue } from '../../front/shown-run.ts';
import { visibleRuns } from '../../front/sight.ts';
import { actingNeeds, actOf, type RouteNeeds, replied, runIn, value } from './needs.ts';
import { notFound } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

const group = 'Runs';
/** What starting a run answers with. */
export const started = z.object({
  run: z.string(),
  session: z.string(),
  before: z.boolean().describe('an earlier request of this key did it'),
});
/** What forking one answers with. */
const forkStarted = started.extend({ from: forkSource, notes: z.array(z.string()) });
const words = z.string().min(1).max(limits.promptBytes);
const reason = z.string().min(1).max(1_000);
const listQuery = z.strictObject({
  limit: z.coerce.number().int().min(1).max(limits.listedRuns).default(20),
  all: z.enum(['yes', 'no']).default('no').describe('every run below a root, and not only those that were spawned'),
});

export function runRoutes(needs: RouteNeeds): readonly Route[] {
  return [...readRoutes(needs), ...beginRoutes(needs), ...steerRoutes(needs)];
}

function readRoutes(needs: RouteNeeds): readonly Route[] {
  const { project, clock } = needs;
  return [
    defineRoute({
      ...{ method: 'GET', path: '/runs', group, deed: 'look', query: listQuery, answer: z.array(psRow) },
      summary: 'Root runs, newest first, each with the runs below it, as `troupe ps` has them.',
      handle: async ({ caller, query }) => {
        const rows = await readPsRows(project.ledger, { all: query.all === 'yes', limit: query.limit, now: clock.now() });
        if (caller.sees === 'everything') return value(rows);
        const own = new Set((await visibleRuns(project.ledger, caller)).map(({ session }) => session));
        return value(rows.filter(({ session }) => own.has(session)));
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}', group, deed: 'look', answer: shown },
      summary: 'A run as it stands: summary, tree, groups, threads and open waits, as `troupe show` has it.',
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const found = await readShownRun(project, row.value, clock.now());
        return found === undefined ? fail(notFound('event of this run any more')) : value(shownValue(found, clock.now()));
      },
    }),
  ];
}

function beginRoutes(needs: RouteNeeds): readonly Route[] {
  const acting = actingNeeds(needs);
  return [
    defineRoute({
      ...{ method: 'POST', path: '/runs', once: true, group, deed: 'work', answer: started, status: 201 },
      summary: 'Starts an agent on a prompt. The owner may go on in a session, and choose a model and a budget.',
      body: z.strictObject({
        agent: z.string().min(1).max(200),
        prompt: words,
        session: z.string().max(100).optional(),
        model: z.string().min(1).max(200).optional(),
        budget: budget.optional(),
      }),
      handle: async (asked) => replied(await startRun(acting, actOf(asked), asked.body)),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/runs/{run}/retry', once: true, group, deed: 'keep', answer: started, status: 201 },
      summary: 'Does the work of a run that came to nothing again, as a run of its own.',
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await retryRun(acting, actOf(asked), row.value)) : row;
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/runs/{run}/fork', once: true, group, deed: 'keep', answer: forkStarted, status: 201 },
      summary: 'Goes on from the middle of a run, in a session of its own. What lies before is answered from the record.',
      body: z.strictObject({
        at: z.string().min(1).max(200).optional().describe('the last that is kept: an event, its position, turn 3, start or end'),
        prompt: words.optional(),
        model: z.string().min(1).max(200).optional(),
        answer: words.optional().describe('to the question at the place'),
        result: words.optional().describe('of the tool call at the place'),
      }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await forkFromOutside(needs, actOf(asked), row.value, asked.body)) : row;
      },
    }),
  ];
}

function steerRoutes(needs: RouteNeeds): readonly Route[] {
  const acting = actingNeeds(needs);
  const signal = (name: 'cancel' | 'pause', summary: string): Route =>
    defineRoute({
      ...{ method: 'POST', path: `/runs/{run}/${name}`, group, deed: 'work', answer: signalled, summary },
      body: z.strictObject({ reason: reason.default('asked for over the API') }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await signalRun(acting, actOf(asked), row.value.run, name, asked.body.reason)) : row;
      },
    });
  return [
    signal('pause', 'Stops after what is under way; resume goes on.'),
    signal('cancel', 'Ends the run and everything below it.'),
    defineRoute({
      ...{ method: 'POST', path: '/runs/{run}/resume', group, deed: 'work' },
      summary: 'Goes on with the tree of a run that nobody works on; with terms of the owner, also after what it ran out of.',
      body: z.strictObject({
        model: z.string().min(1).max(200).optional(),
        maxTurns: z.number().int().positive().optional(),
        budget: budget.optional(),
      }),
      answer: z.object({ run: z.string().describe('the root'), session: z.string(), outcome: z.enum(['resumed', 'ended']) }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await goOnFromOutside(acting, actOf(asked), row.value, asked.body)) : row;
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/runs/{run}/messages', once: true, group, deed: 'work' },
      summary: 'Says something to a run at work: it hears it before its next turn.',
      body: z.strictObject({ text: words }),
      answer: z.object({ run: z.string(), message: z.string(), live: z.boolean() }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await sayTo(acting, actOf(asked), row.value.run as RunId, asked.body.text)) : row;
      },
    }),
  ];
}
