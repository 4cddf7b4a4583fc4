/** Pause, go on, cancel: each with a reason that stands in the ledger. */
import { type FormEvent, useState } from 'react';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { post, type Refusal } from '../../api/client.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Trouble } from '../../parts/trouble.tsx';

type Act = 'pause' | 'cancel';

interface Props {
  readonly root: RunNode;
  /** Nobody works on it: whoever did is gone. */
  readonly isLeft: boolean;
}

export function Acts({ root, isLeft }: Props) {
  const [asking, setAsking] = useState<Act>();
  const [refusal, setRefusal] = useState<Refusal>();
  const resume = async () => {
    const told = await post(`/runs/${root.run}/resume`, {});
    setRefusal(told.ok ? undefined : told.error);
  };
  const isOpen = root.endedAt === null;
  const isIdle = isLeft || root.state === 'paused' || root.state === 'parked' || !isOpen;
  return (
    <span className="session-acts">
      {isOpen && root.state === 'running' && !isLeft && (
        <button type="button" className="button" onClick={() => setAsking('pause')}>
          Pause …
        </button>
      )}
      {isIdle && root.state !== 'completed' && (
        <button type="button" className="button" onClick={() => void resume()}>
          Go on
        </button>
      )}
      {isOpen && (
        <button type="button" className="button danger" onClick={() => setAsking('cancel')}>
          Cancel …
        </button>
      )}
      {asking !== undefined && <Reason act={asking} run={root.run} close={() => setAsking(undefined)} />}
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </span>
  );
}

interface ReasonProps {
  readonly act: Act;
  readonly run: string;
  readonly close: () => void;
}

const WORDS = {
  pause: ['Pause this run', 'It stops after what is under way, and can go on later.', 'Pause'],
  cancel: ['Cancel this run', 'It ends, and everything below it; what it did stays.', 'Cancel the run'],
} as const;

function Reason({ act, run, close }: ReasonProps) {
  const [reason, setReason] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const [title, meaning, word] = WORDS[act];
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    const told = await post(`/runs/${run}/${act}`, reason.trim() === '' ? {} : { reason: reason.trim() });
    if (told.ok) close();
    else setRefusal(told.error);
  };
  return (
    <Dialog title={title} close={close}>
      <form className="reason" onSubmit={(event) => void submit(event)}>
        <p>{meaning}</p>
        <label>
          Why (it stands in the ledger)
          <input className="field" value={reason} maxLength={1_000} onChange={(event) => setReason(event.target.value)} />
        </label>
        {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
        <div className="act-row">
          <button type="submit" className={act === 'cancel' ? 'button danger' : 'button first'}>
            {word}
          </button>
        </div>
      </form>
    </Dialog>
  );
}
