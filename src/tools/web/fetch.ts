/**
 * `fetch`: a page or document from the web, as text. Reads only (GET and HEAD), from public addresses only; each redirect
 * is checked like the first request.
 */
import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import { parseJson, readableJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { NoWay } from '../../network/addresses.ts';
import { type Arrival, followRequest } from '../../network/follow.ts';
import type { HttpResponse } from '../../network/http-request.ts';
import { groupDigits } from '../bounded.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { looksBinary } from '../files/file-content.ts';
import { errorResult, type OrdinaryTool, textResult } from '../port.ts';
import { htmlToText } from './html-text.ts';

export interface FetchOptions {
  readonly clock: Clock;
  /** Also reach loopback and private networks. */
  readonly allowLocal?: boolean | undefined;
}

const input = z.strictObject({
  url: z.string().min(1).max(8_192).describe('An http or https address.'),
  method: z.enum(['GET', 'HEAD']).optional().describe('GET when left out; HEAD for the headers only.'),
});
type Method = 'GET' | 'HEAD';

const TEXT_TYPES =
  /^(?:text\/|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml|x-yaml|javascript|ecmascript|x-ndjson|toml|sql|graphql)(?:$|;|\s))/i;

export function fetchTool({ clock, allowLocal = false }: FetchOptions): OrdinaryTool {
  const tool = defineBuiltIn({
    name: 'fetch',
    description:
      'Fetches a web address and returns it as text: HTML without its markup, JSON indented. Reads only; sends no data.',
    input,
    replay: 'safe',
    readOnly: true,
    run: async ({ url, method = 'GET' }, { signal, mayFetch }) => {
      const budget = new AbortController();
      const forget = clock.after(limits.fetchMs, () =>
        budget.abort(new Error(`no answer within ${limits.fetchMs / 1_000} s (fetchMs)`)),
      );
      try {
        const answer = await follow(url, method, { allowLocal, mayFetch }, AbortSignal.any([signal, budget.signal]));
        if (!answer.ok)
          return errorResult(
            budget.signal.aborted ? `${url}: no answer within ${limits.fetchMs / 1_000} s (fetchMs).` : answer.error.message,
          );
        const { response, url: last } = answer.value;
        const text = method === 'HEAD' ? headersText(response) : bodyText(response, last);
        if (!text.ok) return errorResult(text.error);
        const title = `${response.status} ${last.href}`;
        return response.status >= 400 ? errorResult(`${title}\n\n${text.value}`) : textResult(`${title}\n\n${text.value}`);
      } finally {
        forget();
      }
    },
  });
  return { ...tool, preview: async (given) => addressText(input.safeParse(given).data) };
}

/** The address that is really asked: names in other letters as they are looked up, and as they were written. */
function addressText(given: z.infer<typeof input> | undefined): string | undefined {
  if (given === undefined || !URL.canParse(given.url)) return undefined;
  const { href, host, username } = new URL(given.url);
  const lines = [`${given.method ?? 'GET'} ${href}`];
  if (username !== '') lines.push(`host: ${host}`);
  if (href !== given.url && href !== `${given.url}/`) lines.push(`written as: ${given.url}`);
  return lines.join('\n');
}

interface Way {
  readonly allowLocal: boolean;
  readonly mayFetch: ((address: string) => boolean) | undefined;
}

async function follow(
  start: string,
  method: Method,
  { allowLocal, mayFetch }: Way,
  signal: AbortSignal,
): Promise<Result<Arrival, NoWay>> {
  return await followRequest({
    ...{ start, method, signal, maxBytes: limits.fetchBytes, allowLocal: () => allowLocal },
    // What was allowed was this host, not where it sends others.
    refuses: (next, from) =>
      next.host !== from.host && mayFetch?.(next.href) === false
        ? `${from.href} leads on to ${next.href}, which is not allowed without a question. Fetch that to ask.`
        : undefined,
  });
}

function headersText({ headers }: HttpResponse): Result<string, string> {
  return ok([...headers].map(([name, value]) => `${name}: ${value}`).join('\n'));
}

function bodyText({ body, headers, cut }: HttpResponse, url: URL): Result<string, string> {
  const type = headers.get('content-type') ?? '';
  if (looksBinary(body) || (type !== '' && !TEXT_TYPES.test(type))) {
    return fail(`${url.href} is not text but ${type || 'binary'} (${groupDigits(body.length)} bytes) and cannot be shown.`);
  }
  const raw = decode(body, type);
  const note = cut ? `\n\n(cut at ${groupDigits(limits.fetchBytes)} bytes (fetchBytes))` : '';
  return ok(readable(raw, type, url) + note);
}

function readable(raw: string, type: string, url: URL): string {
  if (/html/i.test(type) || (type === '' && /^\s*<(?:!doctype|html)/i.test(raw))) return htmlToText(raw, url.href);
  if (!/json/i.test(type)) return raw;
  const parsed = parseJson(raw);
  try {
    return parsed.ok ? readableJson(parsed.value) : raw;
  } catch {
    // Nested so deep that nothing can be made of it but what it is.
    return raw;
  }
}

function decode(body: Buffer, contentType: string): string {
  const charset = /charset\s*=\s*"?([\w-]+)/i.exec(contentType)?.[1] ?? 'utf-8';
  try {
    return new TextDecoder(charset).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
