import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { firstLine } from '../../../src/projections/readable.ts';
import type { InboxItem } from '../../api/types.ts';
import { addressOfWait } from '../../parts/wait/address.ts';
import { askedIn } from '../../parts/wait/request.ts';
import { When } from '../../parts/when.tsx';

const CHARACTERS = 120;

export function WaitRow({ item, isChosen }: { readonly item: InboxItem; readonly isChosen: boolean }) {
  const what = item.kind === 'permission' ? askedIn(item.request).text : item.question;
  return (
    <li>
      <Link className="list-row" href={addressOfWait(item)} aria-current={isChosen ? 'true' : undefined}>
        <span className="list-line">
          <span className="list-sign waits" aria-hidden="true">
            ◐
          </span>
          <strong className="cut">{visibleText(item.agent)}</strong>
          <span className="quiet cut">{item.kind === 'permission' ? visibleText(item.tool) : 'asks'}</span>
          <span className="list-side quiet">
            <When at={item.askedAt} />
          </span>
        </span>
        <span className="list-line mono cut">{visibleText(firstLine(what, CHARACTERS))}</span>
      </Link>
    </li>
  );
}
