/** What went wrong in a session: the kind, the first cause, what takes it further, and the logs as they were. */

import { useMemo, useState } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { type CauseLine, foldCauses, initialCauses, resultEvent, whyOf } from '../../../src/projections/why.ts';
import type { RunRow } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { CopiedId } from '../../parts/copied-id.tsx';
import { EventLink, RunLink } from '../../parts/event-link.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import '../../parts/styles/empty.css';
import { useLoaded } from '../../store/hooks.ts';
import './errors.css';
import { failedRuns, firstCauses } from './failures.ts';
import { RawLogs } from './raw-logs.tsx';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Errors" name="errors">
      {(shown) => <Errors shown={shown} session={session} />}
    </SessionPage>
  );
}

interface Props {
  readonly shown: Shown;
  readonly session: string;
}

function Errors({ shown, session }: Props) {
  const { tree } = shown.fold;
  const failed = failedRuns(tree);
  const first = firstCauses(tree, failed);
  const lines = shown.view.history.lines.slice(0, shown.count);
  const troubles = lines.filter(({ level }) => level === 'error' || level === 'warn').toReversed();
  if (failed.length + troubles.length === 0)
    return (
      <div className="empty">
        <h2>Nothing went wrong</h2>
        <p>Failures, refusals and what had to be tried again would stand here, with their cause. The same on the command line:</p>
        <pre>troupe why RUN</pre>
      </div>
    );
  return (
    <div className="view-body column">
      {first.map((node) => (
        <Failed key={node.run} node={node} shown={shown} session={session} isFirst />
      ))}
      {failed
        .filter((node) => !first.includes(node))
        .map((node) => (
          <Failed key={node.run} node={node} shown={shown} session={session} isFirst={false} />
        ))}
      <section className="section" aria-label="Warnings and errors in their order">
        <h2>Warnings and errors, newest first</h2>
        <ul className="troubles">
          {troubles.slice(0, SHOWN_LINES).map(({ position, agent, text, level }) => (
            <li key={position}>
              <span className={level === 'error' ? 'tone-bad' : 'tone-waits'}>{level === 'error' ? '✗ error' : '! warning'}</span>
              <span>{visibleText(agent)}</span>
              <EventLink session={session} event={position}>
                {visibleText(text)}
              </EventLink>
            </li>
          ))}
        </ul>
      </section>
    </div>
  );
}

const SHOWN_LINES = 200;

interface FailedProps extends Props {
  readonly node: RunNode;
  readonly isFirst: boolean;
}

function Failed({ node, shown, session, isFirst }: FailedProps) {
  const { error } = node;
  const runs = useLoaded<readonly RunRow[]>('/runs', { limit: 100, all: 'yes' });
  const next = runs.state === 'there' ? (runs.value.find(({ run }) => run === node.run)?.next ?? null) : null;
  return (
    <section className="section failure" aria-label={`${isFirst ? 'First cause: ' : ''}${node.agent} failed`}>
      <div className="section-head">
        <h2>{visibleText(isFirst ? `First cause: ${node.agent}` : node.agent)}</h2>
        <StateMark state={node.state} />
        {error !== null && <code>{visibleText(error.category ?? error.code)}</code>}
        <RunLink session={session} run={node.run}>
          its run
        </RunLink>
        <CopiedId id={node.run} what="run" />
      </div>
      {error !== null && (
        <>
          <p className="tone-bad">✗ {visibleText(error.message)}</p>
          {error.fix !== undefined && <p>{visibleText(error.fix)}</p>}
          {error.last !== undefined && <p className="quiet">What was known last: {visibleText(error.last)}</p>}
        </>
      )}
      {next !== null && shown.isNow && <pre className="next">{visibleText(next)}</pre>}
      <Why node={node} shown={shown} session={session} />
      <RawLogs run={node.run} events={shown.events} session={session} isOpen={isFirst} />
    </section>
  );
}

interface WhyProps extends Props {
  readonly node: RunNode;
}

/** From the end back to the prompt, cause by cause: looked for when somebody wants to know. */
function Why(props: WhyProps) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>Why, back to the prompt</summary>
      {isOpen && <Chain {...props} />}
    </details>
  );
}

function Chain({ node, shown: { events }, session }: WhyProps) {
  const chain = useMemo((): readonly CauseLine[] => {
    const causes = initialCauses();
    for (const event of events) foldCauses(causes, event);
    const end = resultEvent(causes, node.run);
    return end === undefined ? [] : whyOf(causes, end);
  }, [events, node.run]);
  return (
    <ol className="why">
      {chain.map(({ event, position, agent, text, level }) => (
        <li key={event}>
          <span className="quiet">{visibleText(agent)}</span>{' '}
          <EventLink className={level === 'error' ? 'tone-bad' : ''} session={session} event={position}>
            {visibleText(text)}
          </EventLink>
        </li>
      ))}
    </ol>
  );
}
