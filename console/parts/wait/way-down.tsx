/** Who asks, and how it came to that: the agents from the top of the tree down. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { InboxItem } from '../../api/types.ts';
import { When } from '../when.tsx';

export function WayDown({ item }: { readonly item: InboxItem }) {
  return (
    <p className="way-down">
      <Link href={`/sessions/${item.session}?run=${item.run}`}>
        {item.path.map((agent, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: an agent may stand in its own line more than once
          <span key={index}>
            {index > 0 && <span aria-hidden="true"> › </span>}
            {visibleText(agent)}
          </span>
        ))}
      </Link>
      {item.member !== undefined && <span className="quiet"> as {visibleText(item.member)}</span>}
      <span className="quiet">
        {' '}
        · asked <When at={item.askedAt} />
      </span>
    </p>
  );
}
