/** The JSON of a request, up to a limit. */
import { isUtf8 } from 'node:buffer';
import { type A2AError, ContentTypeNotSupportedError, RequestMalformedError } from '@a2a-js/sdk/errors';
import { isJsonObject, type JsonObject, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { tooMuch } from '../a2a/errors.ts';

/** What stands in a body. Bindings have words of their own for what is no JSON. */
type JsonBody = { readonly kind: 'json'; readonly value: unknown } | { readonly kind: 'empty' } | { readonly kind: 'not JSON' };

export async function jsonIn(request: Request, types: readonly string[]): Promise<JsonBody> {
  const type = request.headers.get('content-type');
  const media = type?.split(';', 1)[0]?.trim().toLowerCase();
  if (media !== undefined && media !== '' && !types.includes(media))
    throw new ContentTypeNotSupportedError(`The content type must be ${types.join(' or ')}.`);
  const bytes = await bytesOf(request);
  if (bytes.length === 0) return { kind: 'empty' };
  // Decoded all the same it would have other characters in it than whoever sent it wrote.
  if (!isUtf8(bytes)) return { kind: 'not JSON' };
  const parsed = parseJson(bytes.toString('utf8'));
  return parsed.ok ? { kind: 'json', value: parsed.value } : { kind: 'not JSON' };
}

/** An object, which is empty when nothing was sent. */
export async function bodyOf(request: Request, types: readonly string[]): Promise<JsonObject> {
  const body = await jsonIn(request, types);
  if (body.kind === 'empty') return {};
  if (body.kind !== 'json') throw new RequestMalformedError(NOT_JSON);
  if (!isJsonObject(body.value)) throw new RequestMalformedError('The body is not a JSON object.');
  return body.value;
}

export const NOT_JSON = 'The body is not JSON.';

async function bytesOf(request: Request): Promise<Buffer> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.httpBodyBytes) throw bodyTooLarge();
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.httpBodyBytes) throw bodyTooLarge();
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const bodyTooLarge = (): A2AError => tooMuch('The body is too large', 'httpBodyBytes');
