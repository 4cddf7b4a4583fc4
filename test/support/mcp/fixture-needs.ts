/**
 * The MCP server's needs for tests: a real ledger, agents made by hand, and assistants that do what a test tells them to and
 * remember how they were called.
 */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import type { AssistantCallOptions, Assistants, Caller } from '../../../src/assistants/port.ts';
import { sleep, systemClock } from '../../../src/base/clock.ts';
import { createIds } from '../../../src/base/ids.ts';
import { systemRandom } from '../../../src/base/random.ts';
import { fail, ok } from '../../../src/base/result.ts';
import { createRedactor } from '../../../src/base/secrets/redact.ts';
import type { Ledger } from '../../../src/ledger/port.ts';
import { openSqliteLedger } from '../../../src/ledger/sqlite/store.ts';
import type { AgentCatalogue, McpNeeds } from '../../../src/protocols/mcp/needs.ts';

/** What its redactor knows by value. */
export const FIXTURE_SECRET = 'blue-4711-Xy!harbour';

export interface SeenCall {
  readonly method: string;
  readonly caller: Caller | undefined;
  readonly input: unknown;
  readonly options: AssistantCallOptions | undefined;
}

export interface FixtureNeeds extends Omit<McpNeeds, 'stopping' | 'ledger'> {
  readonly ledger: Ledger;
  readonly calls: SeenCall[];
  /** As if agent files had changed. */
  change(agents: readonly AgentDefinition[]): void;
}

export function fixtureAgent(name: string, more: Partial<AgentDefinition> = {}): AgentDefinition {
  return { name, description: `Does ${name}`, models: [], prompt: `You are ${name}.`, source: `agents/${name}.md`, ...more };
}

export function createFixtureNeeds(agents: readonly AgentDefinition[] = [fixtureAgent('helper')]): FixtureNeeds {
  const ledger = openSqliteLedger({ path: ':memory:', clock: systemClock, ids: createIds(systemClock, systemRandom) });
  const calls: SeenCall[] = [];
  const listeners = new Set<() => void>();
  let known = agents;
  const catalogue: AgentCatalogue = {
    list: async () => known,
    promptOf: (agent) => agent.prompt,
    onChange(callback) {
      listeners.add(callback);
      return () => void listeners.delete(callback);
    },
  };
  return {
    ledger,
    calls,
    clock: systemClock,
    version: '0.0.0',
    redact: createRedactor([{ name: 'FIXTURE_KEY', value: FIXTURE_SECRET }]).text,
    agents: catalogue,
    assistants: createFixtureAssistants(calls, () => known),
    change(next) {
      known = next;
      for (const listener of listeners) listener();
    },
  };
}

/** A spawned assistant takes as many milliseconds as its task says, and fails when the task is `fail`. */
function createFixtureAssistants(calls: SeenCall[], agents: () => readonly AgentDefinition[]): Assistants {
  const seen = (method: string, caller?: Caller, input?: unknown, options?: AssistantCallOptions): void => {
    calls.push({ method, caller, input, options });
  };
  const entries = () =>
    agents().map(({ name, description = '', tags = [] }) => ({ id: name, name, description, tags: [...tags] }));
  const process = { process_id: 'run_1', thread_id: 'thr_1' };
  return {
    async list(_caller, { page, pageSize }) {
      const items = entries().slice((page - 1) * pageSize, page * pageSize);
      return ok({ items, totalItems: agents().length });
    },
    search: async (_caller, { limit }) => ok(entries().slice(0, limit)),
    async spawn(caller, input, options) {
      seen('spawn', caller, input, options);
      if (!agents().some((agent) => agent.name === input.assistant_id))
        return fail({
          code: 'unknown_assistant',
          message: `There is no assistant "${input.assistant_id}"`,
          fix: 'use search_assistant',
        });
      if (input.run_mode === 'async') return ok({ ...process, status: 'starting' });
      options.onProgress?.({ done: 1, message: 'asking' });
      options.onProgress?.({ done: 1, message: 'asking again' });
      const slept = await sleep(systemClock, Number(input.query) || 0, options.signal);
      return slept === 'aborted'
        ? ok({ ...process, status: 'running' })
        : ok({ ...process, status: 'finished', answer: 'It is done.' });
    },
    async poll(caller, input, options) {
      seen('poll', caller, input, options);
      await sleep(systemClock, input.wait_ms, options.signal);
      return ok({ process: { ...process, assistant_id: 'helper', status: 'running', started_at: 1 } });
    },
    async send(caller, input, options) {
      seen('send', caller, input, options);
      return ok({ success: true });
    },
    async receive(caller, input, options) {
      seen('receive', caller, input, options);
      return ok({ thread_id: input.thread_id, messages: [], summary: { total_fetched: 0, marked_as_read: 0 } });
    },
    async cancel(caller, input, options) {
      seen('cancel', caller, input, options);
      return ok({ success: true });
    },
    async answer(caller, input, options) {
      seen('answer', caller, input, options);
      return ok({ success: true });
    },
  };
}
