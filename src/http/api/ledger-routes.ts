/** What is kept and what goes: the ledger as a whole, sessions that stay, what is forgotten, and sessions in one file. */
import { createWriteStream } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { z } from 'zod';
import { parseDuration } from '../../agents/definition/duration.ts';
import { eventId, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { carryOut, planForget, type WantedForget } from '../../front/forgetting/forget.ts';
import { forgetPlaces, forgottenValue, unreachedBy } from '../../front/forgetting/reach.ts';
import { collectedValue, collectOld } from '../../front/forgetting/retention.ts';
import { changeStanding, type StandingChange, standingValue } from '../../front/forgetting/standing.ts';
import { bundlePieces } from '../../front/one-file/bundled.ts';
import { forgotten, sessionStanding } from '../../front/shapes/forgetting.ts';
import { type Imports, imports } from '../../front/shapes/importing.ts';
import { collected, ledgerStats, verifyReport } from '../../front/shapes/keeping.ts';
import { findVisibleRun, findVisibleSession } from '../../front/sight.ts';
import { createMetrics } from '../../front/telemetry/metrics.ts';
import { type RouteNeeds, value } from './needs.ts';
import { invalid, notFound, type Refusal, refusalFor } from './refusals.ts';
import { defineRoute, type Route, type RouteRequest } from './route.ts';

/** Brings a bundle that lies in a file into the ledger. */
export type TakeBundle = (
  file: { readonly path: string; readonly name: string },
  how: { readonly check: boolean; readonly key: string | undefined },
) => Promise<Imports>;

interface Needs extends RouteNeeds {
  readonly version: string;
  readonly takeBundle: TakeBundle | undefined;
}

const group = 'Ledger';
const keep = { group, deed: 'keep' } as const;

export function ledgerRoutes(needs: Needs): readonly Route[] {
  return [...wholeRoutes(needs), gcRoute(needs), ...standingRoutes(needs), forgetRoute(needs), ...bundleRoutes(needs)];
}

function wholeRoutes({ project }: RouteNeeds): readonly Route[] {
  const { ledger, config } = project;
  const metrics = createMetrics(ledger);
  return [
    defineRoute({
      ...{ method: 'GET', path: '/ledger', ...keep, answer: ledgerStats },
      summary: 'How large the ledger is.',
      handle: async () => value({ ledger: config.ledger, ...(await ledger.stats()) }),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/ledger/verify', ...keep, answer: verifyReport },
      summary: 'Checks the hash chain of a session, or of all, and what follows from it. Reads everything that it checks.',
      body: z.strictObject({ session: z.string().max(100).optional() }),
      handle: async ({ body }) => {
        const report = await ledger.verify(body.session as SessionId | undefined);
        return value(report.kind === 'drifted' ? { ...report, rows: [...report.rows] } : report);
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/metrics', at: 'root', ...keep, answer: 'text' },
      summary: 'Numbers for Prometheus.',
      handle: async () => {
        const text = await metrics.text();
        const headers = { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' };
        return ok({ kind: 'response', response: new Response(text, { headers }) });
      },
    }),
  ];
}

const dryRun = z.boolean().default(true).describe('says what would go, and does nothing');

function gcRoute({ project, clock }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'POST', path: '/ledger/gc', ...keep, answer: collected },
    summary: 'Drops the payloads of sessions whose time is over, as the settings say; what is pinned, held or unfinished stays.',
    body: z.strictObject({
      olderThan: z.string().max(100).optional().describe('30d, 12h: in the place of what the settings say of all sessions'),
      dryRun,
    }),
    handle: async ({ body }) => {
      const olderThanMs = body.olderThan === undefined ? undefined : parseDuration(body.olderThan);
      if (body.olderThan !== undefined && olderThanMs === undefined)
        return fail(invalid('olderThan is no duration.', 'Write 30d, 12h or 90m.'));
      return value(collectedValue(await collectOld(project, clock, { olderThanMs, dryRun: body.dryRun })));
    },
  });
}

const signedBy = ({ caller }: RouteRequest<unknown, unknown>, { clock }: RouteNeeds) => ({ by: caller.name, at: clock.now() });

function standingRoutes(needs: RouteNeeds): readonly Route[] {
  const { ledger } = needs.project;
  const change = async (asked: RouteRequest<unknown, unknown>, wanted: StandingChange) => {
    const session = await findVisibleSession(ledger, asked.caller, asked.param('session'));
    if (session === undefined) return fail(notFound('such session'));
    const done = await changeStanding(ledger, session, wanted, signedBy(asked, needs));
    return done.ok ? value(await standingValue(ledger, session)) : fail(refusalFor(done.error));
  };
  return [
    defineRoute({
      ...{ method: 'POST', path: '/sessions/{session}/pin', ...keep, answer: sessionStanding },
      summary: 'Keeps a session whatever its age, or not any more.',
      body: z.strictObject({ pinned: z.boolean().default(true) }),
      handle: (asked) => change(asked, { kind: asked.body.pinned ? 'pin' : 'unpin' }),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/sessions/{session}/hold', ...keep, answer: sessionStanding },
      summary: 'Holds a session: nothing of it is collected or forgotten until it is released. Under the name of whoever asks.',
      body: z.strictObject({ reason: z.string().trim().min(1).max(limits.holdReasonCharacters) }),
      handle: (asked) => change(asked, { kind: 'hold', reason: asked.body.reason }),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/sessions/{session}/release', ...keep, answer: sessionStanding },
      summary: 'Holds a session no longer.',
      body: z.strictObject({}),
      handle: (asked) => change(asked, { kind: 'release' }),
    }),
  ];
}

const wantedForget = z.strictObject({
  session: z.string().max(100).optional().describe('the whole of it, or with `matching` what in it holds the text'),
  run: z.string().max(100).optional().describe('it and everything below it'),
  event: z.string().max(200).optional().describe('its id'),
  matching: z.string().trim().min(limits.forgetTextLeast).max(10_000).optional().describe('every event that holds this text'),
  withForks: z.boolean().default(false),
  dryRun,
});

async function targetIn(
  { project: { ledger } }: RouteNeeds,
  { caller, body }: RouteRequest<unknown, z.infer<typeof wantedForget>>,
): Promise<Result<WantedForget['target'], Refusal>> {
  const { run, event, matching } = body;
  const named = [body.session, run, event].filter((one) => one !== undefined);
  if (named.length > 1 || (matching !== undefined && (run ?? event) !== undefined))
    return fail(invalid('Give a session, a run or an event; or matching, alone or with a session.'));
  if (run !== undefined) {
    const row = await findVisibleRun(ledger, caller, run);
    return row === undefined ? fail(notFound('such run')) : ok({ kind: 'run', session: row.session, run: row.run });
  }
  const [, of, position] = event === undefined ? [] : (/^(.+)\.(\d{1,9})$/.exec(event) ?? []);
  if (event !== undefined && of === undefined) return fail(invalid('event is the id of an event.'));
  const text = of ?? body.session;
  const session = text === undefined ? undefined : await findVisibleSession(ledger, caller, text);
  if (text !== undefined && session === undefined) return fail(notFound('such session'));
  if (matching !== undefined) return ok({ kind: 'matching', text: matching, session });
  if (session === undefined) return ok({ kind: 'nothing' });
  if (position === undefined) return ok({ kind: 'session', session });
  return ok({ kind: 'event', session, event: eventId(session, Number(position)), position: Number(position) });
}

function forgetRoute(needs: RouteNeeds): Route {
  const { project } = needs;
  return defineRoute({
    ...{ method: 'POST', path: '/forget', ...keep, answer: forgotten, body: wantedForget },
    summary:
      'Destroys what a session, a run, an event, or every event that holds a text has said, for good; first says what would go.',
    handle: async (asked) => {
      const target = await targetIn(needs, asked);
      if (!target.ok) return target;
      const [places, signed, unreached] = [forgetPlaces(project), signedBy(asked, needs), unreachedBy(project)];
      const plan = await planForget(places, { target: target.value, withForks: asked.body.withForks }, signed);
      if (!plan.ok) return fail(refusalFor(plan.error));
      if (asked.body.dryRun) return value(forgottenValue(plan.value, undefined, unreached));
      const done = await carryOut(places, plan.value, signed);
      return done.ok ? value(forgottenValue(plan.value, done.value, unreached)) : fail(refusalFor(done.error));
    },
  });
}

function bundleRoutes({ project, version, takeBundle }: Needs): readonly Route[] {
  const out = defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/bundle', ...keep, answer: 'bytes' },
    summary: 'A session, those that it was forked from, and all that belongs to them, in one file that `POST /bundles` reads.',
    handle: async ({ caller, param }) => {
      const session = await findVisibleSession(project.ledger, caller, param('session'));
      if (session === undefined) return fail(notFound('such session'));
      const { pieces } = await bundlePieces(project, session, { version, key: undefined });
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${session}.troupe.tar"`,
        'cache-control': 'no-store',
      };
      return ok({ kind: 'response', response: new Response(ReadableStream.from(pieces), { headers }) });
    },
  });
  if (takeBundle === undefined) return [out];
  const into = defineRoute({
    ...{ method: 'POST', path: '/bundles', ...keep, answer: imports, body: 'bytes' },
    summary:
      'Brings the sessions of a bundle into this ledger: checked from its first byte to its last before anything is stored.',
    query: z.strictObject({
      check: z.enum(['yes', 'no']).default('no').describe('looks, and stores nothing'),
      name: z.string().min(1).max(200).default('bundle').describe('what it is called, for whoever asks later'),
      key: z.string().max(2_000).optional().describe('a public key as PEM: it must be signed with that'),
    }),
    handle: async ({ body, query: { check, name, key } }) => {
      const folder = await mkdtemp(join(tmpdir(), 'troupe-bundle-'));
      try {
        const path = join(folder, 'bundle');
        const written = await pipeline(atMost(body), createWriteStream(path, { mode: 0o600 })).then(
          () => true,
          (error: unknown) => {
            if (error === TOO_LARGE) return false;
            throw error;
          },
        );
        if (!written) return fail(tooLarge);
        return value(await takeBundle({ path, name }, { check: check === 'yes', key }));
      } finally {
        await rm(folder, { recursive: true, force: true });
      }
    },
  });
  return [out, into];
}

const TOO_LARGE = new Error('too large');

const tooLarge: Refusal = {
  status: 413,
  code: 'too_large',
  message: `The bundle has more than ${limits.httpBundleBytes} bytes (limit httpBundleBytes).`,
  fix: 'Import it where the ledger is: troupe import FILE',
};

async function* atMost(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let bytes = 0;
  for await (const chunk of chunks) {
    bytes += chunk.length;
    if (bytes > limits.httpBundleBytes) throw TOO_LARGE;
    yield chunk;
  }
}
