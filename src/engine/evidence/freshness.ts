/**
 * Whether anything in the workspace has changed since a command passed, whoever changed it: the fingerprints that were taken
 * around every later command, and the one of now, form a chain in which nothing may be missing.
 *
 * What a command changes itself belongs to it: tests write reports and caches. Where something came after it in the same
 * line, or somebody else was at work meanwhile, that cannot be told apart, and it does not count. Files that other tests made
 * later on do no harm either.
 */
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { looksLikeTestRun } from '../../tools/shell/test-commands.ts';
import type { WorkspaceState } from '../../tools/watch/workspace-watch.ts';

type Run = EventOf<'cli.run'>;
type Proof = NonNullable<Run['payload']['proves']>[number];

interface Around {
  readonly events: readonly LedgerEvent[];
  readonly now: WorkspaceState;
}

const CHANGED = 'files were changed after it had passed';

/** Why its outcome may no longer hold; `undefined` when nothing speaks against it. */
export function changedSince(run: Run, proof: Proof, later: readonly Run[], { events, now }: Around): string | undefined {
  const own = fingerprints(run);
  if (typeof own === 'string') return own;
  // A change that was undone again is a change: what passed in between passed with something else.
  if (own.touched === true && proof.followed === true) return 'files were changed and put back in the same line';
  if (own.before !== own.after) {
    if (proof.followed === true) return 'files were changed in the same line, and it goes on after the command';
    if (own.shared === true) return 'somebody else was changing files while it ran';
  }
  let last = own.after;
  for (const next of later) {
    const around = fingerprints(next);
    if (typeof around === 'string') return around;
    if (around.before !== last) return CHANGED;
    if (around.before !== around.after && !onlyLeftovers(next, events)) return CHANGED;
    last = around.after;
  }
  if (now.kind === 'unknown') return notKnown(now.why);
  return now.digest === last ? undefined : CHANGED;
}

const notKnown = (why: string): string => `whether files were changed since is not known: ${why}`;

function fingerprints({ payload: { workspace } }: Run) {
  if (workspace === undefined) return notKnown('nobody looked');
  return 'unknown' in workspace ? notKnown(workspace.unknown) : workspace;
}

/** A test run by itself that made new files, or changed such as test runs had made. */
function onlyLeftovers(run: Run, events: readonly LedgerEvent[]): boolean {
  const { proves = [], workspace } = run.payload;
  if (workspace === undefined || 'unknown' in workspace || workspace.shared === true) return false;
  if (!proves.some(({ command, followed }) => followed !== true && looksLikeTestRun(command))) return false;
  const changes = events.filter((event): event is EventOf<'file.diff'> => event.event_type === 'file.diff' && event.position > 0);
  const own = changes.filter((change) => belongsTo(change, run));
  if (own.some(({ payload }) => payload.more !== undefined)) return false;
  return own.length > 0 && own.every(({ payload }) => madeByTests(payload.path, changes, events));
}

function belongsTo(change: EventOf<'file.diff'>, run: Run): boolean {
  return change.run_id === run.run_id && change.step === run.step && change.payload.by === 'command';
}

function madeByTests(path: string, changes: readonly EventOf<'file.diff'>[], events: readonly LedgerEvent[]): boolean {
  const all = changes.filter((change) => change.payload.path === path);
  if (all[0]?.payload.before !== null) return false;
  return all.every((change) =>
    events.some(
      (event) =>
        event.event_type === 'cli.run' &&
        belongsTo(change, event) &&
        event.payload.proves?.some(({ command, followed }) => followed !== true && looksLikeTestRun(command)) === true,
    ),
  );
}
