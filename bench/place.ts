/**
 * An engine on a ledger file, with a model that answers at once by a function: what the benchmarks measure in it is all our own.
 */
import { tmpdir } from 'node:os';
import type { AgentDefinition } from '../src/agents/definition/definition.ts';
import { systemClock } from '../src/base/clock.ts';
import { createIds, type SessionId } from '../src/base/ids.ts';
import { present } from '../src/base/present.ts';
import { seededRandom } from '../src/base/random.ts';
import { ok } from '../src/base/result.ts';
import { createEmbeddedEngine } from '../src/engine/local/engine.ts';
import type { Engine, RunHandle } from '../src/engine/port.ts';
import { type AssistantMessage, userText } from '../src/events/messages.ts';
import type { Ledger } from '../src/ledger/port.ts';
import { openSqliteLedger } from '../src/ledger/sqlite/store.ts';
import type { ModelRequest } from '../src/models/port.ts';
import { estimateTokens } from '../src/models/tokens.ts';
import { createQuota } from '../src/quota/quota.ts';
import { decide } from '../src/tools/permissions.ts';
import { type OrdinaryTool, textResult } from '../src/tools/port.ts';

export interface Place {
  readonly engine: Engine;
  readonly ledger: Ledger;
  close(): Promise<void>;
}

export type Brain = (turn: number, request: ModelRequest) => AssistantMessage;

export const calls = (name: string, turn: number): AssistantMessage => ({
  role: 'assistant',
  content: [{ type: 'tool-call', id: `c${turn}`, name, input: { at: turn } }],
});
export const says = (text: string): AssistantMessage => ({ role: 'assistant', content: [{ type: 'text', text }] });
const turnOf = ({ idempotencyKey }: ModelRequest): number => Number(/turn\/(\d+)\//.exec(idempotencyKey)?.[1]);

/** `act` has to be approved; what it and `look` give, and what `dig` attaches to its evidence, is as long as asked for. */
function tools(characters: number): OrdinaryTool[] {
  const inputSchema = { type: 'object', properties: { at: { type: 'number' } } };
  const tool = (name: string, more: Partial<OrdinaryTool>): OrdinaryTool => ({
    name,
    description: name,
    inputSchema,
    replay: 'safe',
    run: async (input) => textResult(`${JSON.stringify(input)} `.padEnd(characters, 'lorem ipsum ')),
    ...more,
  });
  const dig: OrdinaryTool['run'] = async (input) => {
    const attachment = `${JSON.stringify(input)} `.padEnd(characters, 'lorem ipsum ');
    const payload = { path: 'a.ts', before: null, after: attachment.slice(0, 40), addedLines: 1, removedLines: 0, diff: '' };
    return { ...textResult('dug'), evidence: [{ type: 'file.diff', payload, attachment }] };
  };
  return [tool('look', { readOnly: true }), tool('act', {}), tool('dig', { run: dig })];
}

export function open(path: string, definition: AgentDefinition, characters: number, brain: Brain): Place {
  const random = seededRandom(1);
  const ids = createIds(systemClock, random);
  const ledger = openSqliteLedger({ path, clock: systemClock, ids });
  const known = tools(characters);
  const engine = createEmbeddedEngine({
    ledger,
    clock: systemClock,
    random,
    ids,
    owner: 'bench',
    models: {
      open: async () =>
        ok({
          id: 'bench/model',
          account: 'bench',
          async ask(request) {
            const message = brain(turnOf(request), request);
            const usage = { inputTokens: estimateTokens(request.messages, request.system), outputTokens: 10 };
            return { kind: 'answer', answer: { message, finish: 'stop', usage, served: 'bench/model' } };
          },
        }),
    },
    prices: { version: 'none', cost: () => undefined, worstCase: () => undefined },
    quota: createQuota({ clock: systemClock, random }),
    agent: async (name) => (name === definition.name ? definition : undefined),
    tools: async () => ok(known),
    permission: (of, tool) => decide(tool, of.permissions),
    redact: (text) => text,
    defaultModels: async () => ok(['bench/model']),
    prompt: ({ prompt }) => prompt,
  });
  return {
    engine,
    ledger,
    async close() {
      await engine.close();
      await ledger.close();
    },
  };
}

export const agent = (changes: Partial<AgentDefinition>): AgentDefinition => ({
  name: 'worker',
  models: ['bench/model'],
  prompt: 'You work.',
  source: 'agents/worker.md',
  tools: ['look', 'act'],
  permissions: { act: 'ask' },
  maxTurns: 100_000,
  ...changes,
});

export async function begun(engine: Engine, session?: SessionId): Promise<RunHandle> {
  const input = userText('Do what there is to do.');
  const started = await engine.start({
    agent: 'worker',
    input,
    workspace: tmpdir(),
    ...present({ session }),
  });
  if (started.kind !== 'started') throw new Error(JSON.stringify(started));
  return started.handle;
}
