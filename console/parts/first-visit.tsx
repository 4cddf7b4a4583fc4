/** Nothing has run here yet: examples that need no key, and how a first run of one's own comes to be. */
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { post, type Refusal } from '../api/client.ts';
import type { ExampleRow, Started } from '../api/types.ts';
import { useLoaded } from '../store/hooks.ts';
import { Awaited } from './awaited.tsx';
import './styles/empty.css';
import { Trouble } from './trouble.tsx';

export function FirstVisit() {
  return (
    <section className="empty" aria-label="A first run">
      <h2>Nothing has run here yet</h2>
      <Examples />
      <p>
        Then choose <Link href="/agents">an agent</Link> of your own, say what should be done, and watch it: every step becomes an
        event that you can come back to. On the command line:
      </p>
      <pre>troupe init{'\n'}troupe run hello "What is in this folder?"</pre>
    </section>
  );
}

function Examples() {
  const examples = useLoaded<readonly ExampleRow[]>('/examples');
  const [, go] = useLocation();
  const [begun, setBegun] = useState<string>();
  const [refusal, setRefusal] = useState<Refusal>();
  if (examples.state !== 'there' || examples.value.length === 0) return null;
  const start = async (name: string) => {
    setBegun(name);
    setRefusal(undefined);
    const told = await post<Started>(`/examples/${encodeURIComponent(name)}/runs`);
    setBegun(undefined);
    if (told.ok) go(`/sessions/${told.value.session}`);
    else setRefusal(told.error);
  };
  return (
    <>
      <p>See one at work, without a key: its answers come from a script, everything else is real, in a folder of its own.</p>
      <ul className="examples">
        {examples.value.map(({ name, agent, title, prompt }) => (
          <li key={name}>
            <span>
              <strong>{title}</strong>
              <span className="quiet">
                {agent}: “{prompt}”
              </span>
            </span>
            <button type="button" className="button first" disabled={begun !== undefined} onClick={() => void start(name)}>
              Run <span className="unseen">{name}</span>
            </button>
          </li>
        ))}
      </ul>
      {begun !== undefined && <Awaited what="the example to begin" />}
      {refusal !== undefined && <Trouble what={refusal.message} fix={refusal.fix} />}
    </>
  );
}
