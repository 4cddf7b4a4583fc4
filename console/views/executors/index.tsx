/** Programs that can work for agents: which are there, inside which walls, and whether they answer. */
import { useState } from 'react';
import { post, type Refusal } from '../../api/client.ts';
import type { ExecutorProbed, ExecutorRow } from '../../api/types.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import '../../parts/styles/empty.css';
import '../../parts/styles/split.css';
import { Trouble } from '../../parts/trouble.tsx';
import { useLoaded } from '../../store/hooks.ts';
import './executors.css';

export function View() {
  const executors = useLoaded<{ readonly executors: readonly ExecutorRow[] }>('/executors');
  return (
    <>
      <header className="view-head">
        <h1>Executors</h1>
      </header>
      {executors.state === 'refused' && executors.refusal.status === 404 ? (
        <div className="empty">
          <p>This server does not tell. The command line does:</p>
          <pre>troupe executors list</pre>
        </div>
      ) : (
        <LoadedView loaded={executors} what="the executors">
          {({ executors: rows }) => (
            <div className="view-body column">
              {rows.map((row) => (
                <Executor key={row.name} row={row} />
              ))}
            </div>
          )}
        </LoadedView>
      )}
    </>
  );
}

const WALLS = {
  inside: '✓ inside walls',
  own: '✓ builds walls of its own',
  outside: '! without walls',
  refused: '✗ not without walls',
} as const;

function Executor({ row }: { readonly row: ExecutorRow }) {
  const { name, title, source, command, address, installed, install, notes, walls } = row;
  return (
    <section className="section executor" aria-label={title}>
      <div className="section-head">
        <h2>{title}</h2>
        <code>{name}</code>
        {installed !== undefined && (
          <span className={installed ? 'tone-good' : 'quiet'}>{installed ? '✓ installed' : '○ not installed'}</span>
        )}
        <span className={walls.how === 'refused' ? 'tone-bad' : walls.how === 'outside' ? 'tone-waits' : 'quiet'}>
          {WALLS[walls.how]}
        </span>
        {installed !== false && <Probe name={name} />}
      </div>
      {walls.why !== undefined && <p className="quiet">{walls.why}</p>}
      {walls.fix !== undefined && <p>{walls.fix}</p>}
      {notes !== undefined && <p className="quiet">{notes}</p>}
      <p>
        <code>{address ?? command?.join(' ')}</code>{' '}
        <span className="quiet">{source === 'known' ? '' : `as the ${source} says`}</span>
      </p>
      {installed === false && install !== undefined && <pre>{install}</pre>}
    </section>
  );
}

function Probe({ name }: { readonly name: string }) {
  const [probed, setProbed] = useState<ExecutorProbed>();
  const [refusal, setRefusal] = useState<Refusal>();
  const [isAsking, setAsking] = useState(false);
  const probe = async () => {
    setAsking(true);
    const told = await post<ExecutorProbed>(`/executors/${encodeURIComponent(name)}/probe`, {});
    setAsking(false);
    setProbed(told.ok ? told.value : undefined);
    setRefusal(told.ok ? undefined : told.error);
  };
  return (
    <>
      <button type="button" className="button" disabled={isAsking} onClick={() => void probe()}>
        {isAsking ? 'Asking it …' : 'Ask whether it works'}
      </button>
      <span role="status">
        {probed !== undefined && (
          <span className={probed.works ? 'tone-good' : 'tone-bad'}>
            {probed.works ? `✓ works${probed.version === undefined ? '' : `, ${probed.version}`}` : '✗ does not work'}
          </span>
        )}
      </span>
      {probed?.missing.map(({ what, fix }) => (
        <p key={what} className="tone-waits">
          ! {what} {fix}
        </p>
      ))}
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </>
  );
}
