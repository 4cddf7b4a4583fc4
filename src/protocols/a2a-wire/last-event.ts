/**
 * In version 0.3 the last event of a stream says that it is the last. The SDK's translation says it of ends only; here a stream
 * ends with a question, too, and whoever waits for the word would wait for ever.
 */
import { isJsonObject, type JsonObject } from '../../base/json.ts';

/** Whether a stream ends with it although the SDK's translation does not say so. */
export const isLastUpdate = (event: unknown): event is JsonObject =>
  isJsonObject(event) && event['kind'] === 'status-update' && asks(event, 'input-required');

/** An event of JSON-RPC as it goes over the wire. */
export function saysLast(event: object): object {
  const { result } = event as { readonly result?: unknown };
  return isLastUpdate(result) ? { ...event, result: { ...result, final: true } } : event;
}

/** The number of `input-required` in version 0.3. */
const INPUT_REQUIRED = 6;

/** The same for an event of gRPC. */
export function saysLastInGrpc(event: unknown): unknown {
  if (!isJsonObject(event) || !isJsonObject(event['payload'])) return event;
  const { payload } = event;
  const { $case, value } = payload;
  if ($case !== 'statusUpdate' || !isJsonObject(value) || !asks(value, INPUT_REQUIRED)) return event;
  return { ...event, payload: { $case, value: { ...value, final: true } } };
}

const asks = ({ status }: JsonObject, state: string | number): boolean => isJsonObject(status) && status['state'] === state;
