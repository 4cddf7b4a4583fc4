/** What was applied and taken back, in the session of the run that it comes from. Written once, however often it is asked for. */
import type { Clock } from '../../base/clock.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, NewEvent } from '../../ledger/port.ts';
import type { ApplyRecorder } from './apply.ts';
import type { ApplyJournal } from './journal.ts';

export function applyRecorder(ledger: Ledger, clock: Clock): ApplyRecorder {
  const record = async (journal: ApplyJournal, type: 'apply.made' | 'apply.undone', payload: object): Promise<void> => {
    const session = journal.session as SessionId;
    for await (const event of readEvents(ledger, { session, types: ['apply.made', 'apply.undone'] }))
      if (event.event_type === type && event.payload.apply === journal.apply) return;
    const [cause] = await ledger.read({ session, run: journal.run as RunId, limit: 1 });
    if (cause === undefined) return;
    const about = { run: journal.run as RunId, actor: 'user', cause: cause.event_id, at: clock.now() } as const;
    await ledger.append({ session, fence: null, events: [{ ...about, type, payload } as NewEvent], sync: 'power' });
  };
  return {
    made: (journal) => record(journal, 'apply.made', madeOf(journal)),
    undone: (journal) => record(journal, 'apply.undone', { apply: journal.apply }),
  };
}

function madeOf({ apply, repo, base, patch, branch, files }: ApplyJournal): object {
  const more = files.length - limits.appliedFilesTold;
  return {
    apply,
    repo,
    base,
    patch,
    ...present({ branch: branch?.name, commit: branch?.commit, more: more > 0 ? more : undefined }),
    files: files.slice(0, limits.appliedFilesTold).map(({ path }) => path),
  };
}
