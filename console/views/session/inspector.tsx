/** One event, all of it: what it holds, what caused it, and the way to it. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { attachmentAddress } from '../../api/bytes.ts';
import { isFile } from '../../api/kept.ts';
import type { Query } from '../../app/query.ts';
import { CopiedId } from '../../parts/copied-id.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import { useMe } from '../../store/hooks.ts';
import type { SessionView } from '../../store/session.ts';
import { ForkHere } from './fork-here.tsx';

interface Props {
  readonly view: SessionView;
  readonly position: number;
  readonly query: Query;
}

export function Inspector({ view, position, query }: Props) {
  const { events, lines } = view.history;
  const index = position - (events[0]?.position ?? 1);
  const [event, line] = [events[index], lines[index]];
  const me = useMe();
  const mayKeep = me.state === 'there' && me.value.role === 'owner';
  const close = () => query.set({ event: undefined });
  if (event === undefined || line === undefined) return null;
  const whole = event.attachment_ref === null ? undefined : attachmentAddress(view.session, event.attachment_ref, position);
  const cause = event.parent_event_id === null ? undefined : event.parent_event_id.split('.').at(-1);
  return (
    <aside className="inspector" aria-label={`Event ${position}`}>
      <header>
        <h2>
          {event.event_type} <span className="quiet">#{position}</span>
        </h2>
        <button type="button" className="button quiet" aria-label="Close" onClick={close}>
          ✕
        </button>
      </header>
      <p className="cut" title={visibleText(line.text)}>
        {visibleText(line.text)}
      </p>
      <dl>
        <dt>when</dt>
        <dd>{new Date(event.timestamp).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'medium' })}</dd>
        <dt>who</dt>
        <dd>{visibleText(event.actor)}</dd>
        {event.step !== null && <dt>step</dt>}
        {event.step !== null && <dd className="mono">{visibleText(event.step)}</dd>}
        {cause !== undefined && <dt>because of</dt>}
        {cause !== undefined && (
          <dd>
            <button type="button" className="button" onClick={() => query.set({ event: cause })}>
              event {cause}
            </button>
          </dd>
        )}
        <dt>id</dt>
        <dd>
          <CopiedId id={event.event_id} what="event" />
        </dd>
      </dl>
      <div className="act-row">
        <Link className="button" href={`/sessions/${view.session}?at=${position}&event=${position}`}>
          As it was then
        </Link>
        {!isFile() && mayKeep && <ForkHere event={event} />}
        {whole !== undefined && (
          <a className="button" download href={whole}>
            The whole output
          </a>
        )}
      </div>
      <ShownText text={JSON.stringify(event.payload, null, 2) ?? ''} label="What the event holds" isDiff={false} />
    </aside>
  );
}
