/** How good choices are, compared with what they should have been. */
import { z } from 'zod';
import { parseJson } from '../../base/json.ts';
import type { LabelledRequest } from './requests.ts';

/** A choice as the agent gives it when it does nothing else. */
const choice = z.object({
  decision: z.enum(['route', 'clarification', 'fallback']),
  agentId: z.string(),
  additionalAgents: z.array(z.string()).default([]),
  confidence: z.number(),
  proposed: z.string().optional(),
  reasoning: z.string().optional(),
});

/** What came of one request. */
export interface Measured {
  readonly request: string;
  /** Nobody where asking is right. */
  readonly expected: readonly string[];
  /** Nobody where it was not sure, or could not choose. */
  readonly chosen: readonly string[];
  readonly decision: z.output<typeof choice>['decision'];
  readonly confidence: number;
  readonly right: boolean;
  readonly durationMs: number;
  /** Who would have been chosen with more confidence. */
  readonly proposed?: string | undefined;
  readonly reasoning?: string | undefined;
}

export function compared(labelled: LabelledRequest, body: string, durationMs: number): Measured | undefined {
  const parsed = parseJson(body);
  const read = choice.safeParse(parsed.ok ? parsed.value : undefined);
  if (!read.success) return undefined;
  const { decision, agentId, additionalAgents, confidence, proposed, reasoning } = read.data;
  const expected = 'agents' in labelled ? labelled.agents : [];
  const chosen = decision === 'route' ? [agentId, ...additionalAgents] : [];
  const right = expected.length === 0 ? decision === 'clarification' : decision === 'route' && same(expected, chosen);
  return { request: labelled.request, expected, chosen, decision, confidence, right, durationMs, proposed, reasoning };
}

/** Who is named first says nothing about how well it was understood: all work at the same time. */
const same = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((name) => other.includes(name));

export interface Confused {
  readonly expected: string;
  readonly chosen: string;
  readonly count: number;
}

/** What was taken for what, the most frequent first. */
export function confusion(results: readonly Measured[]): Confused[] {
  const counts = new Map<string, Confused>();
  for (const result of results) {
    if (result.right) continue;
    const expected = result.expected.join(' + ') || 'clarification';
    const chosen = result.chosen.join(' + ') || result.decision;
    const key = `${expected}\n${chosen}`;
    counts.set(key, { expected, chosen, count: (counts.get(key)?.count ?? 0) + 1 });
  }
  return [...counts.values()].toSorted((left, right) => right.count - left.count || (left.expected < right.expected ? -1 : 1));
}

export const accuracyOf = (results: readonly Measured[]): number =>
  results.length === 0 ? 0 : results.filter(({ right }) => right).length / results.length;

/** The value that so large a share of them does not pass. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((left, right) => left - right);
  return sorted[Math.max(0, Math.ceil(sorted.length * share) - 1)] ?? 0;
}
