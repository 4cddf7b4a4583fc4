/** The first and only file that runs in an exported session: the console's views over the events that lie beside it. */
import { StrictMode, Suspense } from 'react';
import { createRoot } from 'react-dom/client';
import { Redirect, Route, Router, Switch } from 'wouter';
import '../styles/tokens.css';
import '../styles/base.css';
import '../styles/frame.css';
import { bringAlong } from '../api/kept.ts';
import { Guard } from '../app/guard.tsx';
import { places } from '../app/places.ts';
import { sessionViews } from '../app/session-views.ts';
import { Awaited } from '../parts/awaited.tsx';
import { holdSession } from '../store/hooks.ts';
import { createAnswers } from './answers.ts';
import { createFragment } from './fragment.ts';
import { createKeptSession, type FileFacts } from './kept-session.ts';
import { TrustLine } from './trust-line.tsx';

const textIn = (id: string): string => document.getElementById(id)?.textContent ?? '';

const facts = JSON.parse(textIn('troupe-file')) as FileFacts;
const kept = createKeptSession(facts, textIn('troupe-events'));
const attachments = new Map(
  textIn('troupe-attachments')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => line.split(' ') as [string, string]),
);
bringAlong(createAnswers(facts, kept.store, attachments));
holdSession(facts.session, kept.store);
const start = `/sessions/${facts.session}`;
const fragment = createFragment(start);
document.title = `${facts.agent} · ${facts.session} · Troupe`;

const shown = places.filter((entry) => 'ofSession' in entry);

function FilePage() {
  return (
    <div className="file-page">
      <TrustLine facts={facts} kept={kept} />
      <main className="main" id="main" tabIndex={-1}>
        <Switch>
          {shown.map(({ name, title, paths: [path] }) => {
            const View = sessionViews[name];
            return (
              <Route key={name} path={path}>
                {(params) => (
                  <Guard name={title}>
                    <Suspense fallback={<Awaited what={title} />}>
                      <View params={params} />
                    </Suspense>
                  </Guard>
                )}
              </Route>
            );
          })}
          <Route>
            <Redirect to={start} replace />
          </Route>
        </Switch>
      </main>
    </div>
  );
}

const place = document.getElementById('root');
if (place !== null)
  createRoot(place).render(
    <StrictMode>
      <Router hook={fragment.hook} searchHook={fragment.searchHook} hrefs={fragment.hrefs}>
        <FilePage />
      </Router>
    </StrictMode>,
  );
