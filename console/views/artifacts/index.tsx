/** What a session changed and left behind: by file or by run, with previews, downloads and what does not fit together. */

import { useMemo } from 'react';
import { Link } from 'wouter';
import type { RunId } from '../../../src/base/ids.ts';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import { readableBytes } from '../../../src/projections/readable.ts';
import type { ArtifactRow } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { type Chosen, useAddresses, useQuery } from '../../app/query.ts';
import { shortened } from '../../parts/ids.ts';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import '../../parts/styles/empty.css';
import { changesByRun, type FileChange } from '../../store/changed-files.ts';
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
  const address = useAddresses();
  const stored = useLoaded<readonly ArtifactRow[]>(`/sessions/${encodeURIComponent(session)}/artifacts`);
  const artifacts = stored.state === 'there' ? storedBy(stored.value, shown) : [];
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
  const [file, artifact, report, of] = ['file', 'artifact', 'report', 'of'].map(query.get);
  const isChosen = (file ?? artifact ?? report) !== undefined;
  const chosen = artifacts.find(({ ref }) => ref === artifact);
  const conflict = reports.find(({ position }) => String(position) === report);
  const by = query.get('by') === 'run' ? 'run' : undefined;
  const list = { shown, to: (more: Chosen) => address('', { by, ...more }), byRun: by !== undefined };
  return (
    <div className={isChosen ? 'split chosen' : 'split'}>
      <nav className="split-list" aria-label="Files and artifacts">
        {files.length + artifacts.length > 0 && (
          <fieldset className="segments">
            <legend className="unseen">How they are listed</legend>
            {([undefined, 'run'] as const).map((one) => (
              <button
                key={one ?? 'file'}
                type="button"
                aria-pressed={by === one}
                onClick={() => query.set({ by: one, of: undefined })}
              >
                by {one ?? 'file'}
              </button>
            ))}
          </fieldset>
        )}
        <Conflicts reports={reports} chosen={report} {...list} />
        <Changed files={files} chosen={file} of={of} {...list} />
        <Stored artifacts={artifacts} chosen={artifact} {...list} />
      </nav>
      <section className="split-main" aria-label="What was chosen">
        <Link className="split-back" href={list.to({})}>
          ← all files
        </Link>
        {file !== undefined && <FilePage key={`${of} ${file}`} path={file} run={of} shown={shown} session={session} />}
        {chosen !== undefined && <ArtifactPage key={chosen.ref} artifact={chosen} session={session} />}
        {conflict !== undefined && <ConflictPage report={conflict} session={session} />}
        {!isChosen && <p className="quiet">Choose a file to see what was changed in it, by whom and why.</p>}
      </section>
    </div>
  );
}

/** Those that were there at the moment that is shown; a preview comes with what it is of. */
function storedBy(all: readonly ArtifactRow[], { events, isNow }: Shown): readonly ArtifactRow[] {
  const there = new Set(events.flatMap((event) => (event.event_type === 'artifact.stored' ? [event.payload.ref] : [])));
  return all.filter(({ ref, preview_of }) => preview_of === undefined && (isNow || there.has(ref)));
}

/** What every part of the list needs: where its links lead, and whether runs are told apart. */
interface ListProps {
  readonly shown: Shown;
  readonly byRun: boolean;
  readonly to: (chosen: Chosen) => string;
}

interface ConflictsProps extends ListProps {
  readonly reports: ReturnType<typeof conflictReports>;
  readonly chosen: string | undefined;
}

function Conflicts({ reports, chosen, to }: ConflictsProps) {
  if (reports.length === 0) return null;
  return (
    <>
      <h2 className="list-head tone-waits">! Does not fit together</h2>
      <ul>
        {reports.map(({ position, title, conflicts }) => (
          <li key={position}>
            <Link
              className="split-row"
              href={to({ report: String(position) })}
              aria-current={chosen === String(position) ? 'true' : undefined}
            >
              <strong>{visibleText(title)}</strong>
              <span className="quiet">{counted(conflicts.length, 'file')}</span>
            </Link>
          </li>
        ))}
      </ul>
    </>
  );
}

interface ChangedProps extends ListProps {
  readonly files: readonly FileChange[];
  readonly chosen: string | undefined;
  /** The run whose changes are shown. */
  readonly of: string | undefined;
}

function Changed({ files, shown, chosen, of, byRun, to }: ChangedProps) {
  const groups = useMemo(
    (): readonly (readonly [string | undefined, readonly FileChange[]])[] =>
      byRun ? [...changesByRun(shown.events)] : [[undefined, files]],
    [byRun, shown.events, files],
  );
  if (files.length === 0) return null;
  return (
    <>
      <h2 className="list-head">Changed files</h2>
      {groups.map(([run, own]) => (
        <ul key={run ?? ''} aria-label={run === undefined ? 'Changed files' : `Changed by ${nameOf(shown, run)}`}>
          {run !== undefined && <RunName shown={shown} run={run} />}
          {own
            .toSorted((left, right) => (left.path < right.path ? -1 : 1))
            .map(({ path, added, removed }) => (
              <li key={path}>
                <Link
                  className="split-row file-row"
                  href={to({ file: path, of: run })}
                  aria-current={path === chosen && of === run ? 'true' : undefined}
                >
                  <code className="cut">{visibleText(path)}</code>
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

/** Two runs of one agent are two. */
const nameOf = ({ fold }: Shown, run: string): string =>
  visibleText(`${fold.tree.runs.get(run as RunId)?.agent ?? 'somebody'} ${shortened(run)}`);

function RunName({ shown, run }: { readonly shown: Shown; readonly run: string }) {
  const node = shown.fold.tree.runs.get(run as RunId);
  return (
    <li className="list-group">
      {visibleText(node?.member ?? node?.agent ?? 'somebody')} <code className="quiet">{shortened(run)}</code>
    </li>
  );
}

interface StoredProps extends ListProps {
  readonly artifacts: readonly ArtifactRow[];
  readonly chosen: string | undefined;
}

function Stored({ artifacts, chosen, shown, byRun, to }: StoredProps) {
  if (artifacts.length === 0) return null;
  const groups = byRun ? [...Map.groupBy(artifacts, ({ run }) => run)] : [[undefined, artifacts] as const];
  return (
    <>
      <h2 className="list-head">Artifacts</h2>
      {groups.map(([run, own]) => (
        <ul key={run ?? ''} aria-label={run === undefined ? 'Artifacts' : `Artifacts of ${nameOf(shown, run)}`}>
          {run !== undefined && <RunName shown={shown} run={run} />}
          {own.map(({ ref, type, bytes, collected }) => (
            <li key={ref}>
              <Link className="split-row" href={to({ artifact: ref })} aria-current={ref === chosen ? 'true' : undefined}>
                <code className="cut">{visibleText(ref.replace('artifact://', ''))}</code>
                <span className="quiet">
                  {type.replaceAll('_', ' ')}, {collected ? 'collected' : readableBytes(bytes)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      ))}
    </>
  );
}
