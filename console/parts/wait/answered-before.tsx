/** What was asked has an answer already: whose, from where and when, as the ledger has it. */
import { answerLine } from '../../../src/projections/timeline.ts';
import { useLoaded, useSession } from '../../store/hooks.ts';
import { When } from '../when.tsx';

interface Props {
  readonly run: string;
  readonly wait: string;
}

export function AnsweredBefore({ run, wait }: Props) {
  const shown = useLoaded<{ readonly session: string }>(`/runs/${encodeURIComponent(run)}`);
  if (shown.state === 'refused') return <p role="status">{shown.refusal.message}</p>;
  if (shown.state === 'awaited') return null;
  return <InSession session={shown.value.session} run={run} wait={wait} />;
}

function InSession({ session, run, wait }: Props & { readonly session: string }) {
  const { history } = useSession(session);
  const found = history.events.findLast(
    (event) => event.event_type === 'approval.answered' && event.run_id === run && event.payload.wait === wait,
  );
  if (found?.event_type !== 'approval.answered') return <p role="status">This does not wait for an answer any more.</p>;
  return (
    <p role="status" className="outcome late">
      ✓ Already answered: {answerLine(found.payload)}, <When at={found.timestamp} />.
    </p>
  );
}
