/** Reading what somebody else's program wrote: a field is what it should be, or it is not there. */
import { isJsonObject, type Json, type JsonObject } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { Payloads } from '../events/catalogue.ts';
import { headOf } from '../tools/bounded.ts';
import type { ItemOf } from './items.ts';
import type { TranscriptLine } from './lines.ts';

type Given = Json | undefined;

export const objectIn = (value: Given, key: string): JsonObject | undefined => {
  const found = isJsonObject(value) ? value[key] : undefined;
  return isJsonObject(found) ? found : undefined;
};

export const listIn = (value: Given, key: string): readonly Json[] => {
  const found = isJsonObject(value) ? value[key] : undefined;
  return Array.isArray(found) ? found : [];
};

export const textIn = (value: Given, key: string): string | undefined => {
  const found = isJsonObject(value) ? value[key] : undefined;
  return typeof found === 'string' ? found : undefined;
};

export const nameIn = (value: Given, key: string): string | undefined =>
  textIn(value, key)?.slice(0, limits.transcriptNameCharacters) || undefined;

/** A count: whole and not below zero. */
export const countIn = (value: Given, key: string): number | undefined => {
  const found = isJsonObject(value) ? value[key] : undefined;
  return typeof found === 'number' && found >= 0 && found <= Number.MAX_SAFE_INTEGER ? Math.floor(found) : undefined;
};

export const numberIn = (value: Given, key: string): number | undefined => {
  const found = isJsonObject(value) ? value[key] : undefined;
  return typeof found === 'number' && Number.isFinite(found) ? found : undefined;
};

/** No transcript is older than the programs, and a date far ahead is none. */
const FIRST = Date.UTC(2000, 0);
const LAST = Date.UTC(2200, 0);

export const timeFrom = (value: Given): number | undefined => {
  const time = typeof value === 'string' ? Date.parse(value) : typeof value === 'number' ? value : Number.NaN;
  return time >= FIRST && time <= LAST ? Math.floor(time) : undefined;
};

export const timeIn = (value: Given, key: string): number | undefined => (isJsonObject(value) ? timeFrom(value[key]) : undefined);

/** Text of a content that is a text or a list of parts. */
export function textOfContent(content: Given): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  return content.map((part: Json) => textIn(part, 'text') ?? '').join('');
}

export const textParts = (text: string): { type: 'text'; text: string }[] => [{ type: 'text', text }];

/** What a tool gave, as the ledger keeps it; whatever is no text or picture stands there as JSON. */
export function givenContent(content: Given): Payloads['tool.result']['content'] {
  if (typeof content === 'string') return textParts(content);
  if (!Array.isArray(content)) return textParts(content === undefined || content === null ? '' : JSON.stringify(content));
  return content.map((part: Json) => partOf(part));
}

export function partOf(part: Json): Payloads['tool.result']['content'][number] {
  const text = textIn(part, 'text');
  if (text !== undefined) return { type: 'text', text };
  const source = objectIn(part, 'source');
  const [data, mediaType] = [textIn(source, 'data'), textIn(source, 'media_type')];
  if (textIn(part, 'type') === 'image' && data !== undefined && mediaType !== undefined)
    return { type: 'image', mediaType, data };
  return { type: 'text', text: JSON.stringify(part) };
}

/** What stands there although nothing is made of it: its kind, its beginning, and how long it is. */
export function record(kind: string, line: TranscriptLine, at?: number, agent?: string): ItemOf<'record'> {
  const { bytes } = line;
  const raw = headOf(line.text(), limits.transcriptRecordBytes);
  return { is: 'record', kind: kind.slice(0, limits.transcriptNameCharacters), raw, bytes, at, agent };
}
