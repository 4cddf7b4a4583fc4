/**
 * What a run has left to be applied: the patch of its last merge; else the patches of its accepted tasks, put together now; else
 * what lies at their places. What nobody accepted is no result, and named. A patch is taken only as it was captured: one that
 * secrets were taken out of would write other files.
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
import { hearVerdict, nothingHeard, type Verdicts, whyLeft } from './verdicts.ts';

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
  /** Tasks whose work is not in it: it stands against that of others, or nobody accepted it. */
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
  /** What it changed, where that was captured. */
  paths?: readonly string[];
  /** Work of it that is at its place and in no patch, each with why. */
  missing?: readonly string[];
}

export async function workToApply(needs: ResultNeeds, session: SessionId, run: RunId): Promise<Result<WorkToApply, Failure>> {
  const { tasks, merged, verdicts } = await lookThrough(needs, session, run);
  const [first] = tasks;
  if (first === undefined) return fail(nothing(run));
  // Whoever names a task wants its work, whatever was said of it.
  const isIn = (one: FoundTask): boolean => one.run === run || verdicts.accepted.has(one.task);
  if (merged?.ref !== undefined) {
    const patch = await bytesAt(needs.archive, session, merged.ref);
    if (!patch.ok) return patch;
    const left = [...merged.left, ...leftOut(tasks, verdicts, (one) => merged.tasks.has(one.task))];
    return ok({ repo: first.place.repo, base: first.place.base, patch: patch.value, ref: merged.ref, left });
  }
  const standing = tasks.filter(isIn);
  const left = leftOut(tasks, verdicts, isIn);
  if (standing.length === 0) return fail(notAccepted(run, tasks, left));
  const together = await mergedNow(needs, session, run, standing);
  return together.ok ? ok({ ...together.value, left: [...together.value.left, ...left] }) : together;
}

interface Found {
  readonly tasks: readonly FoundTask[];
  readonly merged: MergedBefore | undefined;
  readonly verdicts: Verdicts;
}

interface MergedBefore {
  readonly ref: string | undefined;
  readonly left: readonly Left[];
  /** All that went into it, now or before. */
  readonly tasks: ReadonlySet<string>;
}

/** By each file that was captured; else by where it lies. What changed nothing leaves nothing out. */
const leftOut = (tasks: readonly FoundTask[], verdicts: Verdicts, isIn: (one: FoundTask) => boolean): readonly Left[] =>
  tasks.flatMap((one) => {
    const why = isIn(one) ? undefined : whyLeft(verdicts, one.task);
    if (isIn(one)) return (one.missing ?? []).map((lost) => ({ task: one.task, path: one.place.path, why: lost }));
    return why === undefined ? [] : (one.paths ?? [one.place.path]).map((path) => ({ task: one.task, path, why }));
  });

async function lookThrough({ ledger }: ResultNeeds, session: SessionId, run: RunId): Promise<Found> {
  const below = new Set<string>([run]);
  const tasks = new Map<string, FoundTask>();
  const verdicts = nothingHeard();
  let merged: Found['merged'];
  for await (const event of readEvents(ledger, { session, types: LOOKED_AT, exact: true })) {
    const parent = event.event_type === 'run.started' ? parentRun(event.payload) : undefined;
    if (parent !== undefined && below.has(parent)) below.add(event.run_id);
    if (!below.has(event.run_id)) continue;
    if (event.event_type === 'run.started') {
      const terms = taskTermsOf(event.payload);
      // Where only commands were run nobody worked.
      if (terms?.place.kind === 'worktree' && terms.onlyVerify !== true)
        tasks.set(event.run_id, { task: terms.task, run: event.run_id, place: { ...terms.place, kind: 'worktree' } });
    } else merged = mergedIn(event, merged) ?? merged;
    hearVerdict(verdicts, event);
    const task = tasks.get(event.run_id);
    if (task === undefined) continue;
    task.ref = patchIn(event) ?? task.ref;
    if (event.event_type === 'task.captured') {
      task.paths = event.payload.files.map(({ path }) => path);
      task.missing = event.payload.missing ?? [];
    }
  }
  return { tasks: [...tasks.values()], merged, verdicts };
}

const LOOKED_AT = [
  ...(['run.started', 'task.package', 'task.policy', 'task.judged', 'task.captured'] as const),
  ...(['task.merged', 'artifact.stored'] as const),
];

function mergedIn(event: LedgerEvent, before: MergedBefore | undefined): MergedBefore | undefined {
  if (event.event_type !== 'task.merged') return undefined;
  const { patch, conflicts } = event.payload;
  const left = conflicts.map(({ path, tasks, why = 'it stands against others' }) => ({ task: tasks.join(', '), path, why }));
  return { ref: patch, left, tasks: new Set([...(before?.tasks ?? []), ...event.payload.tasks]) };
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
function notAccepted(run: string, tasks: readonly FoundTask[], left: readonly Left[]): Failure {
  const said = new Map(left.map(({ task, why }) => [task, `${task}: ${why}`]));
  const message = [`No task of ${run} was accepted, so there is nothing to apply.`, ...said.values()].join('\n');
  const fix = `See more: troupe show ${run}. To have the work of one all the same: troupe apply ${tasks.at(-1)?.run}`;
  return { code: 'not_accepted', message, fix };
}

const nothing = (run: string): Failure => ({
  code: 'nothing_to_apply',
  message: `${run} has no work to apply: no task of it worked in a worktree.`,
  fix: 'Runs that work in place have changed the files already: troupe show says which.',
});
