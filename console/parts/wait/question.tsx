/** A question of an agent: its choices, and room for words. */

import { type FormEvent, useState } from 'react';
import { judgedLine } from '../../../src/base/visible-text.ts';
import type { InboxItem } from '../../api/types.ts';
import { useKeys } from '../../app/keys.ts';
import { ShownText } from '../shown-text.tsx';
import type { Answers } from './answer.ts';

type Question = Extract<InboxItem, { readonly kind: 'question' }>;

interface Props {
  readonly item: Question;
  readonly answers: Answers;
}

export function QuestionWait({ item, answers: { answering, send } }: Props) {
  const [text, setText] = useState('');
  const choices = item.choices ?? [];
  const isOpen = answering.state === 'open' || answering.state === 'refused';
  const say = (words: string) => {
    if (isOpen && words.trim() !== '') send({ kind: 'text', text: words });
  };
  useKeys(Object.fromEntries(choices.slice(0, 9).map((choice, index) => [String(index + 1), () => say(choice)])));
  const submit = (event: FormEvent) => {
    event.preventDefault();
    say(text);
  };
  return (
    <>
      <ShownText text={item.question} label={`What ${item.agent} asks`} isDiff={false} />
      {choices.length > 0 && (
        <div className="act-row">
          {choices.map((choice, index) => (
            <button key={choice} type="button" className="button" disabled={!isOpen} onClick={() => say(choice)}>
              {judgedLine(choice)} <kbd>{index + 1}</kbd>
            </button>
          ))}
        </div>
      )}
      <form className="answer-form" onSubmit={submit}>
        <label>
          {choices.length > 0 ? 'Or in your own words' : 'Your answer'}
          <textarea
            className="field"
            rows={3}
            value={text}
            disabled={!isOpen}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <div className="act-row">
          <button type="submit" className="button first" disabled={!isOpen || text.trim() === ''}>
            Answer
          </button>
        </div>
      </form>
    </>
  );
}
