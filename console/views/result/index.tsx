/** The answer of a session, with what it claims and the evidence for it; what nothing backs is marked. */

import { useState } from 'react';
import type { RunId } from '../../../src/base/ids.ts';
import { visibleText } from '../../../src/base/visible-text.ts';
import { verificationText } from '../../../src/events/verification-text.ts';
import type { RunNode } from '../../../src/projections/run-tree.ts';
import { isFile } from '../../api/kept.ts';
import type { ViewProps } from '../../app/places.ts';
import { useQuery } from '../../app/query.ts';
import { EarlierOnes } from '../../parts/earlier-ones.tsx';
import { SessionPage, type Shown } from '../../parts/session-page.tsx';
import { ShownText } from '../../parts/shown-text.tsx';
import { StateMark } from '../../parts/state-mark.tsx';
import { StrangersText } from '../../parts/strangers-text.tsx';
import { Trouble } from '../../parts/trouble.tsx';
import { Claims } from './claims.tsx';
import { HeldAgainst } from './held-against.tsx';
import './result.css';

export function View({ params: { session = '' } }: ViewProps) {
  return (
    <SessionPage session={session} title="Result" name="result">
      {(shown) => <Results shown={shown} />}
    </SessionPage>
  );
}

/** A long conversation has many; the newest are drawn, and more when somebody wants them. */
const NEWEST = 100;

function Results({ shown }: { readonly shown: Shown }) {
  const { tree } = shown.fold;
  const [most, setMost] = useState(NEWEST);
  const named = tree.runs.get((useQuery().get('run') ?? '') as RunId);
  const roots = tree.roots.flatMap((run) => tree.runs.get(run) ?? []).toReversed();
  return (
    <div className="view-body results">
      {(named === undefined ? roots.slice(0, most) : [named]).map((node) => (
        <Result key={node.run} node={node} shown={shown} />
      ))}
      {named === undefined && <EarlierOnes hidden={roots.length - most} more={() => setMost(most + NEWEST)} />}
    </div>
  );
}

interface ResultProps {
  readonly node: RunNode;
  readonly shown: Shown;
}

function Result({ node, shown }: ResultProps) {
  const { report, verification, error, finalAgent } = node;
  const [isRaw, setRaw] = useState(false);
  return (
    <article className="result" aria-label={`What ${node.agent} answered`}>
      <header className="result-head">
        <h2>{visibleText(node.agent)}</h2>
        <StateMark state={node.state} worth={verification?.state} />
        {report !== null && (
          <button type="button" className="button quiet" aria-pressed={isRaw} onClick={() => setRaw(!isRaw)}>
            As it was written
          </button>
        )}
      </header>
      {verification !== null && (
        <p className={`worth ${verification.state}`}>
          {verification.state === 'verified' ? '✓' : verification.state === 'unverified' ? '!' : '○'}{' '}
          {visibleText(verificationText(verification))}
        </p>
      )}
      {error !== null && <Trouble what={error.message} />}
      {report === null && node.endedAt === null && <p className="quiet">It has not answered yet.</p>}
      {report !== null &&
        (isRaw || report.format === 'json' ? (
          <ShownText text={report.body} label="The answer as it was written" isDiff={false} />
        ) : (
          <StrangersText text={report.body} by={finalAgent ?? node.agent} />
        ))}
      <Claims node={node} shown={shown} />
      {node.endedAt !== null && node.parent === null && shown.isNow && !isFile() && (
        <HeldAgainst node={node} session={shown.view.session} />
      )}
    </article>
  );
}
