/** An answer on its way: sent once, and what became of it in words. */
import { useState } from 'react';
import type { Answer } from '../../../src/events/catalogue.ts';
import { answerLine } from '../../../src/projections/timeline.ts';
import { type FirstAnswer, post, type Refusal } from '../../api/client.ts';
import type { InboxItem } from '../../api/types.ts';
import { project } from '../../store/hooks.ts';

export type Answering =
  | { readonly state: 'open' }
  | { readonly state: 'sent' }
  | { readonly state: 'done'; readonly words: string }
  /** Somebody else was first; theirs counts. */
  | { readonly state: 'late'; readonly words: string; readonly at: string }
  | { readonly state: 'refused'; readonly refusal: Refusal };

export interface Answers {
  readonly answering: Answering;
  readonly send: (answer: Answer) => void;
}

export function useAnswer(item: InboxItem): Answers {
  const [answering, setAnswering] = useState<Answering>({ state: 'open' });
  const send = async (answer: Answer): Promise<void> => {
    setAnswering({ state: 'sent' });
    const shown = item.kind === 'permission' ? item.shown : undefined;
    const told = await post(`/runs/${item.run}/answers`, { wait: item.wait, answer, shown });
    if (told.ok) setAnswering({ state: 'done', words: doneWords(answer) });
    else if (told.error.first !== undefined)
      setAnswering({ state: 'late', words: capital(firstWords(told.error.first)), at: told.error.first.at });
    else setAnswering({ state: 'refused', refusal: told.error });
    project.touch();
  };
  return {
    answering,
    send: (answer) => {
      if (answering.state === 'open' || answering.state === 'refused') void send(answer);
    },
  };
}

const SAID = { approved: 'Approved', denied: 'Denied', text: 'Answered' } as const;

/** Who drives the run goes on with it; where nobody does, the server does. */
const doneWords = ({ kind }: Answer): string => `${SAID[kind]}. The run goes on.`;

/** Of several answers the first counts: how it was answered, and by whom. */
export const firstWords = ({ answer, by, where }: FirstAnswer): string =>
  answerLine({ wait: '', answer, ...(by === undefined ? {} : { by, where }) } as Parameters<typeof answerLine>[0]);

const capital = (line: string): string => line.slice(0, 1).toUpperCase() + line.slice(1);
