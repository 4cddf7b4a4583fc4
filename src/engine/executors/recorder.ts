/** What the parts of an exchange with an executor have in common. */
import type { ExecutorUse } from '../../agents/definition/executor.ts';
import type { EventType, Payloads } from '../../events/catalogue.ts';
import type { ExecutorSession } from '../../executors/port.ts';
import type { EventMark, NewEvent } from '../../ledger/port.ts';
import type { TurnRequest } from '../../loop/port.ts';
import type { ShowsLive } from '../calls/recorded-model.ts';
import type { TurnRecorder } from '../calls/turn-records.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import type { ExecutorAccess, LedgerAccess, ModelAccess, ProofAccess, TimeAndIds, ToolAccess } from '../options.ts';
import type { EventOptions } from '../record/journal.ts';
import type { Remembers } from '../record/remembers.ts';
import type { Writes } from '../record/writes.ts';
import type { HasChildren } from '../spawning/child-run.ts';
import type { Attempts } from '../spending/attempts.ts';
import type { Spends } from '../spending/spending.ts';
import type { ExecutorStanding } from './standing.ts';
import type { ExecutorTerms } from './terms.ts';

/** What asking an executor takes. */
export type AsksExecutors = TimeAndIds &
  LedgerAccess &
  ModelAccess &
  ExecutorAccess &
  ToolAccess &
  ProofAccess &
  Writes &
  Remembers &
  HearsOutside &
  HearsRuns &
  Spends &
  ShowsLive &
  WorksInFolders &
  Pick<HasChildren, 'elsewhere'>;

export interface ExecutorRecorder extends TurnRecorder {
  readonly tree: AsksExecutors;
  readonly use: ExecutorUse;
  readonly terms: ExecutorTerms;
  readonly standing: ExecutorStanding;
  /** The one that works, once it was opened in this life. */
  session?: ExecutorSession | undefined;
  /** Something was said to it in this life. */
  hasSaid?: boolean;
  /** What was told about its ways since it was opened. */
  readonly notices: string[];
  /** How its last prompt ended. */
  last?: { readonly stop?: string; readonly why?: string } | undefined;
}

/** One turn with it. */
export interface ExecutorExchange {
  readonly step: string;
  readonly request: TurnRequest;
  readonly attempts: Attempts;
  readonly startedAt: number;
}

/** An event of the run, taken into account before it is written. */
export function recorded<Type extends EventType>(
  { node, standing }: Pick<ExecutorRecorder, 'node' | 'standing'>,
  type: Type,
  payload: Payloads[Type],
  options: EventOptions = {},
): NewEvent & { readonly mark: EventMark } {
  const event = node.journal.event(type, payload, { actor: 'system', ...options });
  standing.apply({ event_type: type, payload, step: options.step ?? null } as Parameters<ExecutorStanding['apply']>[0]);
  return event;
}

/** Half a secret would not be recognised: it is redacted before it is cut. */
export function boundedText(redact: (text: string) => string, text: string, most: number): string {
  const whole = redact(text);
  return whole.length <= most ? whole : `${whole.slice(0, most - 1).toWellFormed()}…`;
}
