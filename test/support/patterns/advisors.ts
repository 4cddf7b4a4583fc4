/** Advisors: all before the first turn, under fixed headings; failures and timeouts leave a report in their place. */

import { expect } from 'vitest';
import { roleInTree } from '../../../src/events/run-origin.ts';
import { createQuietClock } from '../quiet-clock.ts';
import { calls, reports, says } from '../world.ts';
import {
  actor,
  askedOf,
  byAgent,
  eventsOf,
  fails,
  never,
  type Scenario,
  type ScenarioRun,
  told,
  UNCHECKED_LINE,
} from './scenarios.ts';

const chief = (changes = {}) => actor('chief', { advisors: ['risk', 'law'], ...changes });

const enriched = (...advice: readonly (readonly [label: string, text: string])[]): RegExp => {
  const line = (text: string) => (text.startsWith('Advisor consultation failed') ? '' : `${UNCHECKED_LINE}\\n\\n`);
  const sections = advice.map(
    ([label, text]) => `\\n\\n### From ${label}\\n\\n${line(text)}<analysis-\\1>\\n${text}\\n</analysis-\\1>`,
  );
  const request = '## ORIGINAL USER REQUEST\\n\\n<request-(\\w+)>\\nShall we\\?\\n</request-\\1>';
  return new RegExp(`^${request}\\n\\n## ANALYSIS GATHERED\\n\\n[^\\n]*${sections.join('')}$`);
};

const statuses = (played: ScenarioRun) =>
  Object.fromEntries(eventsOf(played, 'advisor.reported').map(({ payload }) => [payload.advisor, payload.status]));

/** By the order of events: all have started before one has ended, and all have ended before the chief's first call. */
function checkOrder(played: ScenarioRun): void {
  const advisors = new Set(
    eventsOf(played, 'run.started').flatMap((one) => (roleInTree(one.payload) === 'advisor' ? [one.run] : [])),
  );
  const at = (type: string, of: (run: string) => boolean) =>
    played.events.flatMap((event, index) => (event.type === type && of(event.run) ? [index] : []));
  const started = at('run.started', (run) => advisors.has(run));
  const ended = at('run.ended', (run) => advisors.has(run));
  const first = played.events.findIndex((event) => event.type === 'model.request' && event.agent === 'chief');
  expect(started.length).toBe(ended.length);
  expect(Math.max(...started)).toBeLessThan(Math.min(...ended));
  expect(Math.max(...ended)).toBeLessThan(first);
}

export const advisorScenarios: readonly Scenario[] = [
  {
    name: 'all advise before the first turn, in the order of the file',
    pattern: 'advisors',
    everyCut: true,
    agents: [chief({ tools: ['act'] }), actor('risk', { tools: ['look', 'act'] }), actor('law', { tools: ['act'] })],
    prompt: 'Shall we?',
    brain: byAgent({
      chief: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'decide' } }) : reports('Yes.')),
      risk: (_request, turn) =>
        turn === 1 ? calls({ name: 'look' }, { name: 'act', input: { name: 'weigh' } }) : reports('Risky.'),
      law: (_request, turn) => (turn === 1 ? calls({ name: 'act', input: { name: 'file' } }) : reports('Legal.')),
    }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check(played) {
      checkOrder(played);
      expect(told(askedOf(played, 'chief')[0])).toMatch(enriched(['risk', 'Risky\\.'], ['law', 'Legal\\.']));
      expect(told(askedOf(played, 'risk')[0])).toBe('Shall we?');
    },
  },
  {
    name: 'one that fails leaves a report of its failure',
    pattern: 'advisors',
    agents: [chief(), actor('risk'), actor('law')],
    prompt: 'Shall we?',
    brain: byAgent({ chief: () => says('Yes.'), risk: () => fails('no key'), law: () => says('Legal.') }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check(played) {
      checkOrder(played);
      const failure = 'Advisor consultation failed for risk: no key';
      expect(told(askedOf(played, 'chief')[0])).toMatch(enriched(['risk', failure], ['law', 'Legal\\.']));
      expect(statuses(played)).toEqual({ risk: 'failed', law: 'completed' });
    },
  },
  {
    name: 'one that takes too long is left behind',
    pattern: 'advisors',
    clock: createQuietClock(),
    anyPace: true,
    agents: [chief(), actor('risk', { budget: { wall: 30 } }), actor('law')],
    prompt: 'Shall we?',
    brain: byAgent({ chief: () => says('Yes.'), risk: never, law: () => says('Legal.') }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check(played) {
      const failure = 'Advisor consultation failed for risk: It was not done within 30ms \\(budget\\.wall\\)\\.';
      expect(told(askedOf(played, 'chief')[0])).toMatch(enriched(['risk', failure], ['law', 'Legal\\.']));
      expect(statuses(played)).toEqual({ risk: 'budget_exhausted', law: 'completed' });
    },
  },
  {
    name: 'all failed is still a run',
    pattern: 'advisors',
    agents: [chief(), actor('risk'), actor('law')],
    prompt: 'Shall we?',
    brain: byAgent({ chief: () => says('I guess.'), risk: () => fails('no key'), law: () => fails('no key') }),
    expect: { body: 'I guess.', finalAgent: 'chief' },
    check: (played) => expect(statuses(played)).toEqual({ risk: 'failed', law: 'failed' }),
  },
  {
    name: "the label is the last agent of an advisor's own chain",
    pattern: 'advisors',
    agents: [chief(), actor('risk', { handoff: { to: 'senior', include: 'report' } }), actor('law'), actor('senior')],
    prompt: 'Shall we?',
    brain: byAgent({
      chief: () => says('Yes.'),
      risk: () => says('Hm.'),
      senior: () => says('No worry.'),
      law: () => says('Legal.'),
    }),
    expect: { body: 'Yes.', finalAgent: 'chief' },
    check: (played) =>
      expect(told(askedOf(played, 'chief')[0])).toMatch(enriched(['senior', 'No worry\\.'], ['law', 'Legal\\.'])),
  },
];
