/** No, and why: the agent hears it and can do otherwise. */
import { type FormEvent, useState } from 'react';
import { focusFirst } from './focus-first.ts';

interface Props {
  readonly close: () => void;
  readonly send: (note: string) => void;
}

export function DenyWords({ close, send }: Props) {
  const [note, setNote] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    send(note.trim());
  };
  return (
    <form className="answer-form" onSubmit={submit}>
      <label>
        Why not, or what instead (the agent reads it)
        <textarea className="field" rows={3} value={note} ref={focusFirst} onChange={(event) => setNote(event.target.value)} />
      </label>
      <div className="act-row">
        <button type="submit" className="button danger">
          Deny
        </button>
        <button type="button" className="button" onClick={close}>
          Back
        </button>
      </div>
    </form>
  );
}
