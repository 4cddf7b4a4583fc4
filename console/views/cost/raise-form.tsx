/** More of what a run ran out of: it goes on with the new budget; what it spent before counts. */
import { type FormEvent, useEffect, useState } from 'react';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { post, type Refusal } from '../../api/client.ts';
import { Trouble } from '../../parts/trouble.tsx';
import { useMe } from '../../store/hooks.ts';
import type { Bound } from './burn-down.ts';

interface Props {
  readonly root: RunNode;
  readonly bound: Bound;
}

const WORDS = { usd: 'dollars', tokens: 'tokens', calls: 'calls' } as const;

export function RaiseForm({ root, bound: { name, title } }: Props) {
  const me = useMe();
  const [wanted, setWanted] = useState('');
  const [refusal, setRefusal] = useState<Refusal>();
  const [told, setTold] = useState('');
  const [isPausing, setPausing] = useState(false);
  const amount = Number(wanted);
  const isAtWork = root.endedAt === null && root.state !== 'paused' && root.state !== 'parked';
  const goOn = async () => {
    setPausing(false);
    const done = await post<{ readonly outcome: string }>(`/runs/${root.run}/resume`, { budget: { [name]: amount } });
    setRefusal(done.ok ? undefined : done.error);
    setTold(done.ok ? `It goes on, with at most ${amount} ${WORDS[name]} in all.` : '');
  };
  // A run takes new terms when it is taken up: one that is at work is paused first, after what is under way.
  const raise = async (event: FormEvent) => {
    event.preventDefault();
    if (!isAtWork) return await goOn();
    const paused = await post(`/runs/${root.run}/pause`, { reason: `to raise its budget: ${title.toLowerCase()}` });
    setRefusal(paused.ok ? undefined : paused.error);
    setPausing(paused.ok);
    setTold(paused.ok ? 'It is paused after what is under way, and then goes on with more. Stay on this page.' : '');
  };
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, as soon as it stands still
  useEffect(() => {
    if (isPausing && !isAtWork) void goOn();
  }, [isPausing, isAtWork]);
  if (me.state === 'there' && me.value.role !== 'owner') return <p className="quiet">The owner can raise it.</p>;
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
      <button type="submit" className="button" disabled={!(amount > 0) || isPausing}>
        {isAtWork ? 'Pause, raise and go on' : 'Raise and go on'}
      </button>
      <span className="quiet" role="status">
        {told}
      </span>
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </form>
  );
}
