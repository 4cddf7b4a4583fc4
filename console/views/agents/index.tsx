/** Agents: who there is, who fits a sentence, what is wrong with their files, and a run of any of them from here. */

import { useMemo } from 'react';
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import type { AgentFound, AgentLine, AgentsChecked } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { FirstVisit } from '../../parts/first-visit.tsx';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { SearchBox } from '../../parts/search-box.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import { useAgents, useLoaded, useSessions } from '../../store/hooks.ts';
import { AgentPage } from './agent-page.tsx';
import { Problems } from './problems.tsx';

export function View({ params: { agent } }: ViewProps) {
  const agents = useAgents();
  const query = useQuery();
  const sought = query.get('query') ?? '';
  return (
    <>
      <header className="view-head">
        <h1>Agents</h1>
        <SearchBox
          label="Find an agent: by its name, or by what it should do"
          value={sought}
          found={(words) => query.set({ query: words })}
        />
      </header>
      <div className={agent === undefined ? 'split' : 'split chosen'}>
        <nav className="split-list" aria-label="Agents">
          <LoadedView loaded={agents} what="the list of agents">
            {(lines) => (lines.length === 0 ? <NoAgents /> : <Found lines={lines} sought={sought} chosen={agent} />)}
          </LoadedView>
        </nav>
        <section className="split-main" aria-label={agent === undefined ? 'All agents' : `Agent ${agent}`}>
          {agent === undefined ? <Overview /> : <AgentPage key={agent} name={agent} />}
        </section>
      </div>
    </>
  );
}

function NoAgents() {
  return (
    <div className="empty">
      <h2>There are no agents here yet</h2>
      <p>An agent is a Markdown file below `agents/`. This makes a first one:</p>
      <pre>troupe init</pre>
    </div>
  );
}

interface FoundProps {
  readonly lines: readonly AgentLine[];
  readonly sought: string;
  readonly chosen: string | undefined;
}

/** The server says who fits; where it may not be asked, a name or a word of the description does. */
function Found({ lines, sought, chosen }: FoundProps) {
  return sought === '' ? <Rows lines={lines} chosen={chosen} /> : <Fitting lines={lines} sought={sought} chosen={chosen} />;
}

function Fitting({ lines, sought, chosen }: FoundProps) {
  const fitting = useLoaded<readonly AgentFound[]>('/agents/search', { query: sought, limit: 50 });
  const shown = useMemo(() => {
    const word = sought.toLowerCase();
    const named = lines.filter(({ name, description }) => `${name} ${description ?? ''}`.toLowerCase().includes(word));
    const ids = fitting.state === 'there' ? fitting.value.map(({ name }) => name) : [];
    const ranked = ids.flatMap((id) => lines.find(({ name }) => name === id) ?? []);
    return [...new Set([...named, ...ranked])];
  }, [lines, sought, fitting]);
  if (shown.length > 0) return <Rows lines={shown} chosen={chosen} />;
  return <p className="empty">{fitting.state === 'awaited' ? 'Looking …' : `No agent fits “${sought}”.`}</p>;
}

function Rows({ lines, chosen }: Pick<FoundProps, 'lines' | 'chosen'>) {
  return (
    <ul>
      {lines.map(({ name, description, disabled, origin }) => (
        <li key={`${origin} ${name}`}>
          <Link
            className="split-row"
            href={`/agents/${encodeURIComponent(name)}`}
            aria-current={name === chosen ? 'true' : undefined}
          >
            <strong>{visibleText(name)}</strong>
            {disabled && <span className="tone-waits"> ‖ disabled</span>}
            <span className="quiet cut">{visibleText(description ?? `from ${origin}`)}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function Overview() {
  const sessions = useSessions();
  const checked = useLoaded<AgentsChecked>('/agents/check');
  return (
    <>
      {sessions.state === 'there' && sessions.value.length === 0 && <FirstVisit />}
      {checked.state === 'there' && <Problems checked={checked.value} />}
      <p className="quiet">Choose an agent to see its file, whom it may call, and to run it.</p>
    </>
  );
}
