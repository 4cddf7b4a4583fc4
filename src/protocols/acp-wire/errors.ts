/** What goes wrong, as JSON-RPC has it: the sentence with what to do about it, and the code for programs in `data`. */
import { RequestError } from '@agentclientprotocol/sdk';
import { messageOf, TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { Failure } from '../../events/catalogue.ts';

const INVALID_REQUEST = -32_600;
const INVALID_PARAMS = -32_602;
const INTERNAL = -32_603;
const AUTH_REQUIRED = -32_000;
const NOT_FOUND = -32_002;

const BY_CODE: Readonly<Record<string, number>> = {
  no_model: AUTH_REQUIRED,
  model_auth: AUTH_REQUIRED,
  peer_auth: AUTH_REQUIRED,
  unknown_session: NOT_FOUND,
  usage: INVALID_PARAMS,
  config: INVALID_PARAMS,
  no_agent: INVALID_PARAMS,
  unknown_agent: INVALID_PARAMS,
  busy: INVALID_REQUEST,
  held: INVALID_REQUEST,
  session_busy: INVALID_REQUEST,
  limit: INVALID_REQUEST,
};

export function acpError({ code, message, fix }: Failure, more: object = {}): RequestError {
  const text = fix === undefined ? message : `${message} ${fix}`;
  return new RequestError(BY_CODE[code] ?? INTERNAL, text, { code, ...present({ fix }), ...more });
}

/** Whatever was thrown: a client is told the words, and no stack. */
export function acpErrorOf(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof TroupeError) return acpError(error);
  return acpError({ code: 'bug', message: messageOf(error) });
}
