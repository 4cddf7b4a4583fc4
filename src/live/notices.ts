/** Pieces as texts that a notice of Postgres can carry, which is bounded; what is too long goes in several. */
import { parseJson } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import type { LivePiece } from '../engine/port.ts';
import { wirePiece } from './port.ts';

export function noticesOf(from: string, pieces: readonly LivePiece[]): readonly string[] {
  const room = limits.liveNoticeBytes - Buffer.byteLength(from) - 3;
  const notices: string[] = [];
  let [texts, bytes]: [string[], number] = [[], 0];
  const finish = (): void => {
    if (texts.length > 0) notices.push(`${from} [${texts.join(',')}]`);
    [texts, bytes] = [[], 0];
  };
  for (const text of pieces.flatMap((piece) => fitting(piece, room))) {
    const length = Buffer.byteLength(text) + 1;
    if (bytes + length > room) finish();
    texts.push(text);
    bytes += length;
  }
  finish();
  return notices;
}

function fitting(piece: LivePiece, room: number): readonly string[] {
  const text = JSON.stringify(piece);
  if (Buffer.byteLength(text) < room) return [text];
  const { delta } = piece;
  // A name that long is nobody's: what counts is in the ledger.
  if (delta.type === 'tool' || delta.text.length < 2) return [];
  const middle = delta.text.length >> 1;
  const part = (from: number, to?: number): LivePiece => ({
    ...piece,
    offset: piece.offset + from,
    delta: { ...delta, text: delta.text.slice(from, to) },
  });
  return [...fitting(part(0, middle), room), ...fitting(part(middle), room)];
}

/** `undefined` for what is none. */
export function readNotice(notice: string): { readonly from: string; readonly pieces: readonly LivePiece[] } | undefined {
  const at = notice.indexOf(' ');
  const parsed = parseJson(notice.slice(at + 1));
  const pieces = wirePiece.array().safeParse(parsed.ok ? parsed.value : undefined);
  return pieces.success ? { from: notice.slice(0, at), pieces: pieces.data as LivePiece[] } : undefined;
}
