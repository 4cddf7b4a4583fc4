/** What the API says when it does not do what it was asked: a code for programs, a sentence for people, and a way out. */
import { codeOf, TroupeError } from '../../base/errors.ts';
import type { JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { Failure } from '../../events/catalogue.ts';

export interface Refusal extends Failure {
  readonly status: RefusedStatus;
  /** More that a program may want to know. */
  readonly details?: JsonObject | undefined;
}

export type RefusedStatus = 400 | 401 | 403 | 404 | 409 | 410 | 413 | 415 | 422 | 429 | 500 | 503;

export function refusalResponse(
  { status, code, message, fix, details }: Refusal,
  headers: Record<string, string> = {},
): Response {
  return Response.json({ error: present({ code, message, fix, ...details }) }, { status, headers });
}

export const notFound = (what: string): Refusal => ({ status: 404, code: 'not_found', message: `There is no ${what}.` });

export const invalid = (message: string, fix?: string): Refusal => ({
  status: 400,
  code: 'invalid',
  message,
  ...present({ fix }),
});

/** Of what could not be done, with the reason that everybody is told. */
export const refusalFor = (failure: Failure): Refusal => ({ ...failure, status: STATUS[failure.code] ?? 422 });

/** What is gone or out of order says so; anything else is a bug, of which a stranger learns only that it was one. */
export function knownRefusal(error: unknown): Refusal | undefined {
  if (!(error instanceof TroupeError)) return undefined;
  const status = STATUS[codeOf(error) ?? ''];
  return status === undefined ? undefined : { status, code: error.code, message: error.message, ...present({ fix: error.fix }) };
}

const STATUS: Readonly<Record<string, RefusedStatus>> = {
  ledger_collected: 410,
  ledger_missing: 404,
  ledger_corrupt: 409,
  export_too_large: 422,
  console_missing: 503,
  unknown_event: 404,
  session_held: 409,
  session_free: 409,
  session_busy: 409,
  session_unfinished: 409,
  imported: 409,
  import_differs: 409,
  bundle_bad: 422,
  bundle_too_large: 422,
  bundle_newer: 422,
  bundle_signature: 422,
  unknown_run: 404,
  unknown_session: 404,
  usage: 400,
  limit: 429,
  closed: 503,
};
