/**
 * Why a run ended, where that lies outside of it: once it is mended, the run can go on where it stopped. The word is written with
 * the end; for ends that are older than the word it follows from their code.
 */
import { z } from 'zod';

export const outsideReason = z.enum(['provider', 'key', 'quota', 'model', 'budget', 'time', 'turns', 'setup']);
/**
 * `provider`: it could not be reached or was out of order; `key`: it refused the key or the account; `quota`: too many
 * requests; `model`: another model may do it; `budget`, `time`, `turns`: a limit was reached; `setup`: a tool, a server or a
 * model was missing.
 */
export type OutsideReason = z.infer<typeof outsideReason>;

const BY_CODE: Readonly<Record<string, OutsideReason>> = {
  model_network: 'provider',
  model_overloaded: 'provider',
  model_timeout: 'provider',
  model_bad_response: 'provider',
  model_script_ended: 'provider',
  model_auth: 'key',
  model_rate_limited: 'quota',
  model_invalid_request: 'model',
  model_context_overflow: 'model',
  model_refused: 'model',
  peer_network: 'provider',
  peer_overloaded: 'provider',
  peer_timeout: 'provider',
  peer_bad_response: 'provider',
  peer_auth: 'key',
  peer_rate_limited: 'quota',
  budget_exhausted: 'budget',
  no_report: 'turns',
  bad_tools: 'setup',
  no_model: 'setup',
  no_agent: 'setup',
  no_folder: 'setup',
  unknown_price: 'setup',
  executor_unavailable: 'setup',
  executor_auth: 'key',
  executor_crashed: 'provider',
  executor_protocol: 'provider',
  executor_timeout: 'provider',
  executor_error: 'provider',
};

/** What an end says about itself. */
interface EndedWith {
  readonly status: string;
  readonly error?: { readonly code: string } | undefined;
  readonly reason?: OutsideReason | undefined;
}

/** `undefined` when nothing outside can be mended: it gave its answer, was cancelled, or could not do it. */
export function reasonOutside({ status, error, reason }: EndedWith): OutsideReason | undefined {
  if (status !== 'failed' && status !== 'budget_exhausted') return undefined;
  return reason ?? BY_CODE[error?.code ?? ''];
}

/** Whether it goes on as it is, once that is mended: nothing has to be given for it. */
export function goesOnAsItIs(ended: EndedWith): boolean {
  const reason = reasonOutside(ended);
  return reason === 'setup' || (reason !== undefined && PARKED_FOR.has(reason));
}

/** What can be had again, and that no other answer of the run depends on: it is not ended for the want of it. */
const PARKED_FOR: ReadonlySet<string> = new Set<OutsideReason>(['provider', 'key', 'quota']);

/** Whether a run that somebody asked for stands still for this, instead of ending. A script has no more to say tomorrow. */
export function isParkedFor(code: string, reason: OutsideReason | undefined = BY_CODE[code]): boolean {
  return reason !== undefined && PARKED_FOR.has(reason) && code !== 'model_script_ended';
}
