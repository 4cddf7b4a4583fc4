/** Comments on lines that were not sent yet, and the words in which an agent gets them. */
import { useState } from 'react';
import type { ChosenLine } from '../../parts/diff-view.tsx';

export interface LineOfChange extends ChosenLine {
  /** The event that holds the change. */
  readonly position: number;
}

export interface LineComment extends LineOfChange {
  readonly words: string;
}

export interface Comments {
  readonly all: readonly LineComment[];
  /** The line that is being commented on. */
  readonly open: LineOfChange | undefined;
  begin(line: LineOfChange): void;
  /** Without words the line is left as it is. */
  keep(words: string): void;
  remove(comment: LineComment): void;
  /** Those that were written meanwhile stay. */
  sent(comments: readonly LineComment[]): void;
}

export function useComments(): Comments {
  const [all, setAll] = useState<readonly LineComment[]>([]);
  const [open, setOpen] = useState<LineOfChange>();
  return {
    all,
    open,
    begin: setOpen,
    keep(words) {
      if (open !== undefined && words.trim() !== '') setAll([...all, { ...open, words: words.trim() }]);
      setOpen(undefined);
    },
    remove: (comment) => setAll(all.filter((one) => one !== comment)),
    sent: (comments) => setAll((now) => now.filter((one) => !comments.includes(one))),
  };
}

const LINE_CHARACTERS = 200;

/** The line is quoted, so that the comment is understood after the file has changed again. */
export function commentsText(path: string, comments: readonly LineComment[]): string {
  const parts = comments.map(({ number, side, text, words }) =>
    [
      `${path}, line ${number}${side === 'old' ? ' (before the change)' : ''}:`,
      `> ${text.slice(0, LINE_CHARACTERS)}`,
      words,
    ].join('\n'),
  );
  return `Comments on your change of ${path}:\n\n${parts.join('\n\n')}`;
}
