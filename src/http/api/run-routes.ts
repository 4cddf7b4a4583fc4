/** Runs: listed, shown, started and steered. */
import { z } from 'zod';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail } from '../../base/result.ts';
import { budget, forkSource } from '../../events/going-on.ts';
import { goOnFromOutside, retryRun, sayTo, signalRun, startRun } from '../../front/acts.ts';
import { forkFromOutside } from '../../front/forks/forks.ts';
import { promptSession, type QueueFollower } from '../../front/queue/session-queue.ts';
import { readPsRows } from '../../front/run-rows.ts';
import { promptGiven, queueShown } from '../../front/shapes/keeping.ts';
import { psRow, shown, signalled } from '../../front/shapes/runs.ts';
import { readShownRun, shownValue } from '../../front/shown-run.ts';
import { findVisibleSession } from '../../front/sight.ts';
import { dropQueue, queueOf } from '../../groups/send.ts';
import { actingNeeds, actOf, listedStates, type RouteNeeds, replied, runIn, seenBy, value } from './needs.ts';
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
  session: z.string().max(100).optional().describe('only of this session'),
  before: z.string().max(100).optional().describe('the last root of the page before'),
  states: listedStates,
});

export function runRoutes(needs: RouteNeeds, queues: QueueFollower): readonly Route[] {
  return [...readRoutes(needs), ...beginRoutes(needs), ...steerRoutes(needs), ...queueRoutes(needs, queues)];
}

function readRoutes(needs: RouteNeeds): readonly Route[] {
  const { project, clock } = needs;
  return [
    defineRoute({
      ...{ method: 'GET', path: '/runs', group, deed: 'look', query: listQuery, answer: z.array(psRow) },
      summary: 'Root runs, newest first, each with the runs below it, as `troupe ps` has them.',
      handle: async ({ caller, query }) => {
        const { limit, states, all } = query;
        const [before, session] = [query.before as RunId | undefined, query.session as SessionId | undefined];
        const listed = { all: all === 'yes', limit, states, before, session, now: clock.now() };
        return value(await readPsRows(project.ledger, { ...listed, ...seenBy(project.ledger, caller) }));
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
        without: z
          .array(z.string().min(1).max(200))
          .min(1)
          .max(100)
          .optional()
          .describe('parts of the context, by origin or step'),
      }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        return row.ok ? replied(await forkFromOutside(needs, actOf(asked), row.value, asked.body)) : row;
      },
    }),
  ];
}

/** Prompts for a session, which may be at work. */
function queueRoutes({ project, onError }: RouteNeeds, queues: QueueFollower): readonly Route[] {
  const { ledger, groups } = project;
  const path = '/sessions/{session}/prompts';
  return [
    defineRoute({
      ...{ method: 'GET', path, group, deed: 'look', answer: queueShown },
      summary: 'The prompts of a session that wait their turn, oldest first.',
      handle: async ({ caller, param }) => {
        const session = await findVisibleSession(ledger, caller, param('session'));
        return session === undefined ? fail(notFound('such session')) : value([...(await queueOf({ ledger }, session))]);
      },
    }),
    defineRoute({
      ...{ method: 'POST', path, once: true, group, deed: 'keep', answer: promptGiven },
      summary: 'The next prompt of a session: it begins now, or in its turn when the session is free, whoever serves it then.',
      body: z.strictObject({
        text: words,
        agent: z.string().min(1).max(200).optional().describe('who was asked last, without it'),
      }),
      handle: async (asked) => {
        const session = await findVisibleSession(ledger, asked.caller, asked.param('session'));
        if (session === undefined) return fail(notFound('such session'));
        return replied(await promptSession({ project, onError, queues }, actOf(asked), session, asked.body));
      },
    }),
    defineRoute({
      ...{ method: 'DELETE', path: `${path}/{prompt}`, group, deed: 'keep', answer: z.object({ dropped: z.number().int() }) },
      summary: 'Takes back a prompt that waits. One that is worked on is cancelled as a run.',
      handle: async ({ caller, param }) => {
        const session = await findVisibleSession(ledger, caller, param('session'));
        if (session === undefined) return fail(notFound('such session'));
        const dropped = await dropQueue(groups, session, `${caller.name} took it back`, param('prompt'));
        return dropped === 0 ? fail(notFound('such prompt that waits')) : value({ dropped });
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
