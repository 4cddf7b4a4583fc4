/** What a router remembers: the same request to the same agents, and only what it was sure of. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { agent, createWorld, says, type World, type WorldOptions } from '../../../test/support/world.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { userText } from '../../events/messages.ts';

const folder = mkdtempSync(join(tmpdir(), 'troupe-remembered-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Dispatch = NonNullable<AgentDefinition['dispatch']>;

interface Asked {
  readonly request?: string;
  readonly config?: Partial<Dispatch>;
  readonly about?: string;
  readonly world?: Partial<WorldOptions>;
  readonly confidence?: number;
  readonly image?: boolean;
  readonly models?: readonly string[];
}

let files = 0;

/** A process of its own for each request, all on the same ledger: how often the router's model was asked, and what was chosen. */
async function play(...all: readonly Asked[]) {
  files += 1;
  const path = join(folder, `${files}.db`);
  const seen = [];
  for (const { request = 'Lights on.', config, about = 'Lights.', world: more, confidence = 0.9, image = false, models } of all) {
    let asked = 0;
    const house = agent({
      name: 'house',
      tools: [],
      dispatch: { agents: ['lights'], cache: true, ...config },
      ...present({ models }),
    });
    const world = createWorld({
      path,
      agents: [house, agent({ name: 'lights', tools: [], description: about })],
      brain: ({ agent: name }) => {
        if (name !== 'house') return says('On.');
        asked += 1;
        return says(JSON.stringify({ agentId: 'lights', confidence, reasoning: 'Sure.' }));
      },
      ...more,
    });
    const content = [{ type: 'text' as const, text: request }];
    const picture = { type: 'image' as const, mediaType: 'image/png', data: 'AA==' };
    const input = image ? { role: 'user' as const, content: [...content, picture] } : userText(request);
    seen.push({ asked: () => asked, chosen: await chosen(world, input) });
    await world.close();
  }
  return seen.map((one) => ({ asked: one.asked(), ...one.chosen }));
}

async function chosen(world: World, input: ReturnType<typeof userText>) {
  const started = await world.engine.start({ agent: 'house', input, workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  const events = await readAll(world.ledger, started.handle.session);
  const event = events.find((one) => one.event_type === 'dispatch.chose');
  if (event?.event_type !== 'dispatch.chose') throw new Error('Nothing was chosen.');
  const { agentId, confidence, reasoning, recalled = false, attempts } = event.payload;
  return { end: end.kind, agentId, confidence, reasoning, recalled, attempts };
}

it('the same request to the same agents is chosen without a model, in another process too', async () => {
  const [first, second, third] = await play({}, {}, { request: ' Lights on.\n' });
  expect(first).toMatchObject({ asked: 1, recalled: false, attempts: 1, end: 'ended' });
  for (const again of [second, third])
    expect(again).toEqual({ ...first, asked: 0, recalled: true, attempts: 0, reasoning: 'Sure.' });
});

it.each<[string, Asked, Asked]>([
  ['another request', {}, { request: 'Lights off.' }],
  ['another description', {}, { about: 'Lamps.' }],
  ['another model', {}, { config: { model: 'other/model' } }],
  ['another model of its own', {}, { models: ['other/model'] }],
  ['other rules', {}, { config: { systemPrompt: 'Choose.' } }],
  ['a higher threshold than it was sure', { confidence: 0.75 }, { config: { confidenceThreshold: 0.8 } }],
  ['nothing remembered', { config: { cache: false } }, {}],
  ['not to remember', {}, { config: { cache: false } }],
  ['a picture', { image: true }, { image: true }],
])('%s is chosen anew', async (_name, before, after) => {
  const [, second] = await play(before, after);
  expect(second).toMatchObject({ asked: 1, recalled: false });
});

it('what it was not sure of is not remembered', async () => {
  const unsure = { config: { fallback: 'lights', clarification: 'lights' }, confidence: 0.5 };
  const [, second] = await play(unsure, { ...unsure, confidence: 0.9 });
  expect(second).toMatchObject({ asked: 1, recalled: false, agentId: 'lights' });
  const [, bolder] = await play({ confidence: 0.5 }, { confidence: 0.9, config: { confidenceThreshold: 0.4 } });
  expect(bolder).toMatchObject({ asked: 1, recalled: false, agentId: 'lights' });
});

it('a store that cannot be asked is no reason to fail', async () => {
  let refused = 0;
  const broken: Partial<WorldOptions> = {
    wrapLedger: (ledger) => ({
      ...ledger,
      runs(filter) {
        if (filter.limit !== limits.runsRecalled) return ledger.runs(filter);
        refused += 1;
        return Promise.reject(new Error('the store is away'));
      },
    }),
  };
  const [, second] = await play({}, { world: broken });
  expect(second).toMatchObject({ asked: 1, recalled: false, end: 'ended' });
  expect(refused).toBe(1);
});
