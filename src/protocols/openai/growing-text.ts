/**
 * The text of an answer as it grows: the words of whoever answers, turn by turn, and in the end what of the report was not said.
 * What was sent cannot be taken back, so what broke off stays, and what comes after it begins a paragraph of its own.
 */
import type { LivePiece } from '../../engine/port.ts';

export interface GrowingText {
  /** What is to be sent of this piece; nothing for words of others, or where something before it was missed. */
  hear(piece: LivePiece): string;
  /** What is still to be sent when this is the whole answer. */
  end(answer: string): string;
  /** A text of ours, beside what agents say. */
  add(text: string): string;
}

export function createGrowingText(): GrowingText {
  let source = '';
  let said = '';
  let sent = false;
  const apart = (text: string): string => {
    const before = sent && text !== '' ? '\n\n' : '';
    sent ||= text !== '';
    return before + text;
  };
  return {
    hear({ run, turn, attempt, terminal, offset, delta }) {
      if (!terminal || delta.type !== 'text') return '';
      const from = `${run} ${turn} ${attempt}`;
      if (from !== source) {
        if (offset !== 0) return '';
        [source, said] = [from, delta.text];
        return apart(delta.text);
      }
      if (offset !== said.length) return '';
      said += delta.text;
      return delta.text;
    },
    end(answer) {
      if (said !== '' && answer.startsWith(said)) return answer.slice(said.length);
      return said.trim() === answer.trim() ? '' : apart(answer);
    },
    add: apart,
  };
}
