/** What the parts of an exchange with an agent that lives elsewhere have in common. */
import { present } from '../../base/present.ts';
import type { CallCost, Usage } from '../../events/messages.ts';
import type { TurnRequest } from '../../loop/port.ts';
import type { PeerFailure } from '../../peers/port.ts';
import type { ShowsLive } from '../calls/recorded-model.ts';
import type { TurnRecorder } from '../calls/turn-records.ts';
import type { StoresArtifacts } from '../evidence/run-artifacts.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import type { LedgerAccess, ModelAccess, PeerAccess, TimeAndIds } from '../options.ts';
import type { Writes } from '../record/writes.ts';
import type { Attempts, Settled } from '../spending/attempts.ts';
import type { Spends } from '../spending/spending.ts';
import type { PeerTasks } from './peer-tasks.ts';

/** What asking such an agent takes. */
export type AsksPeers = TimeAndIds &
  LedgerAccess &
  ModelAccess &
  PeerAccess &
  StoresArtifacts &
  Writes &
  HearsOutside &
  HearsRuns &
  Spends &
  ShowsLive;

export interface PeerRecorder extends TurnRecorder {
  readonly tree: AsksPeers;
  readonly tasks: PeerTasks;
  /** Those of the latest exchange: what it took may become known when its task is ended. */
  attempts?: Attempts;
}

/** One turn with it. */
export interface PeerExchange {
  readonly step: string;
  readonly request: TurnRequest;
  readonly attempts: Attempts;
  readonly startedAt: number;
  /** Whether its request was written in this life. */
  announced: boolean;
  /** Why the last try came to nothing. */
  trouble?: PeerFailure;
}

/** What may be over the next time. */
export const PASSING: ReadonlySet<PeerFailure['kind']> = new Set([
  ...(['network', 'timeout', 'overloaded', 'rate_limited', 'bad_response'] as const),
]);

/** It stands where a model does, under its own name. */
export const peerModel = ({ setup }: PeerRecorder): string => setup.definition.models[0] ?? setup.definition.name;

interface Took {
  readonly usage: Usage;
  readonly nanoUsd?: number | undefined;
}

/** Nothing where it does not say: what is not counted is unknown, not zero. */
export function saidCost({ usage, nanoUsd }: Took): { usage?: Usage; cost?: CallCost } {
  const isCounted = usage.inputTokens !== undefined || usage.outputTokens !== undefined;
  return present({ usage: isCounted ? usage : undefined, cost: nanoUsd === undefined ? undefined : { nanoUsd, prices: 'peer' } });
}

/** One call, and what it says of it: nothing is reserved for what it might say. */
export function settledBy({ usage: { inputTokens, outputTokens }, nanoUsd }: Took): Settled {
  const spent = { calls: 1, tokens: (inputTokens ?? 0) + (outputTokens ?? 0), ...present({ nanoUsd }) };
  return inputTokens === undefined || outputTokens === undefined ? { spent, assumed: true } : { spent };
}
