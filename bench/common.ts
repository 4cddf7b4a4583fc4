/**
 * What every system under measurement shares: the prompts, the tool, the names of the scripted models and the contract that
 * a system fulfils. All bytes that go to the model come from here, so that every system does the same work.
 * Loaded before the cold start is measured, so it imports nothing.
 */

export const SYSTEM_PROMPT =
  'You are a support operations agent. Use the tools to look up facts before you answer. ' +
  'Call one tool at a time, read the result, and decide on the next step. Never invent order numbers. ' +
  'When you have everything you need, write a short final answer for the customer in plain English. ' +
  'Keep to the policy: refunds above 100 EUR need a supervisor, shipping complaints go to logistics, ' +
  'and anything that concerns personal data must be confirmed with the account owner first.';

export const USER_PROMPT =
  'Customer 4711 says two of the last five orders never arrived and asks for a refund. Find out what happened and answer them.';

export const SUPERVISOR_PROMPT =
  'Split the investigation over your helpers, wait for all of them, then give one combined answer.';

/** What a right final answer contains. */
export const FINAL_MARK = 'FINAL-ANSWER';

/** About 1 KiB of mildly awkward text (quotes, line ends, accents), so that JSON escaping is not free. */
const RECORD =
  'order "A-10293" shipped 2025-03-04 via DHL\n' +
  'status: "in transit" — last scan: Köln hub, 04:12\n' +
  'note: customer called twice; agent said "will arrive tomorrow"\n' +
  'items: [{"sku":"KB-204","qty":1,"price":59.90},{"sku":"MS-11","qty":2,"price":19.95}]\n';
const PAGE = RECORD.repeat(Math.ceil(1_024 / RECORD.length)).slice(0, 1_000);

export interface LookupInput {
  readonly query: string;
  readonly page: number;
}

/** How often the tool ran in this process: the crash probe counts repeated calls with it. */
export const counters = { lookups: 0 };

/** The tool. `MARK-<page>-` lets the crash probe find its results in the files of a killed process. */
export function lookup({ query, page }: LookupInput): string {
  counters.lookups += 1;
  return `MARK-${page}- result for ${query}\n${PAGE}`;
}

export const LOOKUP_DESCRIPTION = 'Look up customer, order and shipment records. Returns one page of plain text.';
export const LOOKUP_SCHEMA = {
  type: 'object',
  properties: {
    query: { type: 'string', description: 'What to look for' },
    page: { type: 'integer', description: 'Page number, from 0' },
  },
  required: ['query', 'page'],
  additionalProperties: false,
} as const;

export const DELEGATE_DESCRIPTION = 'Give one self-contained task to a helper agent and return its answer.';
export const DELEGATE_SCHEMA = {
  type: 'object',
  properties: {
    task: { type: 'string', description: 'The task for the helper' },
    reason: { type: 'string', description: 'Why, in one sentence, for the record' },
  },
  required: ['task', 'reason'],
  additionalProperties: false,
} as const;

/** What the model does in one run: `turns - 1` tool calls one after the other, then the final answer. */
export interface RunScript {
  readonly turns: number;
  /** Milliseconds before each answer. */
  readonly delay?: number | undefined;
  /** Withhold the answer to the request that carries this many tool results, while the server is told to. */
  readonly stall?: number;
}

/** A supervisor that delegates `width` tasks in one turn to sub-agents of `subTurns` turns each, then answers. */
export interface FanOutScript {
  readonly width: number;
  readonly subTurns: number;
  readonly delay?: number;
}

/** The model's name carries its script, so that the server needs no state: `bench-t10`, `bench-t3-d100`, `bench-t10-s6`. */
export function runModel({ turns, delay, stall }: RunScript): string {
  return `bench-t${turns}${delay === undefined ? '' : `-d${delay}`}${stall === undefined ? '' : `-s${stall}`}`;
}

export function supervisorModel({ width, delay }: FanOutScript): string {
  return `bench-fan${width}${delay === undefined ? '' : `-d${delay}`}`;
}

export function subAgentScript({ subTurns, delay }: FanOutScript): RunScript {
  return { turns: subTurns, delay };
}

/** Chooses the agent `direct`, whatever it is asked. */
export const ROUTER_MODEL = 'bench-router';

export interface Place {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The only folder the system may write to. It holds the data of a killed process when a run is to be resumed. */
  readonly folder: string;
  /** Every script that will be run here, so that agents are built once, as an application would. */
  readonly scripts: readonly RunScript[];
}

/** A system under measurement. Each function resolves to the final answer and may be called many times at once. */
export interface System {
  run(id: string, script: RunScript): Promise<string>;
  /** Sub-agents work in parallel, each in a durable session of its own. */
  readonly fanOut?: (id: string, script: FanOutScript) => Promise<string>;
  /** Finishes the run `id` that a killed process left in the folder. */
  resume(id: string, script: RunScript): Promise<string>;
  /** Writes and closes everything. Not timed. */
  close(): Promise<void>;
}
