/** The JSON of a request, up to a limit. */
import { type A2AError, ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { tooMuch } from '../a2a/errors.ts';

/** What stands in the body is not JSON: JSON-RPC has a code of its own for that. */
export class NotJsonError extends RequestMalformedError {}

export async function bodyOf(request: Request, types: readonly string[]): Promise<JsonObject> {
  const type = request.headers.get('content-type');
  const media = type?.split(';', 1)[0]?.trim().toLowerCase();
  if (media !== undefined && media !== '' && !types.includes(media))
    throw new ContentTypeNotSupportedError(`The content type must be ${types.join(' or ')}.`);
  const text = await textOf(request);
  if (text === '') return {};
  const parsed = parseJson(text);
  if (!parsed.ok) throw new NotJsonError('The body is not JSON.');
  if (!isJsonObject(parsed.value)) throw new RequestMalformedError('The body is not a JSON object.');
  return parsed.value;
}

async function textOf(request: Request): Promise<string> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.httpBodyBytes) throw bodyTooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.httpBodyBytes) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString('utf8');
}

const bodyTooLarge = (): A2AError => tooMuch('The body is too large', 'httpBodyBytes');
