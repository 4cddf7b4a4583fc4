/** What goes wrong, in the shape that clients of OpenAI read, and whether asking again could help. */
import { present } from '../../base/present.ts';
import { sentence } from '../../base/wording.ts';
import type { NotDone } from '../../front/acts.ts';
import type { EdgeRefusal, EdgeReply } from '../edges/edge.ts';

export interface OpenAiFailure {
  readonly status: number;
  readonly type: string;
  readonly code: string;
  readonly message: string;
  readonly param?: string | undefined;
}

export const errorValue = ({ message, type, code, param }: OpenAiFailure) => ({
  error: { message, type, param: param ?? null, code },
});

/** Clients ask again by themselves after many a status: where a run has begun, that would be a second one. */
export const errorReply = (failure: OpenAiFailure): EdgeReply => ({
  ...{ kind: 'value', status: failure.status, value: errorValue(failure) },
  headers: { 'x-should-retry': failure.status === 409 ? 'true' : 'false' },
});

export const invalidValue = (message: string, param?: string): OpenAiFailure => ({
  ...{ status: 400, type: 'invalid_request_error', code: 'invalid_value', message, ...present({ param }) },
});

export const unsupported = (param: string, message: string): OpenAiFailure => ({
  ...{ status: 400, type: 'invalid_request_error', code: 'unsupported_parameter', message, param },
});

const withFix = ({ message, fix }: Pick<EdgeRefusal, 'message' | 'fix'>): string =>
  fix === undefined ? message : `${sentence(message)} ${sentence(fix)}`;

const STATUS: Readonly<Record<NotDone['why'], number>> = {
  late: 409,
  never: 400,
  reused: 400,
  forbidden: 403,
  limit: 429,
  unknown: 404,
};

export function notDone({ why, code, message, fix }: NotDone): OpenAiFailure {
  const text = withFix({ message, fix });
  if (code === 'no_agent') return { ...invalidValue(text, 'model'), status: 404, code: 'model_not_found' };
  if (code === 'budget_exhausted') return outOfBudget(text);
  const type = why === 'forbidden' ? 'permission_error' : 'invalid_request_error';
  return { status: STATUS[why], type, code, message: text };
}

export const outOfBudget = (message: string): OpenAiFailure => ({
  ...{ status: 429, type: 'insufficient_quota', code: 'insufficient_quota', message },
});

export const failedRun = (code: string, message: string): OpenAiFailure => ({ status: 502, type: 'server_error', code, message });

const KNOWN: Readonly<Record<number, { readonly type: string; readonly code?: string }>> = {
  401: { type: 'authentication_error', code: 'invalid_api_key' },
  403: { type: 'permission_error' },
  500: { type: 'server_error' },
};

export function refusedAtDoor(refusal: EdgeRefusal): OpenAiFailure {
  const { type = 'invalid_request_error', code = refusal.code } = KNOWN[refusal.status] ?? {};
  return { status: refusal.status, type, code, message: withFix(refusal) };
}
