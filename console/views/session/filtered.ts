/**
 * Which lines are shown: by run, by how much they matter, by a text that is in the line or anywhere in what the event holds.
 * Goes on where it was when more lines come.
 */
import { useRef } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { type RunTree, subtree } from '../../../src/projections/run-tree.ts';
import type { Level, TimelineLine } from '../../../src/projections/timeline.ts';

export interface Wanted {
  readonly run: string | undefined;
  readonly least: Level;
  readonly text: string;
  /** What kind of event; all without one. */
  readonly kind: EventKind | undefined;
  readonly agent: string | undefined;
}

/** What events are about, by the beginnings of their types. */
const KINDS = {
  models: /^model\./,
  tools: /^(tool|cli|file|test)\./,
  waits: /^(approval\.|task\.clarify)/,
  messages: /^message\./,
  runs: /^(run|session|process|prompt)\./,
  evidence: /^(evidence|artifact|environment)\./,
  'work together': /^(group|task|agent|handoff|router|advisor|team|dispatch|member|peer|executor|apply)\./,
} as const;
export type EventKind = keyof typeof KINDS;
export const eventKinds = Object.keys(KINDS) as readonly EventKind[];

const ORDER: readonly Level[] = ['detail', 'info', 'warn', 'error'];

interface Found {
  readonly key: string;
  readonly lines: readonly TimelineLine[];
  seen: number;
  readonly indices: number[];
}

interface Searched {
  readonly lines: readonly TimelineLine[];
  readonly events: readonly LedgerEvent[];
}

/** The indices of the lines that are wanted, among the first `count`. */
export function useFiltered({ lines, events }: Searched, count: number, wanted: Wanted, tree: RunTree): readonly number[] {
  const kept = useRef<Found>(undefined);
  const runs = wanted.run === undefined ? undefined : subtree(tree, wanted.run as RunId).map(({ run }) => run as string);
  const key = JSON.stringify([wanted, runs?.length]);
  const before = kept.current;
  const found =
    before !== undefined && before.key === key && before.lines === lines && before.seen <= count
      ? before
      : { key, lines, seen: 0, indices: [] };
  const of = runs === undefined ? undefined : new Set(runs);
  const text = wanted.text === '' ? undefined : patternOf(wanted.text);
  const least = ORDER.indexOf(wanted.least);
  const kind = wanted.kind === undefined ? undefined : KINDS[wanted.kind];
  for (let index = found.seen; index < count; index += 1) {
    const line = lines[index];
    if (line === undefined || ORDER.indexOf(line.level) < least || of?.has(line.run) === false) continue;
    if (wanted.agent !== undefined && line.agent !== wanted.agent) continue;
    if (kind !== undefined && !kind.test(events[index]?.event_type ?? '')) continue;
    if (text !== undefined && !isIn(line, text) && textIn(events[index]?.payload, text) === undefined) continue;
    found.indices.push(index);
  }
  found.seen = count;
  kept.current = found;
  return found.indices;
}

export const patternOf = (text: string): RegExp => new RegExp(text.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&'), 'i');

export const isIn = (line: TimelineLine, pattern: RegExp): boolean => pattern.test(`${line.agent} ${line.text}`);

/** The first text in a payload that has it. */
export function textIn(value: unknown, pattern: RegExp): string | undefined {
  if (typeof value === 'string') return pattern.test(value) ? value : undefined;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const inner of Object.values(value)) {
    const found = textIn(inner, pattern);
    if (found !== undefined) return found;
  }
  return undefined;
}

const [BEFORE, AFTER] = [20, 80];

/** Where in an event it is, if its line does not say so: the words around it. */
export function foundInside(line: TimelineLine, event: LedgerEvent, pattern: RegExp): string | undefined {
  const text = isIn(line, pattern) ? undefined : textIn(event.payload, pattern);
  if (text === undefined) return undefined;
  const from = Math.max(0, text.search(pattern) - BEFORE);
  const words = text.slice(from, from + BEFORE + AFTER).replaceAll(/\s+/g, ' ');
  return `${from > 0 ? '…' : ''}${words}${from + BEFORE + AFTER < text.length ? '…' : ''}`;
}
