/** What stands in a redacted text where a secret was. */
import type { Json } from '../json.ts';

const MARK = /\[redacted:[\w.-]+\]/;

/** Whether something of it may have been a secret: nobody who gives it knows what stood there. */
export const hasMark = (value: Json): boolean => MARK.test(JSON.stringify(value));

/** Where marks stand in a text, in order. */
export const marksIn = (text: string): readonly { readonly at: number; readonly mark: string }[] =>
  [...text.matchAll(new RegExp(MARK, 'g'))].map(({ index, 0: mark }) => ({ at: index, mark }));
