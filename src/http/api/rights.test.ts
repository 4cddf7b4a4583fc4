/** Every route, asked by everybody: what a role may not is refused before anything else, what is others’ is not there. */
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, says } from '../../../test/support/world.ts';
import { type Deed, mayDo, type Role } from '../../front/roles.ts';
import type { McpCaller } from '../../protocols/mcp/needs.ts';

const rights = { commands: [], answers: true, approves: true };
const callers: Readonly<Record<string, McpCaller>> = {
  vera: { name: 'vera', sees: 'everything', role: 'viewer', rights },
  oda: { name: 'oda', sees: 'everything', role: 'operator', rights },
  alice: { name: 'alice', sees: 'own', rights },
  bob: { name: 'bob', sees: 'own', rights },
};
const ROLES = { vera: 'viewer', oda: 'operator', bob: 'caller' } as const satisfies Record<string, Role>;

/** What a request needs to get past its schemas. */
const BODIES: Readonly<Record<string, object>> = {
  '/runs/{run}/answers': { wait: 'w', answer: { kind: 'text', text: 'x' } },
  '/runs/{run}/messages': { text: 'x' },
};
const QUERIES: Readonly<Record<string, string>> = {
  '/sessions/{session}/artifact': '?ref=artifact%3A%2F%2Fx',
  '/sessions/{session}/payloads/{ref}': '?at=1',
};

interface Operation {
  readonly path: string;
  readonly method: string;
  readonly deed: Deed | 'anybody';
}

interface Described {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly 'x-troupe-deed': Operation['deed'] }>>>>;
}

describe('every route', () => {
  it('is for those whose role allows it, and tells nobody of what is others’', async () => {
    await using world = await serveWorld({
      brain: () => says('said'),
      agents: [agent({ name: 'talker', tools: [], permissions: {} })],
      callers,
    });
    const { paths } = (await (await world.ask('/openapi.json')).json()) as Described;
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(
        ([method, one]): Operation => ({ path, method: method.toUpperCase(), deed: one['x-troupe-deed'] }),
      ),
    );
    expect(operations.length).toBeGreaterThan(40);
    const begun = { ...sendJson({ agent: 'talker', prompt: 'secret words' }), token: tokenOf('alice') };
    const { run, session } = (await (await world.ask('/api/v1/runs', begun)).json()) as { run: string; session: string };
    const ask = async ({ path, method }: Operation, token: string) => {
      const address = path
        .replace('{run}', run)
        .replace('{session}', session)
        .replaceAll(/\{\w+\}/g, 'f'.repeat(64));
      const short = path.replace('/api/v1', '');
      const stop = new AbortController();
      const body = method === 'POST' ? { body: JSON.stringify(BODIES[short] ?? {}) } : {};
      const headers = { 'content-type': 'application/json' };
      const query = QUERIES[short] ?? '';
      const response = await world.ask(`${address}${query}`, { ...body, method, token, headers, signal: stop.signal });
      const text = response.headers.get('content-type')?.includes('event-stream') ? '' : await response.text();
      stop.abort();
      return { status: response.status, text };
    };
    for (const operation of operations.filter(({ deed }) => deed !== 'anybody')) {
      const { method, path, deed } = operation;
      const named = `${method} ${path}`;
      expect([named, (await ask(operation, '')).status]).toEqual([named, 401]);
      for (const [name, role] of Object.entries(ROLES)) {
        const isAllowed = mayDo(role, deed as Deed);
        if (!isAllowed) expect([named, name, (await ask(operation, tokenOf(name))).status]).toEqual([named, name, 403]);
      }
      if (!mayDo('caller', deed as Deed)) continue;
      const bob = await ask(operation, tokenOf('bob'));
      if (/\{(run|session)\}/.test(path)) expect([named, bob.status]).toEqual([named, 404]);
      expect([named, bob.text.includes('secret words'), bob.text.includes(session)]).toEqual([named, false, false]);
    }
    expect(world.errors).toEqual([]);
  });
});
