/**
 * Pieces of an answer that arrive together, as one: what a model says in two hundred events, and the network brings in ten parts,
 * is taken apart, checked and shown ten times. Two events are one when they are the same but for the words that they add.
 *
 * Nothing is held back: what arrives is passed on at once, and an event that has not ended yet as far as it came.
 */

export interface JoinsEvents {
  /** What to pass on for it. */
  take(chunk: Uint8Array): Uint8Array;
}

/** Whose values are added to what came before, in every protocol that is spoken here. Quotes inside of a value are escaped. */
const ADDED = /"(?:content|reasoning_content|arguments|text|thinking|partial_json)":"/g;
const BETWEEN = '\n\n';

export function createJoinedEvents(): JoinsEvents {
  let isBetween = true;
  return {
    take(chunk) {
      // Every byte is a sign, so that nothing is cut that belongs together.
      const text = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength).toString('latin1');
      // The rest of an event that began before is passed on as it is.
      const from = isBetween ? 0 : text.indexOf(BETWEEN) + BETWEEN.length;
      const to = text.lastIndexOf(BETWEEN) + BETWEEN.length;
      isBetween = text.endsWith(BETWEEN);
      if (to < BETWEEN.length || to <= from) return chunk;
      const events = text.slice(from, to - BETWEEN.length).split(BETWEEN);
      if (events.length === 1) return chunk;
      return Buffer.from(text.slice(0, from) + joined(events) + text.slice(to), 'latin1');
    },
  };
}

interface Parts {
  readonly before: string;
  readonly added: string[];
  readonly after: string;
}

function joined(events: readonly string[]): string {
  const told: (string | Parts)[] = [];
  for (const event of events) {
    const parts = partsOf(event);
    const last = told.at(-1);
    if (parts === undefined) told.push(event);
    else if (typeof last === 'object' && isSame(last, parts)) last.added.push(...parts.added);
    else told.push(parts);
  }
  return told.map((one) => (typeof one === 'string' ? one : one.before + one.added.join('') + one.after) + BETWEEN).join('');
}

const isSame = (one: Parts, other: Parts): boolean => one.before === other.before && one.after === other.after;

/** `undefined` for one that adds no words, or in more than one place. */
function partsOf(event: string): Parts | undefined {
  const [first, ...more] = event.matchAll(ADDED);
  if (first === undefined || more.length > 0 || !event.startsWith('data:', event.indexOf('\n') + 1)) return undefined;
  const start = first.index + first[0].length;
  let end = start;
  while (end < event.length && event[end] !== '"') end += event[end] === '\\' ? 2 : 1;
  if (end >= event.length) return undefined;
  return { before: event.slice(0, start), added: [event.slice(start, end)], after: event.slice(end) };
}
