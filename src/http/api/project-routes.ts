/** Sessions, costs, agents, and what work left behind. */
import { z } from 'zod';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail } from '../../base/result.ts';
import { costsValue, readCosts } from '../../front/costs.ts';
import { agentLineOf, checkedValue } from '../../front/project/agent-lines.ts';
import { readSessions } from '../../front/session-rows.ts';
import { agentLine, checked } from '../../front/shapes/files.ts';
import { costs, sessionRow } from '../../front/shapes/runs.ts';
import { findVisibleRun, findVisibleSession } from '../../front/sight.ts';
import { artifactRoutes } from './artifact-routes.ts';
import { listedStates, type RouteNeeds, seenBy, value } from './needs.ts';
import { invalid, notFound } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

export function projectRoutes(needs: RouteNeeds): readonly Route[] {
  return [sessionsRoute(needs), costsRoute(needs), ...agentRoutes(needs), ...artifactRoutes(needs)];
}

function sessionsRoute({ project }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions', group: 'Runs', deed: 'look', answer: z.array(sessionRow) },
    summary: 'Conversations, newest first, as `troupe sessions` has them.',
    query: z.strictObject({
      limit: z.coerce.number().int().min(1).max(limits.listedRuns).default(20),
      before: z.string().max(100).optional().describe('`newestRun` of the last session of the page before'),
      states: listedStates,
    }),
    handle: async ({ caller, query: { limit, before, states } }) => {
      const listed = { limit, states, before: before as RunId | undefined };
      return value([...(await readSessions(project, { ...listed, ...seenBy(project.ledger, caller) }))]);
    },
  });
}

function costsRoute({ project }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/costs', group: 'Costs', deed: 'look', answer: costs },
    summary: 'What was spent, by agent and model: by a run and everything below it, in a session, or in all.',
    query: z.strictObject({ run: z.string().max(100).optional(), session: z.string().max(100).optional() }),
    handle: async ({ caller, query }) => {
      const { ledger } = project;
      if (query.run !== undefined) {
        const run = await findVisibleRun(ledger, caller, query.run);
        return run === undefined ? fail(notFound('such run')) : value(costsValue(await readCosts(ledger, { run })));
      }
      if (query.session !== undefined) {
        const session = await findVisibleSession(ledger, caller, query.session);
        return session === undefined ? fail(notFound('such session')) : value(costsValue(await readCosts(ledger, { session })));
      }
      if (caller.sees === 'everything') return value(costsValue(await readCosts(ledger, {})));
      return fail(invalid('Say of which run or session.'));
    },
  });
}

function agentRoutes({ project }: RouteNeeds): readonly Route[] {
  const group = 'Agents';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/agents', group, deed: 'look', answer: z.array(agentLine) },
      summary: 'The agents that there are for whoever asks.',
      handle: async ({ caller: { rights, role } }) => {
        const { agents } = await project.agents();
        const seen = agents.filter(({ definition }) => role !== undefined || (rights?.spawn?.includes(definition.name) ?? true));
        return value(seen.map(agentLineOf));
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/agents/search', group, deed: 'work' },
      summary: 'The agents that fit a sentence, best first.',
      query: z.strictObject({ query: z.string().min(1).max(1_000), limit: z.coerce.number().int().min(1).max(100).default(10) }),
      answer: z.array(z.looseObject({ id: z.string() })),
      handle: async ({ caller, query }) => {
        const client = { kind: 'client', name: caller.name, rights: caller.rights } as const;
        const found = await project.assistants.search(client, { query: query.query, limit: query.limit });
        return found.ok ? value([...found.value]) : fail({ ...found.error, status: 422 });
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/agents/check', group, deed: 'keep', answer: checked },
      summary: 'Every problem in every agent file, at once.',
      handle: async () => value(checkedValue(await project.agents())),
    }),
  ];
}
