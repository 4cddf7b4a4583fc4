/** What work left behind, over the API: found, read, compared, kept. */
import { z } from 'zod';
import type { FoundArtifact } from '../../artifacts/port.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { compareArtifacts, compareRuns, readManifest } from '../../front/looking/artifacts.ts';
import { artifact, artifactsCompared, manifestShown } from '../../front/shapes/artifacts.ts';
import { artifactValue } from '../../front/shown-artifact.ts';
import { findVisibleRun, findVisibleSession } from '../../front/sight.ts';
import { type RouteNeeds, runIn, value } from './needs.ts';
import { notFound, type Refusal } from './refusals.ts';
import { defineRoute, type Route, type RouteRequest } from './route.ts';

const group = 'Artifacts';
const ref = z.string().min(1).max(1_000);

export function artifactRoutes(needs: RouteNeeds): readonly Route[] {
  return [listRoute(needs), bytesRoute(needs), pinRoute(needs), compareRoute(needs), ...runArtifactRoutes(needs)];
}

function listRoute({ project: { artifacts, ledger } }: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/artifacts', group, deed: 'look', answer: z.array(artifact) },
    summary: 'What the runs of a session left behind.',
    handle: async (asked) => {
      const session = await findVisibleSession(ledger, asked.caller, asked.param('session'));
      if (session === undefined) return fail(notFound('such session'));
      return value((await artifacts.list({ session })).map(artifactValue));
    },
  });
}

/** Only of the session in the address, and only if whoever asks may see that. */
async function artifactIn(
  { project: { artifacts, ledger } }: RouteNeeds,
  { caller, param }: RouteRequest<unknown, unknown>,
  wanted: string,
  within?: string,
): Promise<Result<FoundArtifact, Refusal>> {
  const session = await findVisibleSession(ledger, caller, within ?? param('session'));
  if (session === undefined) return fail(notFound('such session'));
  const found = (await artifacts.list({ session })).find((one) => one.ref === wanted);
  if (found === undefined) return fail(notFound('such artifact in this session'));
  return ok(found);
}

const isGone: Refusal = { ...notFound('such artifact any more: it was collected'), status: 410 };

function bytesRoute(needs: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/artifact', group, deed: 'look', answer: 'bytes' },
    summary: 'The bytes of one of them, by its reference; as a download, whatever is in it.',
    query: z.strictObject({ ref }),
    handle: async (asked) => {
      const found = await artifactIn(needs, asked, asked.query.ref);
      if (!found.ok) return found;
      if (found.value.collected) return fail(isGone);
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(found.value.ref.split('/').at(-1) ?? 'artifact')}`,
        etag: `"${found.value.checksum.replace('sha256:', '')}"`,
        'cache-control': 'private, max-age=31536000, immutable',
      };
      const bytes = ReadableStream.from(needs.project.artifacts.bytes(found.value));
      return ok({ kind: 'response', response: new Response(bytes, { headers }) });
    },
  });
}

function pinRoute(needs: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'POST', path: '/sessions/{session}/artifact/pin', group, deed: 'direct', answer: artifact },
    summary: 'Keeps an artifact whatever its type and age, or not any more.',
    body: z.strictObject({ ref, pinned: z.boolean().default(true) }),
    handle: async (asked) => {
      const { ref: wanted, pinned } = asked.body;
      const found = await artifactIn(needs, asked, wanted);
      if (!found.ok) return found;
      await needs.project.artifacts.pin(found.value, pinned, asked.caller.name);
      return value(artifactValue({ ...found.value, pinned }));
    },
  });
}

function compareRoute(needs: RouteNeeds): Route {
  return defineRoute({
    ...{ method: 'GET', path: '/sessions/{session}/artifact/diff', group, deed: 'look', answer: artifactsCompared },
    summary: 'Two artifacts, line by line: of this session, or the second of another.',
    query: z.strictObject({ left: ref, right: ref, and: z.string().max(100).optional().describe('the session of the second') }),
    handle: async (asked) => {
      const { left, right, and } = asked.query;
      const one = await artifactIn(needs, asked, left);
      if (!one.ok) return one;
      const other = await artifactIn(needs, asked, right, and);
      if (!other.ok) return other;
      if (one.value.collected || other.value.collected) return fail(isGone);
      return value(await compareArtifacts(needs.project.artifacts, one.value, other.value));
    },
  });
}

function runArtifactRoutes(needs: RouteNeeds): readonly Route[] {
  const { ledger } = needs.project;
  return [
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}/manifest', group, deed: 'look', answer: manifestShown },
      summary: 'The files and artifacts that a run left behind, as it was written down when it ended.',
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const manifest = await readManifest(ledger, row.value);
        return manifest === undefined ? fail(notFound('manifest in this session')) : value(manifest);
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}/diff', group, deed: 'look', answer: artifactsCompared },
      summary: 'What two runs left behind, file by file.',
      query: z.strictObject({ with: z.string().min(1).max(100).describe('the other run') }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const other = await findVisibleRun(ledger, asked.caller, asked.query.with);
        return other === undefined ? fail(notFound('such other run')) : value(await compareRuns(ledger, row.value, other));
      },
    }),
  ];
}
