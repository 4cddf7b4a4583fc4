/** What stands in a redacted text where a secret was. */
import type { Json } from '../json.ts';

const MARK = /\[redacted:[\w.-]+\]/;

/** Whether something of it may have been a secret: nobody who gives it knows what stood there. */
export const hasMark = (value: Json): boolean => MARK.test(JSON.stringify(value));
