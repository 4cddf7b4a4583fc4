/** Pieces of a line, each with its own look, and how they are broken into lines. The text in them is already safe. */
import { splitToWidth, textWidth } from '../terminal/text-width.ts';

export interface Stretch {
  readonly text: string;
  readonly look: (text: string) => string;
}

export const plainLook = (text: string): string => text;

/** Lines of at most `width` columns, painted. A newline in a stretch is kept; a word is only cut when no line could hold it. */
export function wrapStretches(stretches: readonly Stretch[], width: number): readonly string[] {
  const room = Math.max(1, width);
  const lines: string[] = [];
  let line: Stretch[] = [];
  let used = 0;
  const finish = (): void => {
    lines.push(painted(withoutTail(line)));
    line = [];
    used = 0;
  };
  for (const word of wordsOf(stretches)) {
    if (word === 'newline') {
      finish();
      continue;
    }
    const size = widthOf(word);
    const isBlank = word.every(({ text }) => text.trim() === '');
    if (used + size > room && used > 0) finish();
    if (isBlank && used === 0 && lines.length > 0) continue;
    for (const piece of size > room ? cutWord(word, room) : [word]) {
      const more = widthOf(piece);
      if (used + more > room && used > 0) finish();
      line.push(...piece);
      used += more;
    }
  }
  finish();
  return lines;
}

type Word = readonly Stretch[] | 'newline';

/** What may not be broken stays together, also where its look changes in the middle. */
function wordsOf(stretches: readonly Stretch[]): readonly Word[] {
  const words: Word[] = [];
  let current: Stretch[] = [];
  const finish = (): void => {
    if (current.length > 0) words.push(current);
    current = [];
  };
  for (const { text, look } of stretches) {
    for (const piece of text.split(/(\n| +)/)) {
      if (piece === '') continue;
      if (piece !== '\n' && piece.trim() !== '') {
        current.push({ text: piece, look });
        continue;
      }
      finish();
      words.push(piece === '\n' ? 'newline' : [{ text: piece, look }]);
    }
  }
  finish();
  return words;
}

function cutWord(word: readonly Stretch[], width: number): readonly (readonly Stretch[])[] {
  return word.flatMap(({ text, look }) => splitToWidth(text, width).map((piece) => [{ text: piece, look }]));
}

function withoutTail(line: readonly Stretch[]): readonly Stretch[] {
  const last = line.findLastIndex(({ text }) => text.trim() !== '');
  return line.slice(0, last + 1);
}

const widthOf = (stretches: readonly Stretch[]): number => stretches.reduce((sum, { text }) => sum + textWidth(text), 0);

/** Neighbours of one look are painted as one, so that an underlined title has no gaps. */
function painted(stretches: readonly Stretch[]): string {
  let result = '';
  for (let index = 0; index < stretches.length; ) {
    const look = stretches[index]?.look ?? plainLook;
    let text = '';
    for (; index < stretches.length && stretches[index]?.look === look; index += 1) text += stretches[index]?.text ?? '';
    result += look(text);
  }
  return result;
}
