/** Handoff: one hop, chains, what is passed on, and what becomes of a stage that fails. */
import { expect } from 'vitest';
import { calls, reports, says } from '../world.ts';
import { actor, askedOf, byAgent, eventsOf, fails, type Scenario, told } from './scenarios.ts';

const to = (name: string, include: 'report' | 'request' = 'report') => ({ handoff: { to: name, include } });
const verdict = { type: 'object', properties: { verdict: { type: 'string' }, score: { type: 'number' } }, required: ['verdict'] };

export const handoffScenarios: readonly Scenario[] = [
  {
    name: 'a single hop passes on the body of the report and nothing else',
    pattern: 'handoff',
    everyCut: true,
    agents: [actor('writer', { ...to('editor'), tools: ['act'] }), actor('editor', { tools: ['look'] })],
    prompt: 'Write.',
    brain: byAgent({
      writer: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'draft' } }) : reports('Draft.')),
      editor: (request, turn) => (turn === 1 ? calls({ name: 'look' }) : reports(`Edited: ${told(request).split('\n')[0]}`)),
    }),
    expect: { body: 'Edited: Draft.', finalAgent: 'editor' },
    check(played) {
      expect(told(askedOf(played, 'editor')[0])).toBe('Draft.');
      expect(eventsOf(played, 'handoff.made').map((event) => event.payload.to)).toEqual(['editor']);
    },
  },
  {
    name: 'a chain of three ends with the last',
    pattern: 'handoff',
    agents: [actor('first', to('second')), actor('second', to('third')), actor('third')],
    prompt: 'p',
    brain: byAgent({
      first: (request) => says(`${told(request)}1`),
      second: (request) => says(`${told(request)}2`),
      third: (request) => says(`${told(request)}3`),
    }),
    expect: { body: 'p123', finalAgent: 'third' },
    check: (played) => expect(played.asked.map((request) => request.agent)).toEqual(['first', 'second', 'third']),
  },
  {
    name: 'include: request adds the original request',
    pattern: 'handoff',
    agents: [actor('writer', to('editor', 'request')), actor('editor')],
    prompt: 'Write about ducks.',
    brain: byAgent({ writer: () => says('Draft.'), editor: () => says('Edited.') }),
    expect: { body: 'Edited.', finalAgent: 'editor' },
    check: (played) =>
      expect(told(askedOf(played, 'editor')[0])).toMatch(
        /^## ORIGINAL USER REQUEST\n\n<request-(\w+)>\nWrite about ducks\.\n<\/request-\1>\n\n## RESPONSE FROM AGENT `writer`\n\n[^\n]*\n\nVerification by the runtime: unchecked: [^\n]*\n\n<response-\1>\nDraft\.\n<\/response-\1>$/,
      ),
  },
  {
    name: 'a JSON report is passed on as JSON text',
    pattern: 'handoff',
    agents: [actor('judge', { ...to('clerk'), output: { schema: verdict } }), actor('clerk')],
    prompt: 'Judge.',
    brain: byAgent({
      judge: () => calls({ name: 'final_report', input: { report: { verdict: 'ok', score: 1 } }, id: 'report' }),
      clerk: (request) => says(told(request)),
    }),
    expect: { body: '{"verdict":"ok","score":1}', finalAgent: 'clerk' },
  },
  {
    name: 'a stage that fails is named',
    pattern: 'handoff',
    agents: [actor('first', to('second')), actor('second', to('third')), actor('third')],
    prompt: 'p',
    brain: byAgent({ first: () => says('1'), second: () => says('2'), third: () => fails('no key') }),
    expect: { status: 'failed', finalAgent: 'third', error: /^At handoff to third: no key/ },
  },
  {
    name: 'an agent that fails hands nothing over',
    pattern: 'handoff',
    agents: [actor('writer', { ...to('editor'), tools: ['look'] }), actor('editor')],
    prompt: 'Write.',
    brain: byAgent({ writer: () => reports('I cannot.', { status: 'failure' }), editor: () => says('Edited.') }),
    expect: { status: 'failed', body: 'I cannot.', finalAgent: 'writer' },
    check(played) {
      expect(askedOf(played, 'editor')).toEqual([]);
      expect(eventsOf(played, 'handoff.made')).toEqual([]);
    },
  },
];
