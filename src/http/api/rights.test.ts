/** Every route, asked by everybody: what a role may not is refused before anything else, what is others’ is not there. */
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, says } from '../../../test/support/world.ts';
import { jsonContract } from '../../cli/json/contract.ts';
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
  '/sessions/{session}/artifact/pin': { ref: 'x' },
};
const QUERIES: Readonly<Record<string, string>> = {
  '/runs/{run}/answers': '?wait=w',
  '/sessions/{session}/artifact/diff': '?left=x&right=y',
  '/runs/{run}/diff': '?with=x',
  '/sessions/{session}/artifact': '?ref=artifact%3A%2F%2Fx',
  '/sessions/{session}/payloads/{ref}': '?at=1',
};

const FILES = 'writes files of the project: an editor and git do that, and what a server writes for others nobody has seen';
const MACHINE = 'is about the machine that it is called on: a server does not change that for others';

/** For each command of the command line its route, or why there is none. */
const COMMANDS: Readonly<Record<keyof typeof jsonContract, string>> = {
  ...{ init: FILES, 'new agent': FILES, 'new team': FILES, 'agents add': FILES, 'agents remove': FILES, 'groups save': FILES },
  ...{ 'presets import': FILES, 'executors add': FILES, 'artifacts get': FILES },
  ...{ 'test add': FILES, test: MACHINE, eval: MACHINE },
  ...{ demo: MACHINE, measure: MACHINE, 'ledger new-key': MACHINE, 'ledger copy': MACHINE, 'agents allow': MACHINE },
  ...{
    'servers list': MACHINE,
    'servers allow': MACHINE,
    'servers forget': MACHINE,
  },
  ...{ models: 'GET /models', import: 'POST /bundles' },
  apply: 'changes the working tree of whoever sits there',
  ...{ 'ledger rebuild': 'is for a ledger that nobody has open', 'ledger gc': 'POST /ledger/gc', forget: 'POST /forget' },
  ...{ 'sessions hold': 'POST /sessions/{session}/hold', 'sessions release': 'POST /sessions/{session}/release' },
  ...{ 'sessions pin': 'POST /sessions/{session}/pin', 'sessions unpin': 'POST /sessions/{session}/pin' },
  ...{ 'artifacts pin': 'POST /sessions/{session}/artifact/pin', 'artifacts unpin': 'POST /sessions/{session}/artifact/pin' },
  ...{ 'artifacts manifest': 'GET /runs/{run}/manifest', 'artifacts diff': 'GET /sessions/{session}/artifact/diff' },
  ...{ 'telemetry status': 'GET /telemetry', 'telemetry backfill': 'POST /telemetry/backfill' },
  replay: 'POST /runs/{run}/replay',
  diff: 'GET /runs/{run}/compare/{other}',
  why: 'GET /runs/{run}/why',
  context: 'GET /runs/{run}/context',
  blame: 'GET /blame',
  query: 'POST /query',
  ...{ check: 'GET /agents/check', run: 'POST /runs', ps: 'GET /runs', sessions: 'GET /sessions', inbox: 'GET /inbox' },
  ...{ 'tasks list': 'GET /tasks', 'tasks show': 'GET /tasks/{task}', 'tasks cancel': 'POST /tasks/{task}/cancel' },
  ...{ show: 'GET /runs/{run}', logs: 'GET /sessions/{session}/events', cost: 'GET /costs', doctor: 'GET /health' },
  ...{
    resume: 'POST /runs/{run}/resume',
    retry: 'POST /runs/{run}/retry',
    fork: 'POST /runs/{run}/fork',
    cancel: 'POST /runs/{run}/cancel',
  },
  ...{ pause: 'POST /runs/{run}/pause', send: 'POST /runs/{run}/messages', answer: 'POST /runs/{run}/answers' },
  ...{ approve: 'POST /runs/{run}/answers', deny: 'POST /runs/{run}/answers' },
  ...{ 'permissions list': 'GET /permissions', 'permissions remove': 'POST /permissions/remove' },
  ...{ 'ledger stats': 'GET /ledger', 'ledger verify': 'POST /ledger/verify' },
  ...{ 'artifacts list': 'GET /sessions/{session}/artifacts', 'artifacts show': 'GET /sessions/{session}/artifact' },
  ...{ 'groups create': 'POST /groups', 'groups list': 'GET /groups', 'groups show': 'GET /groups/{name}' },
  ...{ 'groups rename': 'POST /groups/{name}/rename', 'groups move': 'POST /groups/{name}/move' },
  ...{ 'groups delete': 'DELETE /groups/{name}', 'groups send': 'POST /groups/{name}/prompts' },
  ...{ 'groups pause': 'POST /groups/{name}/pause', 'groups resume': 'POST /groups/{name}/resume' },
  ...{ 'groups stop': 'POST /groups/{name}/stop', 'agents list': 'GET /agents', 'agents show': 'GET /agents/{name}' },
  ...{
    'agents search': 'GET /agents/search',
    'executors list': 'GET /executors',
    'executors probe': 'POST /executors/{name}/probe',
  },
  ...{ 'presets list': 'GET /presets', 'presets show': 'GET /presets/{preset}', 'cluster status': 'GET /health' },
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

  it('or a reason, has every command of the command line', async () => {
    await using world = await serveWorld({ brain: () => says('said'), agents: [agent({ name: 'talker', permissions: {} })] });
    const { paths } = (await (await world.ask('/openapi.json')).json()) as Described;
    const has = (route: string): boolean => {
      const [method = '', path = ''] = route.split(' ');
      return paths[`/api/v1${path}`]?.[method.toLowerCase()] !== undefined;
    };
    expect(Object.keys(COMMANDS).toSorted()).toEqual(Object.keys(jsonContract).toSorted());
    const routes = Object.values(COMMANDS).filter((one) => /^(GET|POST|DELETE) /.test(one));
    expect(routes.filter((route) => !has(route))).toEqual([]);
    expect(routes.length).toBeGreaterThan(40);
  });
});
