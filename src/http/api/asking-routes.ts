/** Questions to the ledger and to what is around it: those of `troupe query`, `why`, `blame`, `replay`, `models`, `telemetry`. */
import { z } from 'zod';
import { type EventId, eventPosition } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Random } from '../../base/random.ts';
import { fail, type Result } from '../../base/result.ts';
import { readWhyDear, readWhyEnded, readWhyNotCalled } from '../../front/looking/asked-why.ts';
import { blameValue, readBlame } from '../../front/looking/blame.ts';
import { playAgain } from '../../front/looking/replayed.ts';
import { readWhy } from '../../front/looking/why.ts';
import { readModels } from '../../front/project/models.ts';
import { askLedger } from '../../front/query/ask.ts';
import { queriedValue } from '../../front/query/queried-value.ts';
import { replayed } from '../../front/shapes/comparing.ts';
import { modelList } from '../../front/shapes/files.ts';
import { blameOfFile, queried, whys } from '../../front/shapes/questions.ts';
import { backfilled, telemetryStanding } from '../../front/shapes/telemetry.ts';
import { findVisibleRun, findVisibleSession } from '../../front/sight.ts';
import { backfillOfRun, backfillTelemetry, telemetryStatus, timeSince } from '../../front/telemetry/telemetry.ts';
import { type RouteNeeds, runIn, value } from './needs.ts';
import { invalid, notFound, type Refusal, refusalFor } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

type Long = <Value>(work: () => Promise<Result<Value, Refusal>>) => Promise<Result<Value, Refusal>>;

export function askingRoutes(needs: RouteNeeds, random: Random): readonly Route[] {
  const long = fewAtATime(limits.httpLongQuestions);
  return [
    whyRoute(needs),
    queryRoute(needs, long),
    blameRoute(needs),
    replayRoute(needs, long),
    modelsRoute(needs),
    ...telemetryRoutes(needs, random, long),
  ];
}

/** What takes a process, or the processor for long, is refused while enough of it is under way: whoever asks may ask again. */
function fewAtATime(most: number): Long {
  let underWay = 0;
  return async (work) => {
    if (underWay >= most)
      return fail({
        ...{ status: 429, code: 'limit', message: `${most} long questions are being answered (limit httpLongQuestions).` },
        fix: 'Ask again when they are done.',
      });
    underWay += 1;
    try {
      return await work();
    } finally {
      underWay -= 1;
    }
  };
}

function whyRoute(needs: RouteNeeds): Route {
  const { ledger } = needs.project;
  return defineRoute({
    ...{ method: 'GET', path: '/runs/{run}/why', group: 'Runs', deed: 'look', answer: whys },
    summary:
      'From the result of a run, or from an event of its session, back to the prompt; or why it was dear, ended, called nobody.',
    query: z.strictObject({
      event: z.string().max(100).optional().describe('the id of an event; without it, the result'),
      ask: z.enum(['cause', 'cost', 'end', 'not_called']).default('cause').describe('which question'),
      name: z.string().min(1).max(200).optional().describe('of the tool or agent, for `not_called`'),
    }),
    handle: async (asked) => {
      const row = await runIn(needs, asked);
      if (!row.ok) return row;
      const { session, run } = row.value;
      const { event, ask, name } = asked.query;
      if (ask === 'cost') return value(await readWhyDear(ledger, row.value));
      if (ask === 'end') return value(await readWhyEnded(ledger, row.value));
      if (ask === 'not_called')
        return name === undefined
          ? fail(invalid('Say what was not called: name.'))
          : value(await readWhyNotCalled(ledger, row.value, name));
      if (event !== undefined && (eventPosition(event) === undefined || !event.startsWith(`${session}.`)))
        return fail(invalid('event is the id of an event of the session of this run.'));
      const { chain } = await readWhy(ledger, session, event === undefined ? { run } : { event: event as EventId });
      return chain.length === 0 ? fail(notFound('such event')) : value(chain.map((one) => ({ ...one, also: [...one.also] })));
    },
  });
}

function queryRoute({ project: { ledger }, clock }: RouteNeeds, long: Long): Route {
  return defineRoute({
    ...{ method: 'POST', path: '/query', group: 'Search', deed: 'survey', answer: queried },
    summary:
      'One SELECT over the tables that are made of the ledger, as `troupe query` asks it, in a process that can do nothing else.',
    body: z.strictObject({
      sql: z.string().min(1).max(limits.queryCharacters),
      session: z.string().max(100).optional().describe('only this one'),
      rows: z.number().int().min(1).max(limits.queryRowsMost).default(limits.queryRows),
      timeoutMs: z.number().int().min(1).max(limits.queryMs).default(limits.queryMs),
    }),
    handle: async ({ caller, body }) => {
      const { sql, rows: maxRows, timeoutMs } = body;
      const session = body.session === undefined ? undefined : await findVisibleSession(ledger, caller, body.session);
      if (body.session !== undefined && session === undefined) return fail(notFound('such session'));
      return await long(async () => {
        const answer = await askLedger(ledger, sql, { clock, timeoutMs, maxRows, session });
        return answer.ok ? value(queriedValue(answer.value)) : fail(refusalFor(answer.error));
      });
    },
  });
}

function blameRoute({ project: { ledger, config } }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/blame', group: 'Artifacts', deed: 'survey', answer: blameOfFile },
    summary: 'Who wrote each line of a file in the folder that agents work in, or one of them, and because of which prompt.',
    query: z.strictObject({
      file: z.string().min(1).max(4_000).describe('from that folder'),
      line: z.coerce.number().int().positive().optional(),
    }),
    handle: async ({ query: { file, line } }) => {
      const blame = await readBlame(ledger, { workspace: config.workspace, cwd: config.workspace }, file);
      if (!blame.ok) return fail(refusalFor(blame.error));
      const lines = blame.value.lines.filter((one) => line === undefined || one.line === line);
      return lines.length === 0 && line !== undefined ? fail(notFound('such line')) : value(blameValue(blame.value, lines));
    },
  });
}

function replayRoute(needs: RouteNeeds, long: Long): Route {
  return defineRoute({
    ...{ method: 'POST', path: '/runs/{run}/replay', group: 'Runs', deed: 'direct', answer: replayed },
    summary: 'Plays a run again over its record, and says whether it came to the same. Nothing is asked, run or written.',
    body: z.strictObject({}),
    handle: async (asked) => {
      const row = await runIn(needs, asked);
      if (!row.ok) return row;
      return await long(async () => {
        const played = await playAgain(needs.project.ledger, row.value);
        return played.ok ? value(played.value) : fail(refusalFor(played.error));
      });
    },
  });
}

function modelsRoute({ project: { config }, clock }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/models', group: 'Agents', deed: 'keep', answer: modelList },
    summary: 'Which models there are, what they cost and read, and which one is used; providers are asked with the owner’s keys.',
    query: z.strictObject({
      provider: z.string().min(1).max(200).optional(),
      offline: z.enum(['yes', 'no']).default('no').describe('nobody is asked'),
    }),
    handle: async ({ query: { provider, offline } }) => {
      const listed = await readModels(config, clock, { provider, offline: offline === 'yes' });
      if (!listed.ok) return fail(refusalFor(listed.error));
      const { models, providers, used } = listed.value;
      return value({ models, providers, ...present({ used: used && { ...used, models: [...used.models] } }) });
    },
  });
}

function telemetryRoutes({ project, clock }: RouteNeeds, random: Random, long: Long): readonly Route[] {
  const group = 'Telemetry';
  return [
    defineRoute({
      ...{ method: 'GET', path: '/telemetry', group, deed: 'keep', answer: telemetryStanding },
      summary: 'Whether spans are sent, where, and how far; asks the collector whether it would take some.',
      query: z.strictObject({ offline: z.enum(['yes', 'no']).default('no').describe('nobody is asked') }),
      handle: async ({ query }) => value(await telemetryStatus(project, clock, query.offline === 'yes')),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/telemetry/backfill', group, deed: 'keep', answer: backfilled },
      summary:
        'Sends spans of what happened before: of the tree of a run, or of all that ended since. They have the same ids again.',
      body: z.strictObject({
        run: z.string().max(100).optional(),
        since: z.string().max(100).optional().describe('7d, 12h, or a date'),
      }),
      handle: async ({ caller, body, signal }) => {
        const at = body.since === undefined ? undefined : timeSince(body.since, clock.now());
        if ((body.run === undefined) === (at === undefined)) return fail(invalid('Give a run, or since as 7d, 12h or a date.'));
        const row = body.run === undefined ? undefined : await findVisibleRun(project.ledger, caller, body.run);
        if (body.run !== undefined && row === undefined) return fail(notFound('such run'));
        const of = row === undefined ? ({ kind: 'since', ms: at ?? 0 } as const) : await backfillOfRun(project.ledger, row);
        const needs = { clock, random, stopping: signal, write: undefined };
        return await long(async () => value(await backfillTelemetry(project, of, needs)));
      },
    }),
  ];
}
