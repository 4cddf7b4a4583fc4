/** AG-UI with a real engine behind it: a run as events, interrupts and their answers, late joins, and what is refused. */
import { describe, expect, it } from 'vitest';
import { sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { listenTo } from '../../../test/support/http/sse.ts';
import { agent, type Brain, calls, reports, says, turnOf } from '../../../test/support/world.ts';
import type { McpCaller } from '../mcp/needs.ts';

const rights = { commands: [], answers: true, approves: false };
const callers: Readonly<Record<string, McpCaller>> = {
  alice: { name: 'alice', sees: 'own', rights },
  bob: { name: 'bob', sees: 'own', rights },
  vera: { name: 'vera', sees: 'everything', role: 'viewer', rights: { ...rights, spawn: [] } },
};
const agents = [
  agent({ name: 'lead', tools: [], agents: ['writer'], permissions: {} }),
  agent({ name: 'writer', description: 'Writes', tools: ['write'], permissions: { write: 'ask' } }),
  agent({ name: 'asker', tools: ['ask'], permissions: {} }),
];
const brain: Brain = (request) => {
  const names = request.tools.map(({ name }) => name);
  if (names.includes('ask'))
    return turnOf(request) > 1 ? says('Then red.') : calls({ name: 'ask', input: { question: 'Which colour?' } });
  if (names.includes('write'))
    return turnOf(request) > 1 ? reports('written') : calls({ name: 'write', input: { path: 'a.txt', content: 'one' } });
  return turnOf(request) > 1 ? says('All done.') : calls({ name: 'writer', input: { prompt: 'write', reason: 'because' } });
};
const serve = () => serveWorld({ brain, agents, callers, serve: { agui: {} } });

type Told = { readonly type: string } & Readonly<Record<string, unknown>>;

async function told(response: Response): Promise<readonly Told[]> {
  expect([response.status, response.headers.get('content-type')]).toEqual([200, expect.stringContaining('event-stream')]);
  const listener = listenTo(response);
  await listener.ended;
  return listener.frames.map(({ data }) => JSON.parse(data) as Told);
}
const input = (runId: string, more: object = {}) => ({
  ...{ threadId: 't', runId, tools: [], context: [], state: {} },
  ...{ messages: [{ id: 'm', role: 'user', content: 'begin' }], ...more },
});
const post = (world: ServedWorld, name: string, body: unknown, token = tokenOf('alice'), act = '') =>
  world.ask(`/agui/agents/${name}${act}`, { ...sendJson(body), token });
const typesOf = (events: readonly Told[]): readonly string[] => events.map(({ type }) => type);

describe('a run', () => {
  it('ends where it waits, goes on with the answer as another run, and is joined whole by whoever comes late', async () => {
    await using world = await serve();
    const first = await told(await post(world, 'lead', input('r1'), tokenOf('alice')));
    expect(typesOf(first)).toEqual([
      ...[
        'RUN_STARTED',
        'TOOL_CALL_START',
        'TOOL_CALL_ARGS',
        'TOOL_CALL_END',
        'SUBAGENT_STARTED',
        'SUBAGENT_FINISHED',
        'RUN_FINISHED',
      ],
    ]);
    const { outcome } = first.at(-1) as unknown as {
      outcome: { interrupts: [{ id: string; metadata: { shown: string; link: string } }] };
    };
    const [{ id, metadata }] = outcome.interrupts;
    expect(outcome).toMatchObject({
      type: 'interrupt',
      interrupts: [{ reason: 'permission', subagentRunId: expect.any(String) }],
    });
    expect(first.at(-2)).toMatchObject({ outcome: { type: 'suspended', interruptIds: [id] } });
    expect(metadata.link).toContain('/answer/run_');
    const resumed = (payload: object, token: string) =>
      post(world, 'lead', input('r2', { resume: [{ interruptId: id, status: 'resolved', payload }] }), token);
    const approved = { approved: true, shown: metadata.shown };
    // Not without what was seen, not by whose it is not, and not by who may not give it.
    expect((await resumed(approved, tokenOf('alice'))).status).toBe(403);
    expect((await resumed(approved, tokenOf('bob'))).status).toBe(404);
    const [wait] = (await (await world.ask('/api/v1/inbox')).json()) as [{ run: string; wait: string; shown: string }];
    const body = { wait: wait.wait, answer: { kind: 'approved' }, shown: wait.shown };
    expect((await world.ask(`/api/v1/runs/${wait.run}/answers`, sendJson(body))).status).toBe(200);
    const second = await resumed(approved, tokenOf('alice'));
    expect([second.status, await second.text()]).toEqual([409, expect.stringContaining('has answered this question: owner, at')]);
    const late = await told(await post(world, 'lead', input('x'), tokenOf('alice'), '/connect'));
    expect(typesOf(late).slice(0, 2)).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT']);
    expect(late[1]).toMatchObject({ messages: [{ role: 'user', content: 'begin' }] });
    expect(typesOf(late)).toEqual(expect.arrayContaining(['TOOL_CALL_RESULT', 'SUBAGENT_STARTED', 'SUBAGENT_FINISHED']));
    expect(late.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'success' }, result: { finalAgent: 'lead' } });
    expect(late.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['All done.']);
    // The same run again is the same run.
    const again = await told(await post(world, 'lead', input('r1')));
    expect(typesOf(again)).toEqual(typesOf(late));
    expect(await world.ledger.runs({ roots: true })).toHaveLength(1);
  });

  it('that asks a question takes the answer as a resume, or as the next message', async () => {
    await using world = await serve();
    for (const [threadId, more] of [
      ['a', { resume: [{ interruptId: '', status: 'resolved', payload: { text: 'red' } }] }],
      ['b', { messages: [{ id: 'm2', role: 'user', content: 'red' }] }],
    ] as const) {
      const first = await told(await post(world, 'asker', input('r1', { threadId })));
      const { outcome } = first.at(-1) as unknown as { outcome: { interrupts: [{ id: string; message: string }] } };
      expect(outcome.interrupts[0].message).toBe('Which colour?');
      const named = 'resume' in more ? { resume: [{ ...more.resume[0], interruptId: outcome.interrupts[0].id }] } : more;
      const next = await told(await post(world, 'asker', input('r2', { threadId, ...named })));
      expect(next.filter(({ type }) => type === 'TEXT_MESSAGE_CONTENT').map(({ delta }) => delta)).toEqual(['Then red.']);
    }
  });
});

it('refuses what it cannot read, and who may not', async () => {
  await using world = await serve();
  const table: readonly (readonly [name: string, body: unknown, status: number, token?: string])[] = [
    ['nobody', input('r'), 404],
    ['lead', input('r', { messages: [] }), 400],
    ['lead', input('r', { messages: [{ role: 'assistant', content: 'hi' }] }), 400],
    ['lead', input('r', { threadId: '' }), 400],
    ['lead', { messages: 1 }, 400],
    ['lead', [], 400],
    ['lead', input('r', { resume: [{ interruptId: 'x', status: 'resolved' }] }), 404],
    ['lead', input('r'), 401, ''],
    ['lead', input('r'), 403, tokenOf('vera')],
  ];
  for (const [name, body, status, token] of table) {
    const response = await post(world, name, body, token);
    expect([JSON.stringify(body).slice(0, 60), response.status]).toEqual([JSON.stringify(body).slice(0, 60), status]);
    expect(await response.json()).toMatchObject({ error: { message: expect.any(String) } });
  }
  expect((await post(world, 'lead', input('r'), tokenOf('alice'), '/connect')).status).toBe(404);
  expect((await world.ask('/agui/elsewhere')).status).toBe(404);
  expect(await (await world.ask('/agui/agents', { token: tokenOf('bob') })).json()).toMatchObject({
    agents: [{}, { name: 'writer' }, {}],
  });
  expect(await world.ledger.runs({})).toEqual([]);
});
