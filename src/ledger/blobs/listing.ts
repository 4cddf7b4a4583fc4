/** What an S3 server says: a page of the names in a bucket, or the word for what went wrong. */
import { fail, ok, type Result } from '../../base/result.ts';
import { childText, readXml } from './xml.ts';

export interface ListedObject {
  readonly key: string;
  /** When it was last written, in milliseconds since 1970. */
  readonly at: number;
}

export interface ListingPage {
  readonly objects: readonly ListedObject[];
  /** What to ask the next page with; `undefined` on the last one. */
  readonly next: string | undefined;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/;
const ERROR_CODE = /^[A-Za-z0-9.]{1,64}$/;

export function readListing(document: string): Result<ListingPage, string> {
  const read = readXml(document);
  if (!read.ok) return read;
  if (read.value.name !== 'ListBucketResult') return fail('it is not a list');
  const objects: ListedObject[] = [];
  for (const element of read.value.children.filter(({ name }) => name === 'Contents')) {
    const key = childText(element, 'Key');
    const time = childText(element, 'LastModified') ?? '';
    const at = TIME.test(time) ? Date.parse(time) : Number.NaN;
    if (key === undefined || Number.isNaN(at)) return fail('an object has no name or no time');
    objects.push({ key, at });
  }
  const truncated = childText(read.value, 'IsTruncated');
  const next = childText(read.value, 'NextContinuationToken') || undefined;
  if (truncated !== 'true' && truncated !== 'false') return fail('it does not say whether it is complete');
  if (truncated === 'true' && next === undefined) return fail('it does not say how it goes on');
  return ok({ objects, next: truncated === 'true' ? next : undefined });
}

/** Only the word: the rest of such an answer may repeat what was signed. */
export function errorCode(document: string): string | undefined {
  const read = readXml(document);
  const code = read.ok && read.value.name === 'Error' ? childText(read.value, 'Code') : undefined;
  return code !== undefined && ERROR_CODE.test(code) ? code : undefined;
}
