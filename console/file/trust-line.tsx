/** Whether the session in this file is the one that was written: what its hashes say. */
import { useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { counted } from '../../src/base/wording.ts';
import { When } from '../parts/when.tsx';
import type { FileFacts, KeptSession } from './kept-session.ts';
import './file.css';

const SHORT = 12;

export function TrustLine({ facts, kept }: { readonly facts: FileFacts; readonly kept: KeptSession }) {
  const trust = useSyncExternalStore(kept.store.subscribe, kept.trust);
  return (
    <header className="file-line">
      <strong>Troupe</strong>
      <span className="quiet">
        {facts.run === null ? 'a session' : 'a run'} of {facts.agent}, exported <When at={facts.exportedAt} />
      </span>
      <span className="file-trust" role="status">
        {trust.state === 'checking' && (
          <span className="quiet">
            checking {trust.done} of {trust.of} events …
          </span>
        )}
        {trust.state === 'sound' && (
          <>
            <span className="tone-good">✓ as it was written</span>{' '}
            <span className="quiet" title={trust.head}>
              {counted(trust.events, 'event')}, the chain ends with {trust.head.slice(0, SHORT)}
              {trust.redacted > 0 && `; secrets were taken out of ${counted(trust.redacted, 'event')}`}
              {trust.left > 0 && `; ${trust.left} of other runs are left out`}
            </span>
          </>
        )}
        {trust.state === 'broken' && (
          <span className="tone-bad">
            ✗ not as it was written, from event {trust.position} on: {trust.why}.{' '}
            <Link href={`/sessions/${facts.session}?mode=full&event=${trust.position}`}>Show it</Link>
          </span>
        )}
      </span>
    </header>
  );
}
