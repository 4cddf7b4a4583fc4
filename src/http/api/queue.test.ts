/** Prompts for a session that is at work: each in its turn, once, also when the server that took it is not there any more. */
import { describe, expect, it } from 'vitest';
import { type ApiServer, sendJson, tokenOf } from '../../../test/support/http/api-server.ts';
import { type ServedWorld, serveWorld } from '../../../test/support/http/served-project.ts';
import { agent, type Brain, reports } from '../../../test/support/world.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';

const talker = agent({ name: 'talker', tools: [], permissions: {} });
const other = agent({ name: 'other', tools: [], permissions: {} });
const callers = { oda: { name: 'oda', sees: 'everything', role: 'operator' }, alice: { name: 'alice', sees: 'own' } } as const;

/** Answers what was said last, and to `hold` only when it is let go. */
function createBrain() {
  const { promise: isLetGo, resolve: letGo } = Promise.withResolvers<void>();
  const brain: Brain = async (request) => {
    const said = JSON.stringify(request.messages.findLast(({ role }) => role === 'user'));
    if (said.includes('hold')) await isLetGo;
    return reports('Done.');
  };
  return { brain, letGo };
}

async function begin(world: ServedWorld, prompt: string): Promise<{ run: RunId; session: SessionId }> {
  const begun = await world.ask('/api/v1/runs', sendJson({ agent: 'talker', prompt }));
  return (await begun.json()) as { run: RunId; session: SessionId };
}

const prompt = async (server: ApiServer, session: string, body: object, key?: string, name?: string) => {
  const headers: Record<string, string> = present({ 'idempotency-key': key });
  const given = { ...sendJson(body, headers), ...(name === undefined ? {} : { token: tokenOf(name) }) };
  const response = await server.ask(`/api/v1/sessions/${session}/prompts`, given);
  return { status: response.status, value: (await response.json()) as { prompt: string } };
};

const waiting = async (server: ApiServer, session: string) =>
  (await (await server.ask(`/api/v1/sessions/${session}/prompts`)).json()) as readonly { prompt: string; text: string }[];

/** What was asked in a session, in order, with who was asked. */
async function asked({ ledger }: ServedWorld, session: SessionId): Promise<readonly unknown[]> {
  const started = await ledger.read({ session, types: ['run.started'] });
  return started.map(({ payload }) => {
    const { agent: name, input, origin } = payload as { agent: string; input: { content: [{ text: string }] }; origin: object };
    return [name, input.content[0].text, origin];
  });
}

const PERSON = { kind: 'person', client: 'api', name: 'owner' };
const isIdle = async ({ ledger }: ServedWorld, session: SessionId) =>
  (await ledger.runs({ session, roots: true })).every(({ endedAt }) => endedAt !== null);

describe('prompts for a session that is at work', () => {
  it('wait their turn and are worked on in order, each once', async () => {
    const { brain, letGo } = createBrain();
    await using world = await serveWorld({ brain, agents: [talker, other], callers });
    const { run, session } = await begin(world, 'hold one');
    await expect.poll(async () => (await world.ledger.read({ session, types: ['model.request'] })).length).toBe(1);
    const two = await prompt(world, session, { text: 'two' }, 'k-2');
    expect(two).toMatchObject({ status: 200, value: { outcome: 'queued', before: 1, run, standing: 'working', session } });
    expect((await prompt(world, session, { text: 'two' }, 'k-2')).value).toEqual({ ...two.value, before: 0 });
    expect(await prompt(world, session, { text: 'else' }, 'k-2')).toMatchObject({ status: 422 });
    expect(await prompt(world, session, { text: 'three', agent: 'other' })).toMatchObject({ value: { before: 2 } });
    const lost = await prompt(world, session, { text: 'nobody does this', agent: 'nobody' });
    const dropped = await prompt(world, session, { text: 'never' });
    await prompt(world, session, { text: 'four' });
    const back = (at: string) => world.ask(`/api/v1/sessions/${session}/prompts/${at}`, { method: 'DELETE' });
    expect([(await back(dropped.value.prompt)).status, (await back(dropped.value.prompt)).status]).toEqual([200, 404]);
    expect((await waiting(world, session)).map(({ text }) => text)).toEqual(['two', 'three', 'nobody does this', 'four']);
    expect((await prompt(world, session, { text: 'x' }, undefined, 'oda')).status).toBe(403);
    expect((await prompt(world, 'ses_none', { text: 'x' })).status).toBe(404);
    expect((await world.ask(`/api/v1/sessions/${session}/prompts`, { token: tokenOf('alice') })).status).toBe(404);
    letGo();
    await expect.poll(async () => (await waiting(world, session)).length).toBe(0);
    await expect.poll(() => isIdle(world, session)).toBe(true);
    expect(await asked(world, session)).toEqual([
      ['talker', 'hold one', PERSON],
      ['talker', 'two', PERSON],
      ['other', 'three', PERSON],
      ['talker', 'four', PERSON],
    ]);
    // What can never begin holds nothing up, and says why.
    const gone = await world.ledger.read({ session, types: ['prompt.dropped'] });
    expect(gone.map(({ payload }) => payload)).toMatchObject([
      { prompt: dropped.value.prompt, reason: 'owner took it back' },
      { prompt: lost.value.prompt, reason: expect.stringMatching(/^it could not begin: /) },
    ]);
    // Where nothing is under way it begins at once.
    expect(await prompt(world, session, { text: 'five' })).toMatchObject({ value: { outcome: 'started', before: 0 } });
    await expect.poll(() => isIdle(world, session)).toBe(true);
    expect(world.errors).toEqual([]);
  });

  it('are worked on by the server that comes after the one that took them', async () => {
    const { brain, letGo } = createBrain();
    await using world = await serveWorld({ brain, agents: [talker, other] });
    const { session } = await begin(world, 'hold one');
    {
      await using first = await world.again();
      await expect.poll(async () => (await world.ledger.read({ session, types: ['model.request'] })).length).toBe(1);
      expect(await prompt(first, session, { text: 'two' })).toMatchObject({ value: { outcome: 'queued' } });
    }
    letGo();
    await expect.poll(() => isIdle(world, session)).toBe(true);
    expect((await waiting(world, session)).map(({ text }) => text)).toEqual(['two']);
    await using _second = await world.again();
    await expect.poll(async () => (await asked(world, session)).length).toBe(2);
    await expect.poll(() => isIdle(world, session)).toBe(true);
    expect(await waiting(world, session)).toEqual([]);
  });
});
