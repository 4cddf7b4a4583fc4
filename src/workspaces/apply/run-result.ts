/**
 * What a run has left to be applied: the patch of its last merge; else the patches of its tasks, put together now; else what
 * lies at the places of its tasks. A patch is taken only as it was captured: one that secrets were taken out of would write
 * other files.
 */
import type { ArtifactArchive } from '../../artifacts/archive.ts';
import type { RunId, SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { parentRun, taskTermsOf } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import { pathExists } from '../../tools/files/path-exists.ts';
import type { LeftTask, TaskPatch, WorkPlace, Workspaces } from '../port.ts';

export interface ResultNeeds {
  readonly ledger: Pick<Ledger, 'read'>;
  readonly archive: Pick<ArtifactArchive, 'resolve' | 'bytes' | 'exactText'>;
  readonly workspaces: Pick<Workspaces, 'capture' | 'merge'>;
}

export interface WorkToApply {
  readonly repo: string;
  readonly base: string;
  readonly patch: Uint8Array;
  readonly ref?: string | undefined;
  /** Tasks whose work is not in it, because it stands against that of others. */
  readonly left: readonly Left[];
}

interface Left {
  readonly task: string;
  readonly path: string;
  readonly why: string;
}

/** What was found of one task, in the order in which they began. */
interface FoundTask {
  readonly task: string;
  readonly run: RunId;
  readonly place: WorkPlace & { readonly kind: 'worktree' };
  ref?: string | undefined;
}

export async function workToApply(needs: ResultNeeds, session: SessionId, run: RunId): Promise<Result<WorkToApply, Failure>> {
  const { tasks, merged, givenUp } = await lookThrough(needs, session, run);
  const [first] = tasks;
  if (first === undefined) return fail(nothing(run));
  if (merged?.ref !== undefined) {
    const patch = await bytesAt(needs.archive, session, merged.ref);
    if (!patch.ok) return patch;
    return ok({ repo: first.place.repo, base: first.place.base, patch: patch.value, ref: merged.ref, left: merged.left });
  }
  const standing = tasks.filter(({ task }) => !givenUp.has(task));
  return standing.length === 0 ? fail(notAccepted(run, first)) : await mergedNow(needs, session, run, standing);
}

interface Found {
  readonly tasks: readonly FoundTask[];
  readonly merged: { readonly ref: string | undefined; readonly left: readonly Left[] } | undefined;
  /** Tasks that whoever handed them out did not accept in the end. */
  readonly givenUp: ReadonlySet<string>;
}

async function lookThrough({ ledger }: ResultNeeds, session: SessionId, run: RunId): Promise<Found> {
  const below = new Set<string>([run]);
  const tasks = new Map<string, FoundTask>();
  const givenUp = new Set<string>();
  let merged: Found['merged'];
  for await (const event of readEvents(ledger, { session, types: LOOKED_AT, exact: true })) {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && below.has(parent)) below.add(event.run_id);
    if (!below.has(event.run_id)) continue;
    if (event.event_type === 'run.started') {
      const terms = taskTermsOf(event.payload);
      if (terms?.place.kind === 'worktree')
        tasks.set(event.run_id, { task: terms.task, run: event.run_id, place: { ...terms.place, kind: 'worktree' } });
    } else if (event.event_type === 'task.judged') {
      if (event.payload.verdict === 'given_up') givenUp.add(event.payload.task);
      else givenUp.delete(event.payload.task);
    } else merged = mergedIn(event) ?? merged;
    const task = tasks.get(event.run_id);
    if (task !== undefined) task.ref = patchIn(event) ?? task.ref;
  }
  return { tasks: [...tasks.values()], merged, givenUp };
}

const LOOKED_AT = ['run.started', 'task.judged', 'task.captured', 'task.merged', 'merge.reported', 'artifact.stored'] as const;

function mergedIn(event: LedgerEvent): Found['merged'] {
  if (event.event_type === 'task.merged') {
    const { patch, conflicts } = event.payload;
    const left = conflicts.map(({ path, tasks, why = 'it stands against others' }) => ({ task: tasks.join(', '), path, why }));
    return { ref: patch, left };
  }
  if (event.event_type !== 'merge.reported') return undefined;
  const { patch, left } = event.payload;
  return { ref: patch.ref, left: left.flatMap(leftOf) };
}

function patchIn(event: LedgerEvent): string | undefined {
  if (event.event_type === 'task.captured') return event.payload.patch;
  if (event.event_type === 'artifact.stored' && event.payload.type === 'patch' && event.payload.preview_of === undefined)
    return event.payload.ref;
  return undefined;
}

/** By its reference, or as the words themselves. */
export async function bytesAt(
  archive: ResultNeeds['archive'],
  session: SessionId,
  ref: string,
): Promise<Result<Uint8Array, Failure>> {
  const [, base64] = /^data:[^,]*;base64,(.*)$/s.exec(ref) ?? [];
  if (base64 !== undefined) return ok(Buffer.from(base64, 'base64'));
  const found = await archive.resolve(ref, session);
  if (!found.ok) return fail(found.error);
  if (found.value.kind !== 'artifact') return fail({ code: 'artifact_ref', message: `${ref} is no patch.` });
  const { artifact } = found.value;
  if (artifact.redacted === true) {
    const exact = await archive.exactText(artifact);
    return exact.ok ? ok(Buffer.from(exact.value)) : fail(exact.error);
  }
  const parts: Uint8Array[] = [];
  for await (const part of archive.bytes(artifact)) parts.push(part);
  return ok(Buffer.concat(parts));
}

/** Nobody has put them together yet. All must have begun at the same commit. */
async function mergedNow(
  needs: ResultNeeds,
  session: SessionId,
  run: RunId,
  tasks: readonly FoundTask[],
): Promise<Result<WorkToApply, Failure>> {
  const { repo, base } = tasks[0]?.place ?? { repo: '', base: '' };
  const strange = tasks.find(({ place }) => place.base !== base || place.repo !== repo);
  if (strange !== undefined) {
    const message = `The tasks of ${run} did not begin at the same commit, and nothing says what became of them together.`;
    return fail({ code: 'not_merged', message, fix: `Apply one of them: troupe apply ${strange.run}` });
  }
  const patches: TaskPatch[] = [];
  for (const { task, ref, place } of tasks) {
    const patch = await patchOf(needs, session, ref, place);
    if (!patch.ok) return patch;
    if (patch.value !== undefined) patches.push({ task, patch: patch.value });
  }
  if (patches.length === 0) return fail(nothing(run));
  const [only] = patches;
  const merged = patches.length === 1 && only !== undefined ? undefined : await needs.workspaces.merge({ repo, base, patches });
  if (merged?.ok === false) return merged;
  const left = (merged?.value.left ?? []).flatMap(leftOf);
  const ref = patches.length === 1 ? tasks.find(({ task }) => task === only?.task)?.ref : undefined;
  return ok({ repo, base, patch: merged?.value.patch ?? only?.patch ?? new Uint8Array(), left, ...present({ ref }) });
}

const leftOf = ({ task, conflicts }: Pick<LeftTask, 'task' | 'conflicts'>): readonly Left[] =>
  conflicts.map(({ path, says }) => ({ task, path, why: says }));

/** What was captured; else what lies at its place now. */
async function patchOf(
  needs: ResultNeeds,
  session: SessionId,
  ref: string | undefined,
  place: WorkPlace,
): Promise<Result<Uint8Array | undefined, Failure>> {
  if (ref !== undefined) return await bytesAt(needs.archive, session, ref);
  if (!(await pathExists(place.path))) return ok(undefined);
  const captured = await needs.workspaces.capture(place);
  return captured.ok ? ok(captured.value.patch) : captured;
}

/** What was turned down is brought to nobody's files by itself; whoever wants it all the same names it. */
const notAccepted = (run: string, { run: task }: FoundTask): Failure => ({
  code: 'not_accepted',
  message: `No task of ${run} was accepted, so there is nothing to apply.`,
  fix: `See why: troupe show ${run}. To have the work of one all the same: troupe apply ${task}`,
});

const nothing = (run: string): Failure => ({
  code: 'nothing_to_apply',
  message: `${run} has no work to apply: no task of it worked in a worktree.`,
  fix: 'Runs that work in place have changed the files already: troupe show says which.',
});
