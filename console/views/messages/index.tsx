/** Who writes to whom in a session: threads of assistants and what people said to runs, with what became of each message. */

import { useMemo, useState } from 'react';
import { visibleText } from '../../../src/base/visible-text.ts';
import { saidTo, threadsOf } from '../../../src/front/shown-threads.ts';
import { createProcesses } from '../../../src/projections/processes.ts';
import { readableDuration } from '../../../src/projections/readable.ts';
import { createSessionThreads } from '../../../src/projections/threads.ts';
import type { SessionThreads } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { EarlierOnes } from '../../parts/earlier-ones.tsx';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import { When } from '../../parts/when.tsx';
import { useLoaded } from '../../store/hooks.ts';
import './messages.css';
import { processWords } from './process-words.ts';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Messages" name="messages">
      {(shown) => (shown.isNow ? <Newest session={session} /> : <Earlier shown={shown} />)}
    </SessionPage>
  );
}

function Newest({ session }: { readonly session: string }) {
  const threads = useLoaded<SessionThreads>(`/sessions/${encodeURIComponent(session)}/threads`);
  return (
    <LoadedView loaded={threads} what="the messages">
      {(value) => <Threads value={value} />}
    </LoadedView>
  );
}

/** As they were: folded from the events up to there, as the server does it. */
function Earlier({ shown: { events, fold, time = 0 } }: { readonly shown: Shown }) {
  const { tree } = fold;
  const value = useMemo(() => {
    const boxes = { sessionThreads: createSessionThreads(), processes: createProcesses() };
    for (const event of events) {
      boxes.sessionThreads.apply(event);
      boxes.processes.apply(event);
    }
    const runs = [...tree.runs.values()];
    return { threads: [...threadsOf(boxes, runs, time)], said: [...saidTo(boxes, runs, time)] } as SessionThreads;
  }, [events, tree, time]);
  return <Threads value={value} />;
}

function Threads({ value: { threads, said } }: { readonly value: SessionThreads }) {
  const run = useQuery().get('run');
  const [most, setMost] = useState(NEWEST);
  const shown = threads.filter(
    ({ process }) => run === undefined || process === run || !threads.some((one) => one.process === run),
  );
  if (threads.length + said.length === 0)
    return (
      <div className="empty">
        <h2>Nothing was written yet</h2>
        <p>
          What you say to a run at work, and what assistants and their spawners write to each other, stands here with its receipt:
        </p>
        <pre>troupe send RUN "What it should know"</pre>
      </div>
    );
  return (
    <div className="view-body column">
      <EarlierOnes hidden={shown.length - most} more={() => setMost(most + NEWEST)} />
      {shown.slice(-most).map(({ thread, agent, status, pid, total, messages }) => (
        <section key={thread} className="section" aria-label={`Thread of ${agent}`}>
          <div className="section-head">
            <h2>{visibleText(agent)}</h2>
            <span className={processWords(status).tone}>{processWords(status).words}</span>
            {pid !== null && <span className="quiet">pid {pid}</span>}
            {total > messages.length && (
              <span className="quiet">
                the newest {messages.length} of {total}
              </span>
            )}
          </div>
          <Messages messages={messages} />
        </section>
      ))}
      {said.length > 0 && (
        <section className="section" aria-label="What people said">
          <h2>What people said</h2>
          <Messages messages={said} />
        </section>
      )}
    </div>
  );
}

type Message = SessionThreads['threads'][number]['messages'][number];

/** What is drawn at first, of messages and of threads; earlier ones when somebody wants them. */
const NEWEST = 100;

function Messages({ messages }: { readonly messages: readonly Message[] }) {
  const [most, setMost] = useState(NEWEST);
  if (messages.length === 0) return <p className="quiet">No message yet.</p>;
  return (
    <>
      <EarlierOnes hidden={messages.length - most} more={() => setMost(most + NEWEST)} />
      <MessageList messages={messages.slice(-most)} />
    </>
  );
}

function MessageList({ messages }: { readonly messages: readonly Message[] }) {
  return (
    <ol className="messages">
      {messages.map((message) => (
        <li key={message.id}>
          <StrangersText
            text={message.content}
            by={`${message.from} to ${message.to}${message.kind === null ? '' : ` (${message.kind})`}`}
          />
          <p className="quiet">
            sent <When at={message.sentAt} />, <Receipt message={message} />
          </p>
        </li>
      ))}
    </ol>
  );
}

/** Read: the request of a model carried it, or whoever it was for has fetched it. */
function Receipt({ message: { readAt, includedIn, lagMs } }: { readonly message: Message }) {
  if (readAt === null)
    return lagMs === null ? (
      <span className="tone-waits">! nobody will read it any more</span>
    ) : (
      <span className="tone-waits">◌ not read yet, for {readableDuration(lagMs)}</span>
    );
  return (
    <span className="tone-good">
      ✓ {includedIn === null ? 'fetched' : 'part of a request'} after {readableDuration(lagMs ?? 0)}
    </span>
  );
}
