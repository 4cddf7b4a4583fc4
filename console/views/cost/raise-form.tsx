/** More of what a run ran out of: it goes on with the new budget; what it spent before counts. */
import { type FormEvent, useState } from 'react';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { post, type Refusal } from '../../api/client.ts';
import { Trouble } from '../../parts/trouble.tsx';
import type { Bound } from './burn-down.ts';

interface Props {
  readonly root: RunNode;
  readonly bound: Bound;
}

const WORDS = { usd: 'dollars', tokens: 'tokens', calls: 'calls' } as const;

export function RaiseForm({ root, bound: { name, title } }: Props) {
  const [wanted, setWanted] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const [told, setTold] = useState('');
  const amount = Number(wanted);
  const raise = async (event: FormEvent) => {
    event.preventDefault();
    const done = await post<{ readonly outcome: string }>(`/runs/${root.run}/resume`, { budget: { [name]: amount } });
    setRefusal(done.ok ? undefined : done.error);
    setTold(done.ok ? `It goes on, with at most ${amount} ${WORDS[name]} in all.` : '');
  };
  return (
    <form
      className="form-row"
      aria-label={`Raise ${title.toLowerCase()} of ${root.agent}`}
      onSubmit={(event) => void raise(event)}
    >
      <label>
        <span className="quiet">
          {title} in all, in {WORDS[name]}{' '}
        </span>
        <input
          className="field raise-field"
          inputMode="decimal"
          value={wanted}
          placeholder={`more than ${root.budget?.[name] ?? 0}`}
          onChange={(event) => setWanted(event.target.value)}
        />
      </label>
      <button type="submit" className="button" disabled={!(amount > 0)}>
        Raise and go on
      </button>
      <span className="quiet" role="status">
        {told}
      </span>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </form>
  );
}
