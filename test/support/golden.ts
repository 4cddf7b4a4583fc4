/**
 * The runs that golden ledgers hold: one that ended, one that waits for a permission, one that a crash left in the middle of
 * an effect, and a team in its second cycle. A golden file is written once per release by `node test/support/golden-main.ts`
 * and never again: later releases must load, verify and resume it.
 */
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';
import type { RunId } from '../../src/base/ids.ts';
import type { UserMessage } from '../../src/events/messages.ts';
import { userText } from '../../src/events/messages.ts';
import type { ModelOutcome, ModelRequest } from '../../src/models/port.ts';
import { agent, calls, reports, says, turnOf } from './world.ts';

export const goldenAgents: readonly AgentDefinition[] = [
  agent({ name: 'worker' }),
  agent({ name: 'careful', permissions: { act: 'ask' } }),
  agent({ name: 'lead', tools: [], team: { members: ['ann', 'bob'] } }),
  agent({ name: 'ann', tools: [] }),
  agent({ name: 'bob', tools: [] }),
];

export interface GoldenRun {
  readonly run: RunId;
  readonly agent: string;
  readonly input: UserMessage;
  /** What the first life of the run comes to. */
  readonly left: 'ended' | 'waiting' | 'interrupted';
  /** What it says when it has ended. */
  readonly says: string;
}

const named = (name: string): RunId => `run_golden${name.padStart(14, '0')}` as RunId;

export const goldenRuns: readonly GoldenRun[] = [
  { run: named('ended'), agent: 'worker', input: userText('Look around.'), left: 'ended', says: 'All seen.' },
  { run: named('waiting'), agent: 'careful', input: userText('Act, but ask.'), left: 'waiting', says: 'All seen.' },
  { run: named('cut'), agent: 'worker', input: userText('Act and be cut off.'), left: 'interrupted', says: 'All seen.' },
  { run: named('team'), agent: 'lead', input: userText('Talk it over.'), left: 'interrupted', says: 'Agreed.' },
];

export function goldenBrain(request: ModelRequest): ModelOutcome {
  const turn = turnOf(request);
  if (request.agent === 'lead')
    return turn < 2 ? calls({ name: 'team_broadcast', input: { message: 'Go on.' } }) : reports('Agreed.');
  if (request.agent === 'ann' || request.agent === 'bob') return says(`${request.agent} in turn ${turn}`);
  return turn === 1 ? calls({ name: 'look' }, { name: 'act' }) : reports('All seen.');
}
