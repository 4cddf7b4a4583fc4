/**
 * Where the work of an executor stands that works for a run: a fold of what was recorded, in this life and before. From it
 * follows what a session is told that takes the work up.
 */
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';

type Reported = Payloads['executor.call'];

export interface ExecutorStanding {
  apply(event: Pick<LedgerEvent, 'event_type' | 'payload' | 'step'>): void;
  /** The executor's own id of the latest session. */
  session(): string | undefined;
  /** A prompt of this turn went out, and nobody knows what came of it. */
  isOpen(step: string): boolean;
  /** Calls that it said have come to their end, oldest first. */
  done(): readonly (Reported & { readonly status: 'completed' | 'failed' })[];
  /** Calls that it had begun and of whose end nothing was heard. */
  begun(): readonly Reported[];
  /** Paths that were seen to change. */
  changed(): readonly string[];
  /** Commands that it ran, as far as it says so or we ran them. */
  commands(): number;
  /** Those that we ran for it. */
  ran(): number;
  isKnown(call: string): boolean;
  isOver(call: string): boolean;
  /** Calls that were asked about, with the same words, and may be made again only when somebody is asked again. */
  timesUsed(wait: string, by: string): number;
  /** What the prompts so far have cost; `undefined` where one of them did not say. */
  nanoUsd(): number | undefined;
}

export function createStanding(past: readonly LedgerEvent[]): ExecutorStanding {
  const calls = new Map<string, Reported>();
  const ends = new Map<string, 'completed' | 'failed'>();
  const changed = new Set<string>();
  const prompted = new Set<string>();
  const waits = new Map<string, Set<string>>();
  let session: string | undefined;
  let ran = 0;
  let spent: number | undefined = 0;
  const standing: ExecutorStanding = {
    apply({ event_type: type, payload, step }) {
      const given = payload as never;
      if (type === 'executor.session') ({ session } = given as Payloads['executor.session']);
      else if (type === 'executor.prompted') prompted.add(step ?? '');
      else if (type === 'model.response') {
        prompted.delete(step ?? '');
        const { cost } = given as Payloads['model.response'];
        spent = cost === undefined || spent === undefined ? undefined : spent + cost.nanoUsd;
      } else if (type === 'model.failed') {
        const { final, cost, inDoubt } = given as Payloads['model.failed'];
        if (final) prompted.delete(step ?? '');
        spent = inDoubt === true || spent === undefined ? undefined : spent + (cost?.nanoUsd ?? 0);
      } else if (type === 'executor.call') note(given);
      else if (type === 'executor.result') {
        const { id, status } = given as Payloads['executor.result'];
        ends.set(id, status);
      } else if (type === 'executor.decided') {
        const { id, wait, decision } = given as Payloads['executor.decided'];
        if (wait !== undefined && decision === 'allowed') waits.set(wait, (waits.get(wait) ?? new Set()).add(id));
      } else if (type === 'file.diff') changed.add((given as Payloads['file.diff']).path);
      else if (type === 'cli.run' && step?.startsWith('turn/') === true) ran += 1;
    },
    session: () => session,
    isOpen: (step) => prompted.has(step),
    done: () => [...calls.values()].flatMap((call) => withEnd(call, ends.get(call.id))),
    begun: () => [...calls.values()].filter(({ id }) => !ends.has(id)),
    changed: () => [...changed],
    commands: () => Math.max(ran, [...calls.values()].filter(({ kind }) => kind === 'execute').length),
    ran: () => ran,
    isKnown: (call) => calls.has(call),
    isOver: (call) => ends.has(call),
    timesUsed(wait, by) {
      return [...(waits.get(wait) ?? [])].filter((id) => id !== by && ends.has(id)).length;
    },
    nanoUsd: () => spent,
  };
  const note = (call: Reported): void => {
    calls.set(call.id, { ...calls.get(call.id), ...call });
  };
  for (const event of past) standing.apply(event);
  return standing;
}

const withEnd = (call: Reported, status: 'completed' | 'failed' | undefined) =>
  status === undefined ? [] : [{ ...call, status }];
