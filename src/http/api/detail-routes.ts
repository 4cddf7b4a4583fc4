/** What a person looks at beside runs: how the server is, who there is, and who talks with whom. */
import { z } from 'zod';
import { fail } from '../../base/result.ts';
import { compareRows } from '../../front/looking/compare-runs.ts';
import { readAgent, readAgentGraph } from '../../front/project/agent-lines.ts';
import { createHealth } from '../../front/project/health.ts';
import { readAssistants, readThreads } from '../../front/project/session-threads.ts';
import { comparedRuns } from '../../front/shapes/comparing.ts';
import { agentDetail, agentGraph } from '../../front/shapes/files.ts';
import { health } from '../../front/shapes/health.ts';
import { assistantRow, sessionThreads } from '../../front/shapes/runs.ts';
import { findVisibleRun, findVisibleSession } from '../../front/sight.ts';
import { type RouteNeeds, runIn, value } from './needs.ts';
import { notFound } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

export function healthRoute(needs: RouteNeeds & { readonly version: string }): Route {
  const read = createHealth(needs);
  return defineRoute({
    ...{ method: 'GET', path: '/health', group: 'Health', deed: 'survey', answer: health },
    summary: 'How the server is: engine, workers, ledger, quota, disk, versions, and what is wrong. Starts nothing.',
    handle: async () => value(await read()),
  });
}

/** Before `/agents/{name}`: what is found first counts. */
export function agentDetailRoutes({ project }: RouteNeeds): readonly Route[] {
  const group = 'Agents';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/agents/graph', group, deed: 'survey', answer: agentGraph },
      summary: 'Who may call whom, as the files declare it.',
      query: z.strictObject({ from: z.string().min(1).max(200).optional().describe('only what this agent leads to') }),
      handle: async ({ query }) => {
        const graph = await readAgentGraph(project, query.from);
        return graph === undefined ? fail(notFound(`agent ${query.from}`)) : value(graph);
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/agents/{name}', group, deed: 'survey', answer: agentDetail },
      summary: 'One agent: all that its file says, the file itself, what is wrong with it, and whom it reaches.',
      handle: async ({ param }) => {
        const agent = await readAgent(project, param('name'));
        return agent === undefined ? fail(notFound('such agent')) : value(agent);
      },
    }),
  ];
}

export function compareRoute(needs: RouteNeeds): Route {
  const { project, clock } = needs;
  return defineRoute({
    ...{ method: 'GET', path: '/runs/{run}/compare/{other}', group: 'Runs', deed: 'look', answer: comparedRuns },
    summary: 'Two runs held against each other, as `troupe diff` has them: where they part first, and what came of each.',
    query: z.strictObject({ prose: z.enum(['yes', 'no']).default('no').describe('words of agents count too') }),
    handle: async (asked) => {
      const row = await runIn(needs, asked);
      if (!row.ok) return row;
      const other = await findVisibleRun(project.ledger, asked.caller, asked.param('other'));
      if (other === undefined) return fail(notFound('such other run'));
      const prose = asked.query.prose === 'yes';
      const compared = await compareRows(project.ledger, row.value, other, { prose, now: clock.now() });
      return compared.ok ? value(compared.value) : fail({ ...compared.error, status: 409 });
    },
  });
}

export function threadRoutes({ project, clock }: RouteNeeds): readonly Route[] {
  const { ledger } = project;
  const group = 'Assistants';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/sessions/{session}/threads', group, deed: 'look', answer: sessionThreads },
      summary: 'The threads of a session with the newest messages of each, what became of them, and what people said to runs.',
      handle: async ({ caller, param }) => {
        const session = await findVisibleSession(ledger, caller, param('session'));
        return session === undefined ? fail(notFound('such session')) : value(await readThreads(ledger, session, clock.now()));
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/assistants', group, deed: 'look', answer: z.array(assistantRow) },
      summary: 'Processes that agents or clients have spawned, newest first, with pid and age: of the newest sessions.',
      handle: async ({ caller }) => value(await readAssistants(ledger, caller, clock.now())),
    }),
  ];
}
