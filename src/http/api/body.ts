/** The JSON of a request, up to a limit. */
import { isUtf8 } from 'node:buffer';
import { type Json, parseJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { invalid, type Refusal } from './refusals.ts';

/** An empty body is an empty object. */
export async function bodyIn(request: Request): Promise<Result<Json, Refusal>> {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  const bytes = await wholeBody(request);
  if (bytes === undefined) return fail(TOO_LARGE);
  if (bytes.length === 0) return ok({});
  // A form that a page of somebody else sends is never JSON.
  if (type !== 'application/json') return fail({ ...invalid('The content type must be application/json.'), status: 415 });
  // Decoded all the same it would be done with other words than theirs.
  if (!isUtf8(bytes)) return fail(invalid('The body is not UTF-8.'));
  const parsed = parseJson(bytes.toString('utf8'));
  return parsed.ok ? ok(parsed.value) : fail(invalid('The body is not JSON.'));
}

/** What is no JSON: a program says so, and a form of another page cannot. */
export function bytesIn(request: Request): Result<AsyncIterable<Uint8Array>, Refusal> {
  const type = request.headers.get('content-type')?.split(';', 1)[0]?.trim().toLowerCase();
  if (type !== 'application/octet-stream')
    return fail({ ...invalid('The content type must be application/octet-stream.'), status: 415 });
  return ok(request.body ?? nothing());
}

async function* nothing(): AsyncGenerator<Uint8Array, void> {}

async function wholeBody(request: Request): Promise<Buffer | undefined> {
  if (Number(request.headers.get('content-length') ?? 0) > limits.httpBodyBytes) return undefined;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of request.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.httpBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const TOO_LARGE: Refusal = {
  status: 413,
  code: 'too_large',
  message: `The body has more than ${limits.httpBodyBytes} bytes (limit httpBodyBytes).`,
  fix: 'Put what is long into a file of the workspace and name the file.',
};
