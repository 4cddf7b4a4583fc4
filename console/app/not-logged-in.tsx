/** Nobody is known yet: how to get in. */
import type { Refusal } from '../api/client.ts';

export function NotLoggedIn({ refusal }: { readonly refusal: Refusal }) {
  if (refusal.status !== 401)
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
      <pre>troupe serve --open</pre>
      <p className="quiet">
        If it is already running, its terminal shows the link behind “console”. A login lasts seven days, and ends when the server
        does.
      </p>
    </main>
  );
}
