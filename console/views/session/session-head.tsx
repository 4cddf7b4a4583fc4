/** Who works, how it stands, for how long and for how much; and what can be done about it. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { readableCost, readableDuration } from '../../../src/projections/readable.ts';
import { onlyWaits, subtreeSpending } from '../../../src/projections/run-tree.ts';
import { addressIn } from '../../api/client.ts';
import { isFile } from '../../api/kept.ts';
import type { RunRow } from '../../api/types.ts';
import { CopiedId } from '../../parts/copied-id.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { addressOfWait } from '../../parts/wait/address.ts';
import { useLoaded, useNow } from '../../store/hooks.ts';
import type { SessionView } from '../../store/session.ts';
import { Acts } from './acts.tsx';
import type { Moment } from './moment.ts';
import { MoneyBar } from './money-bar.tsx';

interface Props {
  readonly view: SessionView;
  readonly moment: Moment;
}

/** Whether nobody drives it: its process died, and the ledger has heard nothing of it since. */
function useIsLeft(session: string, run: string | undefined): boolean {
  const runs = useLoaded<readonly RunRow[]>('/runs', { session, limit: 1 });
  const row = runs.state === 'there' ? runs.value.find((one) => one.run === run) : undefined;
  return row?.state === 'interrupted' || row?.state === 'lost';
}

export function SessionHead({ view, moment }: Props) {
  const { root, fold } = moment;
  const now = useNow();
  const isWithout = useIsLeft(view.session, root?.run);
  if (root === undefined) return <h1>Session</h1>;
  const until = root.endedAt ?? moment.time ?? now;
  const [first] = fold.waits.values();
  const waiting = fold.waits.size;
  const isLeft = isWithout && moment.isNow && root.endedAt === null;
  const state = isLeft ? 'interrupted' : onlyWaits(fold.tree, root.run) ? 'waiting' : root.state;
  return (
    <div className="session-head">
      <h1>{visibleText(root.agent)}</h1>
      <StateMark state={state} worth={root.verification?.state} />
      <span className="quiet">{readableDuration(until - root.startedAt)}</span>
      <span title="spent by this run and everything below it">{readableCost(subtreeSpending(fold.tree, root.run))}</span>
      <MoneyBar fold={fold} root={root} />
      {first !== undefined && moment.isNow && !isFile() && (
        <Link className="button waits-note" href={addressOfWait(first)}>
          ◐ {waiting === 1 ? 'answer what waits' : `answer, ${waiting} wait`}
        </Link>
      )}
      <CopiedId id={view.session} what="session" />
      {!isFile() && (
        <a
          className="quiet"
          href={addressIn(`/sessions/${encodeURIComponent(view.session)}/export`, { format: 'html' })}
          download
          title="This session and this console in one file, for whoever has no Troupe"
        >
          Export
        </a>
      )}
      {moment.isNow && !isFile() && <Acts root={root} isLeft={isLeft} />}
    </div>
  );
}
