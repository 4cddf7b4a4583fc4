/**
 * A boss and its helpers, for crash tests: a boss spawns a helper that asks back, answers it, spawns a second one and waits for
 * it, and reports. What everybody does follows only from what they have heard, so it can be cut and taken up anywhere.
 */
import { assistantTools } from '../../../src/assistants/agent-tools.ts';
import { createMessageService } from '../../../src/assistants/threads/message-service.ts';
import type { Clock } from '../../../src/base/clock.ts';
import type { Ids } from '../../../src/base/ids.ts';
import { ok } from '../../../src/base/result.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import type { ModelOutcome, ModelRequest } from '../../../src/models/port.ts';
import type { Tool } from '../../../src/tools/port.ts';
import { agent, calls, reports, says, turnOf } from '../world.ts';

const TOOLS = ['spawn_assistant', 'poll_assistant', 'send_message', 'recv_message', 'cancel_assistant'];

export const bossAgents = [
  agent({ name: 'boss', tools: TOOLS, maxTurns: 40 }),
  agent({ name: 'asker', tools: [], maxTurns: 40 }),
  agent({ name: 'counter', tools: ['act'], permissions: { act: 'allow' } }),
];

export const BOSS_REPORT = 'main.ts is fine, and there are three.';

const WAIT_MS = 3_000;
const said = (request: ModelRequest): string => JSON.stringify(request.messages);

export function bossBrain(request: ModelRequest): ModelOutcome {
  if (request.agent === 'counter')
    return turnOf(request) === 1 ? calls({ name: 'act', input: { name: 'count' } }) : says('Three.');
  return request.agent === 'asker' ? asker(request) : boss(request);
}

function asker(request: ModelRequest): ModelOutcome {
  const thread_id = /thr_[0-9a-z]{20}/.exec(said(request))?.[0] ?? '';
  if (turnOf(request) === 1)
    return calls({ name: 'send_message', input: { to_assistant_id: 'boss', thread_id, message: 'Which?' } });
  if (said(request).includes('It is main.ts')) return says('main.ts is fine.');
  return calls({ name: 'recv_message', input: { thread_id, unread_only: true, wait_ms: WAIT_MS } });
}

function boss(request: ModelRequest): ModelOutcome {
  const text = said(request);
  const turn = turnOf(request);
  if (turn === 1) return calls({ name: 'spawn_assistant', input: { assistant_id: 'asker', query: 'Check the file.' } });
  const thread_id = /thr_[0-9a-z]{20}/.exec(text)?.[0] ?? '';
  const process_id = /run_[0-9a-z]{20}/.exec(text)?.[0] ?? '';
  const has = (words: string): boolean => text.includes(words);
  if (has('Which?') && !has('It is main.ts'))
    return calls({ name: 'send_message', input: { to_assistant_id: 'asker', thread_id, message: 'It is main.ts.' } });
  if (has('main.ts is fine.') && !has('Three.'))
    return calls({ name: 'spawn_assistant', input: { assistant_id: 'counter', query: 'Count.', run_mode: 'sync' } });
  if (has('Three.')) return reports(BOSS_REPORT);
  return calls({ name: 'poll_assistant', input: { process_id, wait_ms: WAIT_MS } });
}

export function bossTools(ledger: Ledger, clock: Clock, ids: Ids, others: readonly Tool[] = []): readonly Tool[] {
  const service = createMessageService({ ledger, clock, ids });
  const found = { list: async () => ok({ items: [], totalItems: 0 }), search: async () => ok([]) };
  return [...assistantTools({ assistants: { ...service, ...found }, clock }), ...others];
}

export const messageTools = (tools: readonly Tool[]): readonly Tool[] => tools.filter(({ name }) => name.endsWith('_message'));
