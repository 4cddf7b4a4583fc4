/** What waited, what it had cost and what was changed, at the moment that is shown. */

import type { ReactNode } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { costLines } from '../../../src/projections/costs.ts';
import { firstLine, readableCost } from '../../../src/projections/readable.ts';
import { EventLink } from '../../parts/event-link.tsx';
import type { Moment } from './moment.ts';

const CHARACTERS = 80;
const SHOWN = 100;

interface Props {
  readonly session: string;
  readonly moment: Moment;
}

export function AtThatMoment({ session, moment: { fold } }: Props) {
  const waits = [...fold.waits.values()];
  const costs = costLines(fold.costs);
  const files = [...fold.files.values()];
  return (
    <>
      <Part title="Waits" count={waits.length}>
        {waits.slice(0, SHOWN).map((wait) => (
          <li key={`${wait.run} ${wait.wait}`}>
            <EventLink className="cut" session={session} event={wait.position}>
              {visibleText(fold.tree.runs.get(wait.run)?.agent ?? 'somebody')}:{' '}
              {visibleText(firstLine(wait.question, CHARACTERS))}
            </EventLink>
          </li>
        ))}
      </Part>
      <Part title="Costs" count={costs.length}>
        {costs.slice(0, SHOWN).map((line) => (
          <li key={`${line.agent} ${line.model}`}>
            <span className="cut">
              {visibleText(line.agent)} <span className="quiet">{visibleText(line.model)}</span>
            </span>
            <span>{readableCost(line)}</span>
          </li>
        ))}
      </Part>
      <Part title="Files" count={files.length}>
        {files.slice(0, SHOWN).map((file) => (
          <li key={file.path}>
            <span className="cut mono">{visibleText(file.path)}</span>
            <span className="quiet">
              +{file.added} -{file.removed}
            </span>
          </li>
        ))}
      </Part>
    </>
  );
}

interface PartProps {
  readonly title: string;
  readonly count: number;
  readonly children: ReactNode;
}

function Part({ title, count, children }: PartProps) {
  return (
    <details className="at-moment" open={count > 0}>
      <summary>
        {title} <span className="quiet">{count}</span>
      </summary>
      <ul>{children}</ul>
    </details>
  );
}
