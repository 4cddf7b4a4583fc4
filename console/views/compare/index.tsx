/** Two runs held against each other: where they part first, what else differs, and what came of each. */
import { Link } from 'wouter';
import { visibleText } from '../../../src/base/visible-text.ts';
import { counted } from '../../../src/base/wording.ts';
import { TERM_WORDS } from '../../../src/projections/comparing/words.ts';
import { readableCost, readableCount, readableDuration } from '../../../src/projections/readable.ts';
import type { ComparedRuns, ComparedSide } from '../../api/types.ts';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { LoadedView } from '../../parts/loaded-view.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import type { Standing } from '../../parts/states.ts';
import '../../parts/styles/table.css';
import type { Worth } from '../../parts/worth.ts';
import { useLoaded } from '../../store/hooks.ts';
import './compare.css';
import { Steps } from './steps.tsx';

export function View({ params: { one = '', other = '' } }: ViewProps) {
  const query = useQuery();
  const prose = query.get('prose') === 'yes' ? 'yes' : 'no';
  const address = `/runs/${encodeURIComponent(one)}/compare/${encodeURIComponent(other)}`;
  const compared = useLoaded<ComparedRuns>(address, { prose });
  return (
    <>
      <header className="view-head">
        <h1>Compare</h1>
        <label className="check">
          <input
            type="checkbox"
            checked={prose === 'yes'}
            onChange={(event) => query.set({ prose: event.target.checked ? 'yes' : undefined })}
          />{' '}
          words of agents too
        </label>
      </header>
      <LoadedView loaded={compared} what="what differs">
        {(value) => <Compared value={value} />}
      </LoadedView>
    </>
  );
}

function Compared({ value }: { readonly value: ComparedRuns }) {
  return (
    <div className="view-body column">
      <Outcome value={value} />
      <Terms terms={value.terms} />
      <Steps value={value} />
      <Files files={value.files} />
    </div>
  );
}

type Row = readonly [name: string, text: (side: ComparedSide) => string];

const ROWS: readonly Row[] = [
  ['turns', ({ turns }) => String(turns)],
  ['tool calls', ({ toolCalls }) => String(toolCalls)],
  ['runs', ({ runs }) => String(runs)],
  ['tokens in', ({ tokens }) => readableCount(tokens.input)],
  ['tokens out', ({ tokens }) => readableCount(tokens.output)],
  ['cost', ({ cost }) => `${readableCost(cost)}${takenOver(cost.takenOver)}`],
  ['time', ({ durationMs }) => readableDuration(durationMs)],
];

const takenOver = (nanoUsd: number): string =>
  nanoUsd === 0 ? '' : ` (${readableCost({ nanoUsd, unknownCalls: 0 })} of its source)`;

function Outcome({ value: { a, b, same, sameAnswer } }: { readonly value: ComparedRuns }) {
  return (
    <section className="section">
      <h2 className={same ? 'tone-good' : ''}>{same ? '✓ They are the same' : 'They differ'}</h2>
      <table className="table compared" aria-label="What came of both">
        <thead>
          <tr>
            <td />
            <th scope="col">
              A <Side side={a} />
            </th>
            <th scope="col">
              B <Side side={b} />
            </th>
          </tr>
        </thead>
        <tbody>
          <tr>
            <th scope="row">status</th>
            {[a, b].map((side) => (
              <td key={side.run}>
                <StateMark state={side.status as Standing} worth={side.verification as Worth | null} />
                {side.error !== null && <p className="quiet">{visibleText(side.error.message)}</p>}
              </td>
            ))}
          </tr>
          {ROWS.map(([name, text]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              <td>{text(a)}</td>
              <td>{text(b)}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {[a, b].map(({ run, forked }, index) =>
        forked !== null && forked.run === [b, a][index]?.run ? (
          <p key={run} className="quiet">
            {index === 0 ? 'A' : 'B'} is a fork of {index === 0 ? 'B' : 'A'}, from behind{' '}
            <Link href={`/sessions/${forked.session}?event=${positionOf(forked.event)}`}>event {positionOf(forked.event)}</Link>.
          </p>
        ) : null,
      )}
      {sameAnswer !== null && (
        <p className="quiet">{sameAnswer ? 'They answer in the same words.' : 'They answer in other words.'}</p>
      )}
    </section>
  );
}

const positionOf = (event: string): string => event.split('.').at(-1) ?? '';

function Side({ side: { agent, session, run } }: { readonly side: ComparedSide }) {
  return <Link href={`/sessions/${session}?run=${run}`}>{visibleText(agent)}</Link>;
}

function Terms({ terms }: { readonly terms: ComparedRuns['terms'] }) {
  if (terms.length === 0) return null;
  return (
    <section className="section">
      <h2>Other terms</h2>
      <ul className="divergences">
        {terms.map(({ what, path, a, b }) => (
          <li key={`${what} ${path}`}>
            <p>
              {TERM_WORDS[what]}
              {path !== '' && <span className="quiet"> {visibleText(path)}</span>}
            </p>
            <p className="side-a mono">A {visibleText(a)}</p>
            <p className="side-b mono">B {visibleText(b)}</p>
          </li>
        ))}
      </ul>
    </section>
  );
}

const HOW = { different: 'otherwise', only_a: 'only in A', only_b: 'only in B', same: 'the same' } as const;

function Files({ files: { same, different, onlyA, onlyB, changed } }: { readonly files: ComparedRuns['files'] }) {
  const count = same + different + onlyA + onlyB;
  if (count === 0) return null;
  return (
    <section className="section">
      <h2>Changed files</h2>
      <ul>
        {changed.map(({ path, how }) => (
          <li key={path}>
            <span className={how === 'same' ? 'quiet' : 'tone-waits'}>{HOW[how]}</span> <code>{visibleText(path)}</code>
          </li>
        ))}
      </ul>
      {changed.length < count && <p className="quiet">{counted(count - changed.length, 'file')} not listed</p>}
    </section>
  );
}
