/** One HTTP request to a server of the cluster, bounded in time. Not being answered is a value. */
import { messageOf } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';

export type HttpAnswer =
  | {
      readonly kind: 'answered';
      readonly ok: boolean;
      readonly status: number;
      readonly text: string;
      readonly date: string | null;
    }
  | { readonly kind: 'silent'; readonly problem: string };

/** With a body it is a POST. */
export async function request(url: string, body?: Json, milliseconds: number = limits.ingressMs): Promise<HttpAnswer> {
  try {
    const response = await fetch(url, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      signal: AbortSignal.timeout(milliseconds),
    });
    const text = await response.text();
    return { kind: 'answered', ok: response.ok, status: response.status, text, date: response.headers.get('date') };
  } catch (error) {
    return { kind: 'silent', problem: reasonOf(error) };
  }
}

/** `fetch failed` says nothing; what is behind it does. */
function reasonOf(error: unknown): string {
  return error instanceof Error && error.cause !== undefined ? messageOf(error.cause) || messageOf(error) : messageOf(error);
}
