/** A session of its own that begins with all of this one up to an event: with another prompt, model, answer or result. */
import { type FormEvent, useState } from 'react';
import { useLocation } from 'wouter';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { Started } from '../../api/types.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Trouble } from '../../parts/trouble.tsx';

interface Props {
  readonly event: LedgerEvent;
}

/** What can be another, by what is recorded there. */
const SETS: Partial<Record<LedgerEvent['event_type'], readonly [name: 'prompt' | 'answer' | 'result', label: string]>> = {
  'run.started': ['prompt', 'Another prompt'],
  'approval.asked': ['answer', 'The answer (yes, no, no: why, or words to a question)'],
  'tool.call': ['result', 'Another result of the call'],
};

export function ForkHere({ event }: Props) {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setOpen(true)}>
        Fork here …
      </button>
      {isOpen && <ForkDialog event={event} close={() => setOpen(false)} />}
    </>
  );
}

function ForkDialog({ event, close }: Props & { readonly close: () => void }) {
  const [, go] = useLocation();
  const [text, setText] = useState('');
  const [model, setModel] = useState('');
  const [isAsking, setAsking] = useState(false);
  const [refusal, setRefusal] = useState<Refusal>();
  const set = SETS[event.event_type];
  const submit = async (submitted: FormEvent) => {
    submitted.preventDefault();
    setAsking(true);
    const more = set === undefined || text.trim() === '' ? {} : { [set[0]]: text };
    const chosen = model.trim() === '' ? {} : { model: model.trim() };
    const at = event.event_type === 'run.started' ? 'start' : event.event_id;
    const done = await post<Started>(`/runs/${event.run_id}/fork`, { at, ...more, ...chosen });
    setAsking(false);
    if (!done.ok) return setRefusal(done.error);
    close();
    go(`/sessions/${done.value.session}`);
  };
  return (
    <Dialog title={`Fork behind event ${event.position}`} close={close}>
      <form className="reason" onSubmit={(submitted) => void submit(submitted)}>
        <p>
          A session of its own that begins with all of this up to here, in a folder that is as it was then. What comes after is
          asked anew, and costs.
        </p>
        {set !== undefined && (
          <label>
            {set[1]}
            <textarea className="field" rows={3} value={text} onChange={(changed) => setText(changed.target.value)} />
          </label>
        )}
        <label>
          Another model, from here on (as it was, without one)
          <input className="field" value={model} maxLength={200} onChange={(changed) => setModel(changed.target.value)} />
        </label>
        {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
        <div className="act-row">
          <button type="submit" className="button first" disabled={isAsking}>
            {isAsking ? 'Forking …' : 'Fork'}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
