/** One agent: run it, whom it reaches, what is wrong with its file, and the file. */

import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { firstLine } from '../../../src/projections/readable.ts';
import type { AgentDetail } from '../../api/types.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import { useLoaded } from '../../store/hooks.ts';
import { Findings } from './problems.tsx';
import { RunForm } from './run-form.tsx';
import './agents.css';

export function AgentPage({ name }: { readonly name: string }) {
  const detail = useLoaded<AgentDetail>(`/agents/${encodeURIComponent(name)}`);
  return (
    <>
      <Link className="split-back" href="/agents">
        ← all agents
      </Link>
      <LoadedView loaded={detail} what={`the agent ${name}`}>
        {(agent) => <Detail agent={agent} />}
      </LoadedView>
    </>
  );
}

const DESCRIPTION_CHARACTERS = 600;

function Detail({ agent }: { readonly agent: AgentDetail }) {
  const { name, models, origin, source, sound, diagnostics, text } = agent;
  const description = agent['description'];
  const { input, remote } = agent as { input?: { schema?: unknown }; remote?: unknown };
  return (
    <>
      <header className="section">
        <h2>{visibleText(name)}</h2>
        {typeof description === 'string' && <p>{visibleText(firstLine(description, DESCRIPTION_CHARACTERS))}</p>}
        <dl className="facts">
          <dt>Model</dt>
          <dd>{models.length > 0 ? models.join(', then ') : remote === undefined ? 'the project’s' : 'its own, elsewhere'}</dd>
          <dt>From</dt>
          <dd>
            {origin}, <code>{visibleText(source)}</code>
          </dd>
        </dl>
      </header>
      {!sound && (
        <p className="notice bad" role="alert">
          <span className="tone-bad">✗ It cannot run:</span> mend its file, then it can.
        </p>
      )}
      <Findings findings={diagnostics} />
      {sound && <RunForm agent={name} schema={input?.schema} />}
      <Reach agent={agent} />
      <section className="section agent-file">
        <h2>Its file</h2>
        {text === null ? (
          <p className="quiet">It is in no file that can be shown.</p>
        ) : (
          <ShownText text={text} isDiff={false} label={`The file ${source}`} />
        )}
      </section>
    </>
  );
}

function Reach({ agent: { name, uses, reaches, namedBy } }: { readonly agent: AgentDetail }) {
  const direct = new Set(uses.map(({ to }) => to));
  const further = new Set(reaches.edges.map(({ to }) => to).filter((to) => to !== name && !direct.has(to)));
  const callers = new Set(namedBy.map(({ from }) => from));
  const groups = [
    ...[...Map.groupBy(uses, ({ kind }) => kind)].map(([kind, edges]) => [kind, edges.map(({ to }) => to)] as const),
    ['further on', [...further]] as const,
    ['named by', [...callers]] as const,
  ].filter(([, names]) => names.length > 0);
  return (
    <section className="section" aria-label="Whom it reaches">
      <h2>Whom it reaches</h2>
      {groups.length === 0 && <p className="quiet">It names nobody, and nobody names it.</p>}
      <dl className="facts">
        {groups.map(([kind, names]) => (
          <Names key={kind} kind={kind} names={names} missing={reaches.missing} />
        ))}
      </dl>
    </section>
  );
}

interface NamesProps {
  readonly kind: string;
  readonly names: readonly string[];
  readonly missing: readonly string[];
}

function Names({ kind, names, missing }: NamesProps) {
  return (
    <>
      <dt>{kind}</dt>
      <dd className="reach">
        {names.map((name) =>
          missing.includes(name) ? (
            <span key={name} className="tone-bad">
              ✗ {name} (there is none)
            </span>
          ) : (
            <Link key={name} href={`/agents/${encodeURIComponent(name)}`}>
              {name}
            </Link>
          ),
        )}
      </dd>
    </>
  );
}
