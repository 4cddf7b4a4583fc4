/**
 * Asks until there is an answer or no reason to go on. Passing trouble (rate limits, overload, timeouts, broken answers) is
 * tried again, on the next model of the list first and after a pause when all had their turn; a model that refuses the key
 * or the request is not asked again. All tries together are at most `maxRetries` + 1; only an outage, in which nobody answers at
 * all, is waited for beyond that, for as long as `outage` says; one that others have waited for as long is not waited for again.
 * No wait outlives the signal.
 * Whoever asks may object to any single attempt, which ends the asking.
 */
import { type Clock, sleep } from '../base/clock.ts';
import { assert } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import type { Random } from '../base/random.ts';
import type { ModelFailure } from '../events/catalogue.ts';
import type { Quota } from '../quota/quota.ts';
import { cancelledFailure, costNothing, isOutage, unsentFailure } from './failures.ts';
import type { Model, ModelOutcome, ModelRequest } from './port.ts';

export interface FailedAttempt {
  readonly model: string;
  /** Counted over all models, from 1. */
  readonly attempt: number;
  readonly error: ModelFailure;
  /** Nothing more is tried. */
  readonly final: boolean;
  /** How long is waited before the next attempt; 0 when nothing more is tried. */
  readonly nextInMs: number;
}

/** Somebody objected to an attempt, so it was not made, nor any after it. */
export interface Vetoed<Veto> {
  readonly kind: 'vetoed';
  readonly veto: Veto;
}

export interface RetryOptions<Veto = never> {
  readonly maxRetries: number;
  /** How long an outage is waited for after all these tries, from its beginning on; not at all without it. */
  readonly outage?: Patience | undefined;
  readonly clock: Clock;
  readonly random: Random;
  readonly quota?: Quota | undefined;
  /** Asked before every attempt, when nothing but its turn has to be waited for; what it gives is the reason not to make it. */
  readonly before?: ((model: string) => Promise<Veto | undefined>) | undefined;
  /** Told of every failed attempt before the next one is made. */
  readonly onFailure?: ((failed: FailedAttempt) => void | Promise<void>) | undefined;
}

export interface Patience {
  readonly ms: number;
  /** Only while tries certainly cost nothing. */
  readonly onlyFree: boolean;
  /** For how long others who wait together with whoever asks have met the outage already: that is no more to be waited for. */
  soFar?(model: string): Promise<number>;
}

interface Candidate {
  readonly model: Model;
  failures: number;
  notBefore: number;
  out: boolean;
}

export async function askWithRetries<Veto = never>(
  models: readonly Model[],
  request: ModelRequest,
  options: RetryOptions<Veto>,
): Promise<ModelOutcome | Vetoed<Veto>> {
  assert(models.length > 0, 'there is at least one model to ask');
  const candidates: Candidate[] = models.map((model) => ({ model, failures: 0, notBefore: 0, out: false }));
  let current = candidates[0];
  let outcome: ModelOutcome | Vetoed<Veto> = { kind: 'failed', error: unsentFailure };
  let patientUntil: number | undefined;
  for (let attempt = 1; current !== undefined; attempt += 1) {
    outcome = await askOnce(current, inAttempt(request, attempt), options);
    if (outcome.kind !== 'failed') return outcome;
    const isWaitedFor = isPatient(outcome.error, options.outage);
    if (isWaitedFor && patientUntil === undefined) {
      const left = (options.outage?.ms ?? 0) - ((await options.outage?.soFar?.(current.model.id)) ?? 0);
      if (left > 0) patientUntil = options.clock.elapsed() + left;
      else current.out = true;
    }
    note(current, outcome.error, options, isWaitedFor ? patientUntil : undefined);
    const goesOn = !isLastWord(outcome.error) && !request.signal.aborted;
    const first: Candidate | undefined = goesOn ? chooseNext(candidates, current, options.clock) : undefined;
    const inTime = isWaitedFor && first !== undefined && patientUntil !== undefined && first.notBefore <= patientUntil;
    const next = attempt <= options.maxRetries || inTime ? first : undefined;
    const nextInMs = Math.max(0, Math.ceil((next?.notBefore ?? 0) - options.clock.elapsed()));
    await options.onFailure?.({ model: current.model.id, attempt, error: outcome.error, final: next === undefined, nextInMs });
    current = next;
  }
  return outcome;
}

/** Whoever hears the pieces of its answer hears which attempt they are of. */
function inAttempt(request: ModelRequest, attempt: number): ModelRequest {
  const { onDelta } = request;
  return onDelta === undefined ? request : { ...request, onDelta: (delta) => onDelta(delta, attempt) };
}

async function askOnce<Veto>(
  candidate: Candidate,
  request: ModelRequest,
  options: RetryOptions<Veto>,
): Promise<ModelOutcome | Vetoed<Veto>> {
  const { clock, quota } = options;
  const waitMs = candidate.notBefore - clock.elapsed();
  const cancelled = { kind: 'failed', error: unsentFailure } as const;
  if (waitMs > 0 && (await sleep(clock, waitMs, request.signal)) === 'aborted') return cancelled;
  const veto = await options.before?.(candidate.model.id);
  if (veto !== undefined) return { kind: 'vetoed', veto };
  const slot = quota === undefined ? undefined : await quota.acquire(candidate.model.account, request.signal);
  if (quota !== undefined && slot === undefined) return cancelled;
  if (request.signal.aborted) {
    slot?.release('failed');
    return cancelled;
  }
  let result: Parameters<NonNullable<typeof slot>['release']>[0] = 'failed';
  try {
    const outcome = await answerOrSilence(candidate.model.ask(request), request.signal, clock);
    if (outcome.kind === 'answer') result = 'done';
    else if (outcome.error.kind === 'rate_limited')
      result = { rateLimitedForMs: outcome.error.retryAfterMs ?? limits.retryBaseMs };
    return outcome;
  } finally {
    slot?.release(result);
  }
}

/** Nobody waits for a model that does not hear that it should stop. */
function answerOrSilence(asked: Promise<ModelOutcome>, signal: AbortSignal, clock: Clock): Promise<ModelOutcome> {
  return new Promise((resolve, reject) => {
    let forget = (): void => undefined;
    const giveUp = (): void => {
      forget = clock.after(limits.stopGraceMs, () => resolve({ kind: 'failed', error: cancelledFailure }), 'hold');
    };
    if (signal.aborted) giveUp();
    else signal.addEventListener('abort', giveUp, { once: true });
    const settled = (): void => {
      signal.removeEventListener('abort', giveUp);
      forget();
    };
    asked.then(resolve, reject).then(settled, settled);
  });
}

/** Some failures end everything: nobody wants the answer, or no model could give another. */
function isLastWord(error: ModelFailure): boolean {
  return ['cancelled', 'context_overflow', 'refused', 'script_ended'].includes(error.kind);
}

const isPatient = (error: ModelFailure, patience: Patience | undefined): boolean =>
  patience !== undefined && patience.ms > 0 && isOutage(error) && (!patience.onlyFree || costNothing(error));

/** A provider in an outage is waited for as long as it asks while there is patience; any other not for long. */
function note(
  candidate: Candidate,
  error: ModelFailure,
  options: Pick<RetryOptions, 'clock' | 'random'>,
  patientUntil: number | undefined,
): void {
  const asked = error.retryAfterMs ?? 0;
  const longest = Math.max(limits.retryMaxMs, (patientUntil ?? 0) - options.clock.elapsed());
  if (error.kind === 'auth' || error.kind === 'invalid_request' || asked > longest) {
    candidate.out = true;
    return;
  }
  candidate.failures += 1;
  const most = Math.min(limits.retryPauseMs, limits.retryBaseMs * 2 ** (candidate.failures - 1));
  const backOffMs = most * options.random.fraction();
  // When told how long to wait, wait that long and a little more, so that not everybody comes back at once.
  candidate.notBefore = options.clock.elapsed() + (asked > 0 ? asked + Math.min(backOffMs, asked * 0.1) : backOffMs);
}

/** The next in the list that need not wait, from the current one on; else the one that may be asked first. */
function chooseNext(candidates: readonly Candidate[], current: Candidate, clock: Clock): Candidate | undefined {
  const start = candidates.indexOf(current) + 1;
  const inOrder = [...candidates.slice(start), ...candidates.slice(0, start)].filter((one) => !one.out);
  const now = clock.elapsed();
  const free = inOrder.find((one) => one.notBefore <= now);
  if (free !== undefined) return free;
  return inOrder.reduce<Candidate | undefined>(
    (best, one) => (best === undefined || one.notBefore < best.notBefore ? one : best),
    undefined,
  );
}
