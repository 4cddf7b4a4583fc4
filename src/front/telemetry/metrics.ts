/**
 * Numbers for Prometheus. How things stand is looked up; what has happened is counted from spans, from when the server began on,
 * as a process does that starts anew: each question reads what was added since the last one and no more.
 */
import { limits } from '../../base/limits.ts';
import { oneAtATime } from '../../base/one-at-a-time.ts';
import type { FeedPlace, Ledger } from '../../ledger/port.ts';
import { genAi2026 } from '../../telemetry/conventions/genai-2026-11.ts';
import type { AttributeValue, FinishedSpan } from '../../telemetry/span.ts';
import { createSpanReader } from '../../telemetry/span-reader.ts';

type MetricsLedger = Pick<Ledger, 'feed' | 'read' | 'runs' | 'stats'>;

export interface Metrics {
  text(): Promise<string>;
}

const SECOND_MS = 1_000;
const names = genAi2026;

const COUNTERS = {
  troupe_runs_ended_total: 'Runs that ended, by agent and how.',
  troupe_model_calls_total: 'Calls of models, by agent, model and how they ended.',
  troupe_model_call_seconds_total: 'How long they took.',
  troupe_tokens_total: 'Tokens as providers counted them.',
  troupe_cost_usd_total: 'What calls have cost, as far as that is known.',
  troupe_tool_calls_total: 'Calls of tools, by tool and how they ended.',
  troupe_tool_call_seconds_total: 'How long they took.',
  troupe_waits_answered_total: 'Questions and permissions that were answered, by answer.',
  troupe_wait_seconds_total: 'How long they had waited.',
} as const;
type Counter = keyof typeof COUNTERS;
type Labels = Readonly<Record<string, string>>;

export function createMetrics(ledger: MetricsLedger): Metrics {
  const reader = createSpanReader(ledger, { names, content: false });
  const counted = createCounted();
  const inTurn = oneAtATime();
  const newest = async (): Promise<Place> => ({ after: (await ledger.feed({ newest: true, limit: 1 })).entries[0]?.place });
  let place: Place | undefined;
  const readOn = async (): Promise<void> => {
    // Where the ledger could not say where it ends when the server began, counting begins now.
    place ??= (await begun) ?? (await newest());
    for (;;) {
      const page = await reader.next(place.after);
      if (typeof page !== 'object') return;
      for (const span of page.spans) countSpan(counted.add, span);
      place = { after: page.place };
    }
  };
  const begun = newest().catch(() => undefined);
  return {
    async text() {
      // One after the other: two that ask at once count nothing twice.
      await inTurn('read', readOn);
      return `${[...(await standing(ledger)), ...counted.lines()].join('\n')}\n`;
    },
  };
}

interface Place {
  readonly after: FeedPlace | undefined;
}

async function standing(ledger: MetricsLedger): Promise<readonly string[]> {
  const unfinished = await ledger.runs({ states: ['running', 'waiting', 'paused', 'parked'], limit: limits.runLookup });
  const stats = await ledger.stats();
  const states = Map.groupBy(unfinished, ({ state }) => state);
  return [
    ...head('troupe_runs_unfinished', 'gauge', 'Runs that have not ended, by how they stand.'),
    ...[...states].map(([state, rows]) => line('troupe_runs_unfinished', { state }, rows.length)),
    ...Object.entries(stats).flatMap(([name, count]) => {
      const metric = `troupe_ledger_${name.replaceAll(/[A-Z]/g, (sign) => `_${sign.toLowerCase()}`)}`;
      return [`# TYPE ${metric} gauge`, `${metric} ${count}`];
    }),
    '# TYPE process_resident_memory_bytes gauge',
    `process_resident_memory_bytes ${process.memoryUsage.rss()}`,
  ];
}

type Add = (name: Counter, labels: Labels, by: number) => void;

function createCounted(): { readonly add: Add; lines(): readonly string[] } {
  const series = new Map<Counter, Map<string, { readonly labels: Labels; value: number }>>();
  let size = 0;
  return {
    add(name, given, by) {
      const own = series.get(name) ?? new Map();
      series.set(name, own);
      // Names come from files and from agents elsewhere: beyond the bound all new ones are one.
      const labels = size < limits.metricSeries || own.has(JSON.stringify(given)) ? given : othersOf(given);
      const key = JSON.stringify(labels);
      const found = own.get(key);
      if (found !== undefined) found.value += by;
      else {
        own.set(key, { labels, value: by });
        size += 1;
      }
    },
    lines: () =>
      [...series].flatMap(([name, own]) => [
        ...head(name, 'counter', COUNTERS[name]),
        ...[...own.values()].map(({ labels, value }) => line(name, labels, value)),
      ]),
  };
}

const othersOf = (labels: Labels): Labels => Object.fromEntries(Object.keys(labels).map((name) => [name, 'other']));

function countSpan(add: Add, { name, attributes, startMs, endMs, failed }: FinishedSpan): void {
  const seconds = (endMs - startMs) / SECOND_MS;
  const outcome = failed ? 'failed' : 'ok';
  const text = (key: string): string => String(attributes[key] ?? 'unknown');
  const agent = text(names.agentName);
  const operation = attributes[names.operationName];
  if (name === 'troupe.wait') {
    add('troupe_waits_answered_total', { answer: text('troupe.wait.answer') }, 1);
    add('troupe_wait_seconds_total', {}, seconds);
  } else if (operation === names.operation.chat) {
    const model = `${text(names.provider)}/${String(attributes[names.responseModel] ?? attributes[names.requestModel])}`;
    add('troupe_model_calls_total', { agent, model, outcome }, 1);
    add('troupe_model_call_seconds_total', { agent, model }, seconds);
    const tokens = { input: names.inputTokens, output: names.outputTokens, cache_read: names.cacheReadTokens ?? '' };
    for (const [type, key] of Object.entries(tokens))
      if (attributes[key] !== undefined) add('troupe_tokens_total', { agent, model, type }, numberOf(attributes[key]));
    const cost = attributes['troupe.cost.usd'];
    if (cost !== undefined) add('troupe_cost_usd_total', { agent, model }, numberOf(cost));
  } else if (operation === names.operation.tool) {
    const tool = text(names.toolName);
    add('troupe_tool_calls_total', { tool, outcome }, 1);
    add('troupe_tool_call_seconds_total', { tool }, seconds);
  } else add('troupe_runs_ended_total', { agent, status: text('troupe.status') }, 1);
}

const numberOf = (value: AttributeValue): number =>
  typeof value === 'object' && 'fraction' in value ? value.fraction : Number(value);

const head = (name: string, type: 'counter' | 'gauge', about: string): readonly string[] => [
  ...[`# HELP ${name} ${about}`, `# TYPE ${name} ${type}`],
];

function line(name: string, labels: Labels, value: number): string {
  const written = Object.entries(labels).map(([label, text]) => `${label}="${escaped(text)}"`);
  return `${name}${written.length === 0 ? '' : `{${written.join(',')}}`} ${value}`;
}

const escaped = (text: string): string => text.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll(/\r?\n/g, '\\n');
