/** Tasks, executors, rules, searching, and what a request to a model contained. */
import { join } from 'node:path';
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail } from '../../base/result.ts';
import { entryNamed } from '../../executors/open.ts';
import { senderOf } from '../../front/acts.ts';
import { listExecutors, probeHere, readExecutors } from '../../front/project/executors.ts';
import { forgetInProject, listRules } from '../../front/project/rules.ts';
import { readSessionRules } from '../../front/project/session-rules.ts';
import { cancelTask, readShownTask, readTasks } from '../../front/project/tasks.ts';
import { readContext } from '../../front/search/request-context.ts';
import { openSessionIndex, type SessionIndex } from '../../front/search/search-index.ts';
import { searchSessions } from '../../front/search/search-sessions.ts';
import { executorList, executorProbed } from '../../front/shapes/executors.ts';
import { ruleList, rulesRemoved } from '../../front/shapes/files.ts';
import { found, requestContext } from '../../front/shapes/looking.ts';
import { taskCanceled, taskList, taskShown } from '../../front/shapes/tasks.ts';
import { findVisibleSession } from '../../front/sight.ts';
import { readRule, writtenRule } from '../../permissions/remembered-rule.ts';
import { taskStates } from '../../projections/tasks/task-states.ts';
import { actingNeeds, actOf, type RouteNeeds, replied, runIn, value } from './needs.ts';
import { notFound } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

const count = z.coerce.number().int();

export function lookingRoutes(needs: RouteNeeds, stopping: AbortSignal): readonly Route[] {
  const { project } = needs;
  const { ledger, config } = project;
  let index: SessionIndex | undefined;
  stopping.addEventListener('abort', () => index?.close());
  return [
    defineRoute({
      ...{ method: 'GET', path: '/search', group: 'Search', deed: 'look', answer: found },
      summary: 'Full text over all sessions that one may see, newest first. Reads only what is new since the last search.',
      query: z.strictObject({
        query: z.string().min(1).max(1_000).describe('words that all have to be there; the last also as a beginning'),
        limit: count.min(1).max(limits.listPage).default(20),
        before: count.positive().optional().describe('`next` of the page before'),
      }),
      handle: async ({ caller, query }) => {
        index ??= openSessionIndex(join(config.home, 'search.db'), config.ledger, ledger);
        return value(await searchSessions(index, ledger, caller, query));
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}/context', group: 'Runs', deed: 'look', answer: requestContext },
      summary: 'What one request to a model contained: every part, with where it came from and how large it is.',
      query: z.strictObject({ turn: count.positive().optional().describe('the newest without it') }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const context = await readContext(ledger, row.value, asked.query.turn);
        return context === undefined ? fail(notFound('such request')) : value(context);
      },
    }),
  ];
}

export function taskRoutes(needs: RouteNeeds): readonly Route[] {
  const { ledger } = needs.project;
  const group = 'Tasks';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/tasks', group, deed: 'look', answer: taskList },
      summary: 'Root runs as A2A peers see them, newest first.',
      query: z.strictObject({
        state: z.enum(taskStates).optional(),
        session: z.string().max(100).optional(),
        after: z.string().max(200).optional().describe('`next` of the page before'),
        limit: count.min(1).max(limits.listPage).default(20),
      }),
      handle: async ({ caller, query }) => {
        const page = await readTasks(ledger, caller, query);
        return page === undefined ? fail(notFound('such session')) : value(page);
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/tasks/{task}', group, deed: 'look', answer: taskShown },
      summary: 'One of them, with what was said and what was left behind.',
      handle: async ({ caller, param }) => {
        const task = await readShownTask(ledger, caller, param('task'));
        return task === undefined ? fail(notFound('such task')) : value(task);
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/tasks/{task}/cancel', group, deed: 'work', answer: taskCanceled },
      summary: 'Ends the run behind it. One that has ended stays as it ended.',
      body: z.strictObject({ reason: z.string().min(1).max(1_000).default('the task was canceled over the API') }),
      handle: async (asked) =>
        replied(await cancelTask(actingNeeds(needs), actOf(asked), asked.caller, asked.param('task'), asked.body.reason)),
    }),
  ];
}

export function executorRoutes({ project, clock }: RouteNeeds): readonly Route[] {
  const group = 'Executors';
  const read = () => readExecutors(project.config, project.groups.env, clock);
  return [
    defineRoute({
      ...{ method: 'GET', path: '/executors', group, deed: 'survey', answer: executorList },
      summary: 'The coding agents that can work for agents, whether each is there, and what is around it. Starts none.',
      handle: async () => {
        const here = await read();
        try {
          return value({ executors: await listExecutors(here) });
        } finally {
          await here.made.close();
        }
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/executors/{name}/probe', group, deed: 'keep', answer: executorProbed },
      summary: 'Starts one in an empty folder and asks what it can do.',
      handle: async ({ param, signal }) => {
        const here = await read();
        try {
          const entry = entryNamed(param('name'), here.resolved);
          return entry.ok
            ? value(await probeHere(here, entry.value, signal))
            : fail({ ...entry.error, code: 'not_found', status: 404 });
        } finally {
          await here.made.close();
        }
      },
    }),
  ];
}

export function ruleRoutes({ project }: RouteNeeds): readonly Route[] {
  const { ledger, config, rules: book, engine } = project;
  const group = 'Permissions';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/permissions', group, deed: 'survey', answer: ruleList },
      summary: 'Every rule that decides what agents may do here, with where it stands.',
      handle: async () => {
        const { agents } = await project.agents();
        const { rules: sessions, leftOut } = await readSessionRules(ledger);
        return value({ rules: listRules({ config, agents, book, sessions }), sessionsLeftOut: leftOut });
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/permissions/remove', group, deed: 'keep', answer: rulesRemoved },
      summary: 'Takes back what was remembered: for the project, or for one session; one rule, or all without a tool.',
      body: z.strictObject({
        tool: z.string().min(1).max(200).optional(),
        pattern: z.string().min(1).max(10_000).optional(),
        session: z.string().max(100).optional(),
      }),
      handle: async (asked) => {
        const { tool, pattern, session: text } = asked.body;
        const rule = tool === undefined ? undefined : { tool, pattern };
        if (text === undefined) return value({ removed: await forgetInProject(book, rule) });
        const session = await findVisibleSession(ledger, asked.caller, text);
        if (session === undefined) return fail(notFound('such session'));
        const { by, where } = senderOf(actOf(asked));
        const outcome = await engine.forget(session, rule && writtenRule(rule), { by, where });
        return value({ removed: outcome.kind === 'unknown' ? [] : outcome.rules.map(readRule), session });
      },
    }),
  ];
}
