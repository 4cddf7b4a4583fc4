/**
 * Lets lines through that are not too long. One that is too long is thrown away as it comes, up to its end, and reported with
 * how it began and ended: what follows is heard as if nothing had happened.
 */
import { Transform, type TransformCallback } from 'node:stream';

const NEWLINE = 0x0a;
/** What is kept of a line that is thrown away, at either end. */
const KEPT_BYTES = 1024;

export interface TooLong {
  readonly head: string;
  readonly tail: string;
}

export function boundedLines(maxBytes: number, onTooLong: (line: TooLong) => void): Transform {
  let parts: Buffer[] = [];
  let length = 0;
  let thrownAway: { readonly head: string; tail: Buffer } | undefined;

  const take = (piece: Buffer): void => {
    length += piece.length;
    if (thrownAway !== undefined)
      thrownAway.tail = Buffer.concat([thrownAway.tail, piece.subarray(-KEPT_BYTES)]).subarray(-KEPT_BYTES);
    else {
      parts.push(piece);
      if (length <= maxBytes) return;
      const whole = Buffer.concat(parts);
      thrownAway = { head: whole.toString('utf8', 0, KEPT_BYTES), tail: whole.subarray(-KEPT_BYTES) };
      parts = [];
    }
  };
  const finish = (stream: Transform): void => {
    if (thrownAway === undefined) stream.push(parts.length === 1 ? parts[0] : Buffer.concat(parts));
    else onTooLong({ head: thrownAway.head, tail: thrownAway.tail.toString() });
    [parts, length, thrownAway] = [[], 0, undefined];
  };
  return new Transform({
    transform(chunk: Buffer, _encoding, done: TransformCallback) {
      let start = 0;
      for (let end = chunk.indexOf(NEWLINE); end !== -1; end = chunk.indexOf(NEWLINE, start)) {
        take(chunk.subarray(start, end + 1));
        finish(this);
        start = end + 1;
      }
      if (start < chunk.length) take(chunk.subarray(start));
      done();
    },
    flush(done) {
      if (length > 0) finish(this);
      done();
    },
  });
}

/** The id of a request of which only both ends are known: it stands right behind the version, or at the very end. */
export function requestIdOf({ head, tail }: TooLong): string | number | undefined {
  const written =
    /^\s*\{\s*"jsonrpc"\s*:\s*"2\.0"\s*,\s*"id"\s*:\s*(\d{1,15}|"[\w.:-]{1,100}")\s*,/.exec(head) ??
    /,\s*"id"\s*:\s*(\d{1,15}|"[\w.:-]{1,100}")\s*\}\s*$/.exec(tail);
  const id = written?.[1];
  if (id === undefined) return undefined;
  return id.startsWith('"') ? id.slice(1, -1) : Number(id);
}
