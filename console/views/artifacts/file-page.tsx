/** The changes of one file, newest first, each with who made it; comments on lines go back to who can act on them. */

import { useMemo } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { EventOf, LedgerEvent } from '../../../src/events/envelope.ts';
import { isFile } from '../../api/kept.ts';
import { CopiedId } from '../../parts/copied-id.tsx';
import { DiffView, lineKey } from '../../parts/diff-view.tsx';
import { EventLink } from '../../parts/event-link.tsx';
import type { Shown } from '../../parts/session-page.tsx';
import { When } from '../../parts/when.tsx';
import { CommentBox } from './comment-box.tsx';
import { useComments } from './comments.ts';

interface Props {
  readonly path: string;
  /** Only what this run changed. */
  readonly run: string | undefined;
  readonly shown: Shown;
  readonly session: string;
}

export function FilePage({ path, run, shown, session }: Props) {
  const { events, fold } = shown;
  const changes = useMemo(() => changesOf(events, path, run), [events, path, run]);
  const comments = useComments();
  const newest = changes[0];
  const canComment = shown.isNow && !isFile();
  return (
    <>
      <h2>
        <code>{visibleText(path)}</code>
      </h2>
      {changes.map((change) => {
        const agent = fold.tree.runs.get(change.run_id)?.agent ?? 'somebody';
        const { diff, by, addedLines, removedLines, program } = change.payload;
        const commented = new Set(comments.all.filter(({ position }) => position === change.position).map(lineKey));
        return (
          <article key={change.position} className="change" aria-label={`Change of ${agent}`}>
            <div className="section-head">
              <h3>
                {by === 'outside' ? 'changed outside' : visibleText(agent)}
                {by === 'command' ? ' (by a command)' : ''}
              </h3>
              <span className="tone-good">+{addedLines}</span>
              <span className="tone-bad">−{removedLines}</span>
              <span className="quiet">
                <When at={change.timestamp} />
              </span>
              <EventLink session={session} event={change.position} />
              {change.payload.after !== null && <CopiedId id={change.payload.after} what="content" />}
            </div>
            {program !== undefined && <p className="notice waits">! {visibleText(program)}</p>}
            <DiffView
              diff={diff}
              label={`What ${agent} changed in ${path}`}
              commented={commented}
              onLine={canComment ? (line) => comments.begin({ ...line, position: change.position }) : undefined}
            />
          </article>
        );
      })}
      {canComment && newest !== undefined && (
        <CommentBox path={path} run={newest.run_id} comments={comments} shown={shown} session={session} />
      )}
    </>
  );
}

type Change = EventOf<'file.diff'>;

const changesOf = (events: readonly LedgerEvent[], path: string, run: string | undefined): readonly Change[] =>
  events
    .filter((event): event is Change => event.event_type === 'file.diff' && event.payload.path === path)
    .filter(({ run_id }) => run === undefined || run_id === run)
    .toReversed();
