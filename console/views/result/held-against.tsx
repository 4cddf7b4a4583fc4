/** What the record is good for beside being read: the run is played again over it, or held against another run. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { post, type Refusal } from '../../api/client.ts';
import type { Replayed } from '../../api/types.ts';
import { EventLink } from '../../parts/event-link.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { useSessions } from '../../store/hooks.ts';

interface Props {
  readonly node: RunNode;
  readonly session: string;
}

export function HeldAgainst({ node, session }: Props) {
  return (
    <section className="held-against" aria-label="Played again and compared">
      <Replay node={node} session={session} />
      <CompareWith node={node} />
    </section>
  );
}

type Replaying =
  | { readonly state: 'idle' | 'asked' }
  | { readonly state: 'done'; readonly value: Replayed }
  | { readonly state: 'refused'; readonly refusal: Refusal };

function Replay({ node, session }: Props) {
  const [replaying, setReplaying] = useState<Replaying>({ state: 'idle' });
  const play = async () => {
    setReplaying({ state: 'asked' });
    const told = await post<Replayed>(`/runs/${node.run}/replay`);
    setReplaying(told.ok ? { state: 'done', value: told.value } : { state: 'refused', refusal: told.error });
  };
  return (
    <>
      <button
        type="button"
        className="button"
        disabled={replaying.state === 'asked'}
        title="Over what is recorded: nothing is asked, run or written"
        onClick={() => void play()}
      >
        {replaying.state === 'asked' ? 'Playing again …' : 'Play again'}
      </button>
      {replaying.state === 'refused' && <Trouble what={replaying.refusal.message} fix={replaying.refusal.fix} />}
      {replaying.state === 'done' && <Outcome value={replaying.value} session={session} />}
    </>
  );
}

const KINDS = { changed: 'is another now', missing: 'did not come about again', new: 'is not recorded' } as const;

function Outcome({ value, session }: { readonly value: Replayed; readonly session: string }) {
  const compared = `${counted(value.runs, 'run')}, ${counted(value.events, 'event')} compared`;
  if (value.kind === 'identical')
    return (
      <p role="status" className="tone-good">
        ✓ It came to the same: {compared}.
      </p>
    );
  const { first } = value;
  const what = first.path === '' ? 'it' : visibleText(first.path);
  const side = (of: unknown): string => (of === undefined ? 'nothing' : JSON.stringify(of, null, 2));
  return (
    <div role="status">
      <p className="tone-bad">
        ✗ The first difference: {visibleText(first.type)} of {visibleText(first.agent)},{' '}
        <EventLink session={session} event={first.position} />: {what} {KINDS[first.kind]}. {compared}.
      </p>
      <ShownText text={side(first.recorded)} label="Recorded" isDiff={false} />
      <ShownText text={side(first.now)} label="Now" isDiff={false} />
    </div>
  );
}

function CompareWith({ node }: { readonly node: RunNode }) {
  const sessions = useSessions();
  const [, go] = useLocation();
  if (sessions.state !== 'there') return null;
  const others = sessions.value.filter(({ newestRun }) => newestRun !== node.run);
  const source = sessions.value.find(({ newestRun }) => newestRun === node.run)?.forked?.run;
  return (
    <>
      {source !== undefined && (
        <Link className="button" href={`/compare/${source}/${node.run}`}>
          Compare with what it was forked from
        </Link>
      )}
      {others.length > 0 && (
        <select
          className="field head-choice"
          aria-label="Compare with another run"
          value=""
          onChange={(event) => go(`/compare/${node.run}/${event.target.value}`)}
        >
          <option value="">Compare with …</option>
          {others.map(({ newestRun, agent, prompt }) => (
            <option key={newestRun} value={newestRun}>
              {visibleText(agent)}: {visibleText(prompt ?? newestRun)}
            </option>
          ))}
        </select>
      )}
    </>
  );
}
