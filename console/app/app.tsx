/** Who looks, and then the view that the address names. */
import { Suspense } from 'react';
import { Route, Switch } from 'wouter';
import { Awaited } from '../parts/awaited.tsx';
import { useMe } from '../store/hooks.ts';
import { Frame } from './frame.tsx';
import { Guard } from './guard.tsx';
import { useNamesIn } from './names-in-path.ts';
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
            <Shown entry={entry} path={path} />
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
  /** Of those that it has, the one that the address fits. */
  readonly path: string;
}

function Shown({ entry, path }: ShownProps) {
  const params = useNamesIn(path);
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
