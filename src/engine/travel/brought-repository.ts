/** The repository that a run brings along, where it hands out tasks that others work on. */
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { NewEvent } from '../../ledger/port.ts';
import type { BroughtRepository, LedgerAccess, TaskAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { type KeptRecord, keptRecord } from './kept-events.ts';

export interface BroughtAlong {
  readonly repository: BroughtRepository;
  readonly pack: Uint8Array;
  /** What is not committed. */
  readonly changed: KeptRecord | undefined;
}

/** Nothing for a folder that is in no repository: its tasks work in place, where the folder is. */
export async function bringRepository(
  { places, redact }: TaskAccess & Pick<LedgerAccess, 'redact'>,
  folder: string,
): Promise<Result<BroughtAlong | undefined, Failure>> {
  const packed = await places?.travelling?.pack(folder);
  if (packed === undefined) return ok(undefined);
  if (!packed.ok) return packed.error.code === 'no_repository' ? ok(undefined) : packed;
  const { repository, pack, files } = packed.value;
  const by = { by: repository.base, point: 1, files };
  const changed = files.length === 0 ? undefined : keptRecord(undefined, by, redact);
  const closed = changed?.payload.without ?? [];
  if (closed.length === 0) return ok({ repository, pack, changed });
  const message = `Files that are not committed hold secrets that cannot be sealed: ${closed.slice(0, 5).join(', ')}.`;
  return fail({ code: 'secret_in_files', message, fix: 'Let .gitignore name them, or take the secrets out.' });
}

/** For the opening of the run: it has all of it with it, or was never started. */
export function broughtEvents(root: DrivenRun, { repository, pack, changed }: BroughtAlong): readonly NewEvent[] {
  const events: NewEvent[] = [];
  for (let at = 0, index = 0; at < pack.length; at += limits.artifactPartBytes, index += 1) {
    const attachment = pack.subarray(at, at + limits.artifactPartBytes);
    const payload = { head: repository.head, index, bytes: attachment.length };
    events.push(root.journal.event('workspace.packed', payload, { actor: 'system', aside: true, attachment }));
  }
  if (changed === undefined) return events;
  const { payload, attachment } = changed;
  const options = { actor: 'system' as const, aside: true, ...(attachment && { attachment }) };
  return [...events, root.journal.event('workspace.kept', payload, options)];
}
