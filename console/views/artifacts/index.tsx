/** What a session changed and left behind: by file or by run, with previews, downloads and what does not fit together. */
import { Link } from 'wouter';
import { counted } from '../../../src/base/wording.ts';
import { readableBytes } from '../../../src/projections/readable.ts';
import type { ArtifactRow } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import '../../parts/styles/empty.css';
import type { ChangedFile } from '../../store/changed-files.ts';
import { useLoaded } from '../../store/hooks.ts';
import { ArtifactPage } from './artifact-page.tsx';
import { ConflictPage } from './conflict-page.tsx';
import { conflictReports } from './conflicts.ts';
import { FilePage } from './file-page.tsx';
import './artifacts.css';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Files" name="artifacts">
      {(shown) => <Files shown={shown} session={session} />}
    </SessionPage>
  );
}

interface FilesProps {
  readonly shown: Shown;
  readonly session: string;
}

function Files({ shown, session }: FilesProps) {
  const query = useQuery();
  const stored = useLoaded<readonly ArtifactRow[]>(`/sessions/${encodeURIComponent(session)}/artifacts`);
  const artifacts = stored.state === 'there' ? stored.value.filter(({ preview_of }) => preview_of === undefined) : [];
  const files = [...shown.fold.files.values()];
  const reports = conflictReports(shown.events);
  if (files.length + artifacts.length + reports.length === 0)
    return (
      <div className="empty">
        <h2>No file was changed yet</h2>
        <p>Whatever an agent writes shows here, line by line. To let one write:</p>
        <pre>{'tools: [read, write, edit]\npermissions: { write: ask, edit: ask }'}</pre>
      </div>
    );
  const [file, artifact, report] = [query.get('file'), query.get('artifact'), query.get('report')];
  const isChosen = (file ?? artifact ?? report) !== undefined;
  const chosen = artifacts.find(({ ref }) => ref === artifact);
  const conflict = reports.find(({ position }) => String(position) === report);
  return (
    <div className={isChosen ? 'split chosen' : 'split'}>
      <nav className="split-list" aria-label="Files and artifacts">
        <Conflicts reports={reports} chosen={report} />
        <Changed
          files={files}
          shown={shown}
          chosen={file}
          byRun={query.get('by') === 'run'}
          setByRun={(by) => query.set({ by })}
        />
        <Stored artifacts={artifacts} chosen={artifact} />
      </nav>
      <section className="split-main" aria-label="What was chosen">
        <Link className="split-back" href="?">
          ← all files
        </Link>
        {file !== undefined && <FilePage key={file} path={file} shown={shown} session={session} />}
        {chosen !== undefined && <ArtifactPage key={chosen.ref} artifact={chosen} session={session} />}
        {conflict !== undefined && <ConflictPage report={conflict} session={session} />}
        {!isChosen && <p className="quiet">Choose a file to see what was changed in it, by whom and why.</p>}
      </section>
    </div>
  );
}

interface ConflictsProps {
  readonly reports: ReturnType<typeof conflictReports>;
  readonly chosen: string | undefined;
}

function Conflicts({ reports, chosen }: ConflictsProps) {
  if (reports.length === 0) return null;
  return (
    <>
      <h2 className="list-head tone-waits">! Does not fit together</h2>
      <ul>
        {reports.map(({ position, title, conflicts }) => (
          <li key={position}>
            <Link
              className="split-row"
              href={`?report=${position}`}
              aria-current={chosen === String(position) ? 'true' : undefined}
            >
              <strong>{title}</strong>
              <span className="quiet">{counted(conflicts.length, 'file')}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ChangedProps {
  readonly files: readonly ChangedFile[];
  readonly shown: Shown;
  readonly chosen: string | undefined;
  readonly byRun: boolean;
  readonly setByRun: (by: string | undefined) => void;
}

function Changed({ files, shown, chosen, byRun, setByRun }: ChangedProps) {
  if (files.length === 0) return null;
  const { runs } = shown.fold.tree;
  const nameOf = ({ run }: ChangedFile): string => [...runs.values()].find((node) => node.run === run)?.agent ?? 'somebody';
  const groups = byRun ? [...Map.groupBy(files, nameOf)] : [['', files] as const];
  return (
    <>
      <div className="list-head">
        <h2>Changed files</h2>
        <button type="button" className="button quiet" aria-pressed={byRun} onClick={() => setByRun(byRun ? undefined : 'run')}>
          by run
        </button>
      </div>
      {groups.map(([agent, own]) => (
        <ul key={agent} aria-label={agent === '' ? 'Changed files' : `Changed by ${agent}`}>
          {agent !== '' && <li className="list-group">{agent}</li>}
          {own
            .toSorted((left, right) => (left.path < right.path ? -1 : 1))
            .map(({ path, added, removed }) => (
              <li key={path}>
                <Link
                  className="split-row file-row"
                  href={`?${new URLSearchParams({ ...(byRun ? { by: 'run' } : {}), file: path })}`}
                  aria-current={path === chosen ? 'true' : undefined}
                >
                  <code className="cut">{path}</code>
                  <span>
                    <span className="tone-good">+{added}</span> <span className="tone-bad">−{removed}</span>
                  </span>
                </Link>
              </li>
            ))}
        </ul>
      ))}
    </>
  );
}

interface StoredProps {
  readonly artifacts: readonly ArtifactRow[];
  readonly chosen: string | undefined;
}

function Stored({ artifacts, chosen }: StoredProps) {
  if (artifacts.length === 0) return null;
  return (
    <>
      <h2 className="list-head">Artifacts</h2>
      <ul>
        {artifacts.map(({ ref, type, bytes, collected }) => (
          <li key={ref}>
            <Link
              className="split-row"
              href={`?${new URLSearchParams({ artifact: ref })}`}
              aria-current={ref === chosen ? 'true' : undefined}
            >
              <code className="cut">{ref.replace('artifact://', '')}</code>
              <span className="quiet">
                {type.replaceAll('_', ' ')}, {collected ? 'collected' : readableBytes(bytes)}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}
