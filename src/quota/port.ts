/**
 * What processes that share an account's rate limit ask of the place where they share it. Each claims a share of what may go at
 * once, for a few seconds at a time; a share that is not claimed again returns by itself.
 */
export interface QuotaClaim {
  readonly account: string;
  /** How many calls were under way or queueing at once since the last claim, at most. 0 gives the share back. */
  readonly needed: number;
  /** How many were under way at once since the last claim, at most. */
  readonly used: number;
  /** How many are under way now. They keep their slots, whatever is granted. */
  readonly inFlight: number;
  /** Calls that went well since the last claim. */
  readonly succeeded: number;
  readonly refusal?: QuotaRefusal | undefined;
}

/** The provider said that there were too many. */
export interface QuotaRefusal {
  readonly forMs: number;
  /** How long ago the refused call began: one that began before the last refusal was over says nothing new. */
  readonly begunAgoMs: number;
}

export interface QuotaShare {
  /** How many calls may be under way at once. */
  readonly granted: number;
  /** How long that holds, from when it was asked for. */
  readonly forMs: number;
  /** How long nobody may begin a call. */
  readonly pausedForMs: number;
}

export interface QuotaStore {
  claim(claim: QuotaClaim): Promise<QuotaShare>;
  /** Calls back when somebody else was refused; without an account when that may have been missed. */
  onRefusal(callback: (account: string | undefined) => void): void;
  close(): Promise<void>;
}
