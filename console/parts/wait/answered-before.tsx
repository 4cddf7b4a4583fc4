/** What was asked has an answer already: whose, from where and when, as the ledger has it. */
import type { FirstAnswer } from '../../api/client.ts';
import { useLoaded } from '../../store/hooks.ts';
import { When } from '../when.tsx';
import { firstWords } from './answer.ts';

interface Props {
  readonly run: string;
  readonly wait: string;
}

export function AnsweredBefore({ run, wait }: Props) {
  const given = useLoaded<FirstAnswer>(`/runs/${encodeURIComponent(run)}/answers`, { wait });
  if (given.state === 'there')
    return (
      <p role="status" className="outcome late">
        ✓ Already answered: {firstWords(given.value)}, <When at={given.value.at} />.
      </p>
    );
  // Nobody has: it was cancelled or taken back, or there never was such a wait.
  const isNobodys = given.state === 'refused' && given.refusal.status === 404;
  return (
    <p role="status" className="outcome late">
      {given.state === 'awaited'
        ? 'It does not wait for an answer any more; whose answer counts is asked …'
        : isNobodys
          ? 'It does not wait for an answer any more, and nobody has given one.'
          : given.refusal.message}
    </p>
  );
}
