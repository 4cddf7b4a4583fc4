/** Router: routed with and without a note, wrong and failing destinations, answering itself, and its last turn. */
import { expect } from 'vitest';
import type { Json } from '../../../src/base/json.ts';
import { present } from '../../../src/base/present.ts';
import { calls, reports, says } from '../world.ts';
import { actor, askedOf, byAgent, eventsOf, fails, type Scenario, told, toolsOf } from './scenarios.ts';

const desk = (changes = {}) => actor('desk', { router: { destinations: ['billing', 'legal'] }, ...changes });
const routes = (agent: string, message?: string) =>
  calls({ name: 'handoff-to', input: { agent, ...present({ message }) } as Json, id: 'route' });

const ORIGINAL = '## ORIGINAL USER REQUEST\\n\\n<request-(\\w+)>\\nMy bill is wrong\\.\\n</request-\\1>';

export const routerScenarios: readonly Scenario[] = [
  {
    name: 'routed with a message',
    pattern: 'router',
    everyCut: true,
    agents: [desk({ tools: ['look', 'act'] }), actor('billing', { tools: ['look'] }), actor('legal')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: (_request, turn) => (turn === 1 ? calls({ name: 'look' }, { name: 'act' }) : routes('billing', 'Account 7.')),
      billing: (_request, turn) => (turn === 1 ? calls({ name: 'look' }) : reports('Refunded.')),
    }),
    expect: { body: 'Refunded.', finalAgent: 'billing' },
    check(played) {
      const heading = '## MESSAGE FROM AGENT `desk` WHO ROUTED THIS REQUEST TO YOU';
      expect(told(askedOf(played, 'billing')[0])).toMatch(
        new RegExp(`^${ORIGINAL}\\n\\n${heading}\\n\\n<message-\\1>\\nAccount 7\\.\\n</message-\\1>$`),
      );
      expect(eventsOf(played, 'router.chose').map((event) => event.payload)).toEqual([
        { agent: 'billing', message: 'Account 7.' },
      ]);
    },
  },
  {
    name: 'without a message its section is left out',
    pattern: 'router',
    agents: [desk(), actor('billing'), actor('legal')],
    prompt: 'My bill is wrong.',
    brain: byAgent({ desk: () => routes('billing', '  '), billing: () => says('Refunded.') }),
    expect: { body: 'Refunded.', finalAgent: 'billing' },
    check: (played) => expect(told(askedOf(played, 'billing')[0])).toMatch(new RegExp(`^${ORIGINAL}$`)),
  },
  {
    name: 'a destination that fails is named',
    pattern: 'router',
    agents: [desk(), actor('billing'), actor('legal')],
    prompt: 'Sue them.',
    brain: byAgent({ desk: () => routes('legal'), legal: () => fails('no key') }),
    expect: { status: 'failed', finalAgent: 'legal', error: /^At router to legal: no key/ },
  },
  {
    name: 'a wrong destination goes back as an error and is corrected',
    pattern: 'router',
    agents: [desk(), actor('billing'), actor('legal')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: (_request, turn) => routes(turn === 1 ? 'nobody' : 'billing'),
      billing: () => says('Refunded.'),
    }),
    expect: { body: 'Refunded.', finalAgent: 'billing' },
    check(played) {
      const [first, second] = askedOf(played, 'desk');
      const tool = first?.tools.find((spec) => spec.name === 'handoff-to');
      expect(tool?.inputSchema).toMatchObject({ properties: { agent: { enum: ['billing', 'legal'] } }, required: ['agent'] });
      expect(told(second)).toMatch(/Not routed: [\s\S]*The destinations are: billing, legal\./);
    },
  },
  {
    name: 'a router that answers itself is terminal',
    pattern: 'router',
    agents: [desk(), actor('billing'), actor('legal')],
    prompt: 'What time is it?',
    brain: byAgent({ desk: () => reports('Noon.') }),
    expect: { body: 'Noon.', finalAgent: 'desk' },
    check(played) {
      expect(toolsOf(played.asked[0])).toEqual(['handoff-to', 'final_report']);
      expect(eventsOf(played, 'router.chose')).toEqual([]);
    },
  },
  {
    name: "the router's own handoff comes last",
    pattern: 'router',
    agents: [desk({ handoff: { to: 'editor', include: 'report' } }), actor('billing'), actor('legal'), actor('editor')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: () => routes('billing'),
      billing: () => says('refunded'),
      editor: (request) => says(`Dear sir: ${told(request)}`),
    }),
    expect: { body: 'Dear sir: refunded', finalAgent: 'editor' },
    check: (played) => expect(played.asked.map((request) => request.agent)).toEqual(['desk', 'billing', 'editor']),
  },
  {
    name: 'on the forced last turn it may still route or report',
    pattern: 'router',
    agents: [desk({ maxTurns: 2, tools: ['look'] }), actor('billing'), actor('legal')],
    prompt: 'My bill is wrong.',
    brain: byAgent({
      desk: (_request, turn) => (turn === 1 ? calls({ name: 'look' }) : routes('billing')),
      billing: () => says('Refunded.'),
    }),
    expect: { body: 'Refunded.', finalAgent: 'billing' },
    check(played) {
      const [, last] = askedOf(played, 'desk');
      expect(toolsOf(last)).toEqual(['handoff-to', 'final_report']);
      expect(last?.toolChoice).toBe('required');
    },
  },
  {
    name: 'a router that never decides ends in a clear failure',
    pattern: 'router',
    agents: [desk({ maxTurns: 2, tools: ['look'] }), actor('billing'), actor('legal')],
    prompt: 'Hm.',
    brain: byAgent({ desk: (_request, turn) => calls({ name: 'look', input: { name: String(turn) } }) }),
    expect: { status: 'failed', finalAgent: 'desk', error: /used its 2 turns without giving an answer/ },
    check: (played) => expect(played.asked).toHaveLength(2),
  },
];
