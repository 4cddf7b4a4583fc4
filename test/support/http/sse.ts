/** A reader of server-sent events, as the standard has them: what a browser would see. */

export interface Frame {
  readonly event: string;
  readonly id: string | undefined;
  readonly data: string;
}

export interface Listener {
  readonly frames: Frame[];
  readonly comments: string[];
  /** The text of every event of the ledger so far, as it came. */
  events(): readonly string[];
  /** The id that a browser would come back with. */
  lastId(): string | undefined;
  /** Resolves when the stream has ended, however it did. */
  readonly ended: Promise<void>;
  stop(): void;
}

export function listenTo(response: Response, stop = new AbortController()): Listener {
  const frames: Frame[] = [];
  const comments: string[] = [];
  const ended = readFrames(response, frames, comments).catch(() => undefined);
  return {
    frames,
    comments,
    events: () => frames.flatMap(textsOf),
    lastId: () => frames.findLast(({ id }) => id !== undefined)?.id,
    ended,
    stop: () => stop.abort(),
  };
}

/** The bytes of a batch are those of its events with commas between them: they are taken apart without being written anew. */
export function textsOf({ event, data }: Frame): readonly string[] {
  if (event === 'event') return [data];
  if (event !== 'events') return [];
  const texts: string[] = [];
  let [depth, start, quoted] = [0, 1, false];
  for (let at = 1; at < data.length - 1; at += 1) {
    const sign = data[at];
    if (quoted) {
      if (sign === '\\') at += 1;
      else if (sign === '"') quoted = false;
    } else if (sign === '"') quoted = true;
    else if (sign === '{' || sign === '[') depth += 1;
    else if (sign === '}' || sign === ']') depth -= 1;
    else if (sign === ',' && depth === 0) {
      texts.push(data.slice(start, at));
      start = at + 1;
    }
  }
  return [...texts, data.slice(start, -1)];
}

async function readFrames(response: Response, frames: Frame[], comments: string[]): Promise<void> {
  let text = '';
  for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
    text += chunk;
    for (let end = text.indexOf('\n\n'); end !== -1; end = text.indexOf('\n\n')) {
      read(text.slice(0, end), frames, comments);
      text = text.slice(end + 2);
    }
  }
}

function read(block: string, frames: Frame[], comments: string[]): void {
  const lines = block.split('\n');
  comments.push(...lines.filter((line) => line.startsWith(':')).map((line) => line.slice(1).trim()));
  const frame = frameIn(block);
  if (frame !== undefined) frames.push(frame);
}

/** `undefined` for one that carries nothing. */
export function frameIn(block: string): Frame | undefined {
  const lines = block.split('\n').filter((line) => !line.startsWith(':'));
  const fields = new Map(lines.map((line) => [line.split(': ', 1)[0], behindColon(line)]));
  const data = fields.get('data');
  return data === undefined ? undefined : { event: fields.get('event') ?? 'message', id: fields.get('id'), data };
}

const behindColon = (line: string): string => line.slice(line.indexOf(': ') + 2);
