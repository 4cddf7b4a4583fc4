/** What was said to a group and what it answered, oldest first. */

import { useState } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { textOf } from '../../../src/events/messages.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { EarlierOnes } from '../../parts/earlier-ones.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { When } from '../../parts/when.tsx';
import type { SessionView } from '../../store/session.ts';

const NEWEST = 20;

export function Chat({ view }: { readonly view: SessionView }) {
  const { tree } = view.history.fold;
  const [shown, setShown] = useState(NEWEST);
  const roots = tree.roots.flatMap((run) => tree.runs.get(run) ?? []);
  if (roots.length === 0) return <p className="quiet">Nothing was said to it yet.</p>;
  return (
    <section className="chat" aria-label="What was said">
      <EarlierOnes hidden={roots.length - shown} more={() => setShown(shown + NEWEST)} />
      {roots.slice(-shown).map((root) => (
        <Exchange key={root.run} root={root} view={view} />
      ))}
    </section>
  );
}

function Exchange({ root, view }: { readonly root: RunNode; readonly view: SessionView }) {
  const started = view.history.events[root.position - 1];
  const prompt = started?.event_type === 'run.started' ? textOf(started.payload.input.content) : '';
  const { report, error } = root;
  const words = view.words.get(root.run);
  return (
    <article className="chat" aria-label="A prompt and its answer">
      <p className="said">{visibleText(prompt)}</p>
      <div className="section-head">
        <span>{visibleText(root.member ?? root.agent)}</span>
        <StateMark state={root.state} worth={root.verification?.state} />
        <span className="quiet">
          <When at={root.startedAt} />
        </span>
        <Link href={`/sessions/${view.session}?run=${root.run}`}>how it came about</Link>
      </div>
      {report !== null && <StrangersText text={report.body} by={root.finalAgent ?? root.agent} />}
      {report === null && words !== undefined && <StrangersText text={words} by={root.agent} />}
      {error !== null && <p className="tone-bad">✗ {visibleText(error.message)}</p>}
    </article>
  );
}
