/**
 * Forty requests of a house and who should do them. The model knows, and says it in every way in which models say such things;
 * what is proved is that the routing understands each of them, and has exactly those work that it should.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { agent, createWorld, says } from '../../../test/support/world.ts';
import { readAll } from '../../engine/record/read-all.ts';
import { userText } from '../../events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../models/port.ts';

interface Labelled {
  readonly request: string;
  readonly agents?: readonly string[];
  readonly clarify?: boolean;
}

const file = join(import.meta.dirname, '../../../examples/19-house/requests.yaml');
const labelled = parse(readFileSync(file, 'utf8')) as readonly Labelled[];
const NAMES = ['lights', 'music', 'climate', 'timer'];

type Said = Readonly<Record<string, unknown>>;

/** How one and the same choice is said. */
const WAYS: readonly ((said: Said, request: ModelRequest) => ModelOutcome)[] = [
  (said) => says(JSON.stringify(said)),
  (said) => says(`\`\`\`json\n${JSON.stringify(said, null, 2)}\n\`\`\``),
  (said) => says(JSON.stringify({ ...said, confidence: String(said['confidence']) })),
  (said, { messages }) => says(messages.length === 1 ? 'That is easy.' : JSON.stringify(said)),
  (said, { messages }) => says(messages.length === 1 ? '' : JSON.stringify(said)),
  (said, { messages }) => says(JSON.stringify(messages.length === 1 ? { ...said, agentId: `the ${said['agentId']}` } : said)),
  (said) => says(JSON.stringify({ ...said, additionalAgents: [...((said['additionalAgents'] as string[]) ?? []), 'garden'] })),
  (said) => says(JSON.stringify({ ...said, mood: null, reasoning: null })),
];

function answerTo({ agents = ['lights'], clarify = false }: Labelled): Said {
  const [agentId, ...additionalAgents] = agents;
  const agentInstructions = agents.map((name) => ({ agentId: name, instruction: `The part of ${name}.` }));
  const told = { additionalAgents, agentInstructions };
  return { agentId, confidence: clarify ? 0.4 : 0.9, reasoning: 'What?', ...(additionalAgents.length === 0 ? {} : told) };
}

const world = createWorld({
  agents: [
    agent({ name: 'house', tools: [], dispatch: { agents: NAMES } }),
    ...NAMES.map((name) => agent({ name, tools: [], description: `Does ${name}.` })),
  ],
  brain(request) {
    if (request.agent !== 'house') return says('Done.');
    const [first] = request.messages;
    const text = first?.role === 'user' && first.content[0]?.type === 'text' ? first.content[0].text : '';
    const at = labelled.findIndex((one) => text.includes(`>\n${one.request}\n<`));
    const found = labelled[at];
    if (found === undefined) throw new Error(`Nobody has labelled this: ${text}`);
    return WAYS[at % WAYS.length]?.(answerTo(found), request) ?? says('');
  },
});
afterAll(() => world.close());

it('there are forty, of every kind', () => {
  expect(labelled).toHaveLength(40);
  for (const name of NAMES) expect(labelled.filter(({ agents }) => agents?.includes(name)).length).toBeGreaterThanOrEqual(8);
  expect(labelled.filter(({ agents = [] }) => agents.length > 1).length).toBeGreaterThanOrEqual(5);
  expect(labelled.filter(({ clarify }) => clarify === true).length).toBeGreaterThanOrEqual(3);
});

it.each(labelled)('$request', async ({ request, agents = [], clarify = false }) => {
  const started = await world.engine.start({ agent: 'house', input: userText(request), workspace: '.' });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  const end = await started.handle.done;
  expect(end.kind).toBe(clarify ? 'waiting' : 'ended');
  const events = await readAll(world.ledger, started.handle.session);
  const worked = events.flatMap((event) => (event.event_type === 'run.started' ? [event.payload.agent] : []));
  expect(worked.filter((name) => name !== 'house').toSorted()).toEqual(agents.toSorted());
});
