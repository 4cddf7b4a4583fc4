/** Nobody is known yet: how to get in. The page that was asked for is shown after the login. */
import { useEffect } from 'react';
import type { Refusal } from '../api/client.ts';

/** The page of the login looks there (`src/http/api/pages.ts`). */
const RETURN = 'troupe-return';

export function NotLoggedIn({ refusal }: { readonly refusal: Refusal }) {
  const isStranger = refusal.status === 401;
  useEffect(() => {
    const { pathname, search } = location;
    if (isStranger) localStorage.setItem(RETURN, `${Date.now()} ${pathname}${search}`);
  }, [isStranger]);
  if (!isStranger)
    return (
      <main className="view-body">
        <h1>Troupe cannot be reached</h1>
        <p>{refusal.message}</p>
        <p className="quiet">{refusal.fix}</p>
      </main>
    );
  return (
    <main className="view-body">
      <h1>You are not logged in</h1>
      <p>A login is made by a link that works once. In a terminal, in the folder of your project:</p>
      <pre>troupe console</pre>
      <p className="quiet">
        Whoever is logged in elsewhere has one behind “Another device”. What you came for is shown then. A login lasts seven days.
      </p>
    </main>
  );
}
