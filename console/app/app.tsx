/** Who looks, and then the view that the address names. */
import { Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Awaited } from '../parts/awaited.tsx';
import { useMe } from '../store/hooks.ts';
import { Frame } from './frame.tsx';
import { Guard } from './guard.tsx';
import { NotLoggedIn } from './not-logged-in.tsx';
import { NowhereView } from './nowhere.tsx';
import { type Place, type PlaceName, places } from './places.ts';
import { views } from './views.ts';

export function App() {
  const me = useMe();
  if (me.state === 'refused') return <NotLoggedIn refusal={me.refusal} />;
  return (
    <Switch>
      {places.flatMap((entry) =>
        entry.paths.map((path) => (
          <Route key={path} path={path}>
            {(params) => <Shown entry={entry} params={params} />}
          </Route>
        )),
      )}
      <Route>
        <Frame>
          <NowhereView />
        </Frame>
      </Route>
    </Switch>
  );
}

interface ShownProps {
  readonly entry: Place & { readonly name: PlaceName };
  readonly params: Readonly<Record<string, string | undefined>>;
}

function Shown({ entry, params }: ShownProps) {
  const Component = views[entry.name];
  const inner = (
    <Guard name={entry.title} key={entry.name}>
      <Suspense fallback={<Awaited what={entry.title} />}>
        <Component params={params} />
      </Suspense>
    </Guard>
  );
  return entry.alone === true ? inner : <Frame entry={entry}>{inner}</Frame>;
}
