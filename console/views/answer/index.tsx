/** One question, for a phone: behind one link, with nothing around it. */
import { Link } from 'wouter';
import type { ViewProps } from '../../app/places.ts';
import { useTitle } from '../../app/title.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { AnsweredBefore } from '../../parts/wait/answered-before.tsx';
import { useKept } from '../../parts/wait/kept.ts';
import { WaitCard } from '../../parts/wait/wait-card.tsx';
import { useInbox } from '../../store/hooks.ts';
import './answer.css';

export function View({ params: { run = '', '*': wait = '' } }: ViewProps) {
  const inbox = useInbox();
  useTitle('Answer');
  return (
    <main className="answer-page" id="main">
      <h1 className="unseen">Answer</h1>
      <LoadedView loaded={inbox} what="what is asked">
        {(items) => <Asked item={items.find((one) => one.run === run && one.wait === wait)} run={run} wait={wait} />}
      </LoadedView>
      <p className="answer-foot">
        <Link href="/inbox">All that waits</Link>
      </p>
    </main>
  );
}

interface AskedProps {
  readonly item: Parameters<typeof useKept>[0];
  readonly run: string;
  readonly wait: string;
}

function Asked({ item, run, wait }: AskedProps) {
  const kept = useKept(item, run, wait);
  if (kept !== undefined) return <WaitCard key={`${run} ${wait}`} item={kept} isGone={item === undefined} isAlone />;
  return (
    <div className="answer-gone">
      <AnsweredBefore run={run} wait={wait} />
    </div>
  );
}
