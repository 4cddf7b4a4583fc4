/**
 * Brings the result of a run to the user: into the working tree, or onto a new branch. Nothing of the user's own is touched:
 * not the index, not HEAD, and no file that holds changes of theirs, unless they asked for a merge. Everything is written down
 * before it is done; one that was cut off is finished by the next, or taken back.
 */
import { copyFile, lstat, readlink, rm, symlink } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import type { Failure } from '../../events/catalogue.ts';
import { sha256 } from '../../tools/files/file-change.ts';
import { lockedApplying } from '../locks.ts';
import type { WorkspaceOptions } from '../options.ts';
import type { MergeConflict, PatchedFile } from '../port.ts';
import { gitFailure, type PrivateGit, withPrivateGit } from '../private-git.ts';
import { findCommittedRepository } from '../repository.ts';
import { zeroEnded } from '../snapshot.ts';
import { commitOnBranch, deleteBranch } from './branch.ts';
import { bring, NotWritten, strangersOf } from './effects.ts';
import {
  type ApplyJournal,
  type FileState,
  fileStateAt,
  isSame,
  type KeptJournal,
  makeJournalFolder,
  readJournals,
  writeJournal,
} from './journal.ts';
import { type ApplyPlan, planApply } from './plan.ts';

export interface ApplyRequest {
  /** A folder in the repository. */
  readonly repo: string;
  readonly base: string;
  readonly patch: Uint8Array;
  readonly ref?: string | undefined;
  readonly run: string;
  readonly session: string;
  readonly merge?: boolean | undefined;
  readonly branch?: string | undefined;
  readonly dryRun?: boolean | undefined;
}

/** Who writes down what was done, where others read it. Called again after a crash: it must know what it has written. */
export interface ApplyRecorder {
  made(journal: ApplyJournal): Promise<void>;
  undone(journal: ApplyJournal): Promise<void>;
}

export interface AppliedWork {
  readonly kind: 'applied' | 'planned' | 'refused' | 'nothing';
  readonly apply?: string | undefined;
  readonly files: readonly PatchedFile[];
  readonly branch?: { readonly name: string; readonly commit: string } | undefined;
  readonly inTheWay: ApplyPlan['inTheWay'];
  readonly conflicts: readonly MergeConflict[];
  /** An earlier one that had been cut off, and was finished first. */
  readonly finished?: string | undefined;
}

export async function applyWork(
  options: WorkspaceOptions,
  request: ApplyRequest,
  recorder: ApplyRecorder,
): Promise<Result<AppliedWork, Failure>> {
  return await lockedApplying<AppliedWork>(options, async () => {
    const finished = request.dryRun === true ? ok(undefined) : await finishLast(options, recorder);
    if (!finished.ok) return finished;
    const repository = await findCommittedRepository(request.repo, options.environment);
    if (!repository.ok) return repository;
    const { base, patch, merge = false, branch, run } = request;
    return await withPrivateGit<Result<AppliedWork, Failure>>(
      repository.value,
      options.home,
      options.environment,
      async (git) => {
        const plan = await planApply(git, repository.value, { base, patch, merge, run, committedOnly: branch !== undefined });
        if (!plan.ok) return plan;
        options.between?.('planned');
        const { inTheWay, conflicts, files } = plan.value;
        const shown = { files, inTheWay, conflicts, ...present({ finished: finished.value }) };
        if (inTheWay.length > 0 || conflicts.length > 0) return ok({ kind: 'refused', ...shown });
        if (plan.value.changes.length === 0) return ok({ kind: 'nothing', ...shown });
        if (request.dryRun === true) return ok({ kind: 'planned', ...shown });
        const made = await (branch === undefined ? toFiles : toBranch)(options, git, request, plan.value, recorder);
        return made.ok ? ok({ ...shown, ...made.value }) : made;
      },
    );
  });
}

type Made = Pick<AppliedWork, 'kind' | 'apply' | 'branch'>;

async function toFiles(
  options: WorkspaceOptions,
  git: PrivateGit,
  request: ApplyRequest,
  plan: ApplyPlan,
  recorder: ApplyRecorder,
): Promise<Result<Made, Failure>> {
  const kept = await writeDown(options, git, request, plan);
  if (!kept.ok) return kept;
  if (kept.value === undefined) return ok({ kind: 'nothing' });
  options.between?.('written down');
  const stopped = await bring(kept.value, 'forward', options).catch(refusedBySystem);
  if (stopped !== undefined) {
    // What was done so far is taken back: all of it, or none.
    await takeBack(options, kept.value);
    if (stopped instanceof NotWritten) return fail(notWritten(stopped, 'nothing was applied'));
    return fail(changedMeanwhile(stopped));
  }
  await close(options, kept.value, 'made', recorder);
  return ok({ kind: 'applied', apply: kept.value.journal.apply });
}

const changedMeanwhile = (path: string): Failure => ({
  ...{ code: 'changed_meanwhile', message: `${path} was changed while the result was applied; nothing was applied.` },
  fix: 'Try again.',
});

const refusedBySystem = (error: unknown): NotWritten => {
  if (error instanceof NotWritten) return error;
  throw error;
};

const notWritten = ({ path, message }: NotWritten, then: string): Failure => ({
  ...{ code: 'not_written', message: `${path} cannot be written (${message}); ${then}.` },
  fix: 'Make room for it, or give yourself the right to write it, and try again.',
});

async function toBranch(
  options: WorkspaceOptions,
  git: PrivateGit,
  request: ApplyRequest,
  plan: ApplyPlan,
  recorder: ApplyRecorder,
): Promise<Result<Made, Failure>> {
  const name = request.branch ?? '';
  const commit = await commitOnBranch(options, git, { name, tree: plan.to, run: request.run });
  if (!commit.ok) return commit;
  const branch = { name, commit: commit.value.commit };
  const folder = await makeJournalFolder(options.home, options.ids.nonce().slice(0, 8));
  const kept = { folder, journal: { ...journalOf(git, request, folder), branch } };
  await writeJournal(folder, kept.journal);
  options.between?.('written down');
  const made = await commit.value.create();
  if (!made.ok) {
    await rm(folder, { recursive: true, force: true });
    return made;
  }
  await close(options, kept, 'made', recorder);
  return ok({ kind: 'applied', apply: kept.journal.apply, branch });
}

function journalOf(git: PrivateGit, request: ApplyRequest, folder: string): ApplyJournal {
  const { run, session, base, patch, ref } = request;
  const about = {
    run,
    session,
    base,
    repo: git.repository.top,
    patch: { sha256: sha256(patch), bytes: patch.length, ...present({ ref }) },
  };
  const apply = `apply_${folder.slice(-8)}`;
  return { format: 1, apply, ...about, state: 'begun', recorded: false, files: [], folders: [] };
}

/** The journal with all bytes; `undefined` when everything already is as wanted. */
async function writeDown(
  options: WorkspaceOptions,
  git: PrivateGit,
  request: ApplyRequest,
  plan: ApplyPlan,
): Promise<Result<KeptJournal | undefined, Failure>> {
  const { top } = git.repository;
  const folder = await makeJournalFolder(options.home, options.ids.nonce().slice(0, 8));
  const made = await materialise(git, plan, join(git.folder, 'wanted'));
  if (!made.ok) return made;
  const changed: string[] = [];
  const files: ApplyJournal['files'] = [];
  for (const { path, after } of plan.changes) {
    const wanted = join(git.folder, 'wanted', path);
    const now = await fileStateAt(join(top, path));
    // From here on another change is seen; one that came in since it was compared would be overwritten.
    if (!isAsSeen(now, plan.seen.get(path))) changed.push(path);
    const before = now.kind === 'folder' ? { kind: 'none' as const } : now;
    const mode = before.kind === 'file' ? (before.mode & ~EXECUTE) | executeOf(after?.mode, before.mode) : undefined;
    const state = after === undefined ? ({ kind: 'none' } as const) : withMode(await fileStateAt(wanted), mode);
    if (isSame(before, state)) continue;
    await keep(join(top, path), join(folder, 'before', `${files.length}`));
    await keep(wanted, join(folder, 'after', `${files.length}`));
    files.push({ path, before, after: state });
  }
  const [other] = changed;
  if (files.length === 0 || other !== undefined) {
    await rm(folder, { recursive: true, force: true });
    return other === undefined ? ok(undefined) : fail(changedMeanwhile(other));
  }
  const folders = await missingFolders(
    top,
    files.map(({ path }) => path),
  );
  const journal = { ...journalOf(git, request, folder), files, folders };
  await writeJournal(folder, journal);
  return ok({ folder, journal });
}

function isAsSeen(now: FileState, seen: FileState | undefined): boolean {
  if (seen === undefined || isSame(now, seen)) return true;
  return now.kind === seen.kind && (now.kind === 'folder' || now.kind === 'other');
}

const EXECUTE = 0o111;

/** The user's own bits stay, as far as git does not say otherwise. */
const executeOf = (mode: string | undefined, own: number): number => (mode === '100755' ? (own & 0o444) >> 2 : 0);

const withMode = (state: Awaited<ReturnType<typeof fileStateAt>>, mode: number | undefined) =>
  state.kind === 'file' && mode !== undefined ? { ...state, mode } : state;

/** Files as git would check them out here, with the line ends and encodings of this repository. */
async function materialise(git: PrivateGit, plan: ApplyPlan, folder: string): Promise<Result<void, Failure>> {
  const index = join(git.folder, 'index-wanted');
  const begun = await git.run(['read-tree', plan.to], { index });
  const input = zeroEnded(plan.changes.filter(({ after }) => after !== undefined).map(({ path }) => path));
  const call = { index, work: git.repository.top, input, timeoutMs: limits.checkoutMs };
  const out = begun.ok ? await git.run(['checkout-index', '-f', '-z', '--stdin', `--prefix=${folder}/`], call) : begun;
  return out.ok ? ok(undefined) : fail(gitFailure('The files cannot be written out', out.error));
}

async function keep(from: string, to: string): Promise<void> {
  const facts = await lstat(from).catch(() => undefined);
  if (facts?.isSymbolicLink() === true) await symlink(await readlink(from), to);
  else if (facts?.isFile() === true) await copyFile(from, to);
}

/** Outermost first. */
async function missingFolders(top: string, paths: readonly string[]): Promise<string[]> {
  const missing = new Set<string>();
  for (const path of paths)
    for (let at = dirname(path); at !== '.' && !missing.has(at); at = dirname(at))
      if ((await lstat(join(top, at)).catch(() => undefined))?.isDirectory() !== true) missing.add(at);
  return [...missing].toSorted((one, other) => one.length - other.length);
}

async function close(
  options: WorkspaceOptions,
  { folder, journal }: KeptJournal,
  state: 'made' | 'undone',
  recorder: ApplyRecorder,
): Promise<void> {
  const done: ApplyJournal = { ...journal, state, recorded: false };
  await writeJournal(folder, done);
  options.between?.(`${state}, not recorded`);
  await recorder[state](done);
  await writeJournal(folder, { ...done, recorded: true });
}

async function takeBack(options: WorkspaceOptions, kept: KeptJournal): Promise<void> {
  const { folder, journal } = kept;
  await writeJournal(folder, { ...journal, state: 'undoing' });
  await bring(kept, 'back', options);
  await writeJournal(folder, { ...journal, state: 'undone', recorded: true });
}

/**
 * One that was cut off is brought to its end; gives its id. Where somebody has changed its files since, nothing more is done.
 */
async function finishLast(options: WorkspaceOptions, recorder: ApplyRecorder): Promise<Result<string | undefined, Failure>> {
  const last = (await readJournals(options.home)).at(-1);
  if (last === undefined || last.journal.recorded) return ok(undefined);
  const { state, apply, run } = last.journal;
  if (state === 'begun' || state === 'undoing') {
    const direction = state === 'begun' ? 'forward' : 'back';
    const done = await complete(options, last, direction);
    if (!done.ok) return done;
  }
  await close(options, last, state === 'begun' || state === 'made' ? 'made' : 'undone', recorder);
  return ok(`${apply} of ${run}`);
}

async function complete(
  options: WorkspaceOptions,
  last: KeptJournal,
  direction: 'forward' | 'back',
): Promise<Result<void, Failure>> {
  const { branch, repo } = last.journal;
  if (branch !== undefined) {
    // A branch is there or it is not; only one that is to go is still to be done.
    return direction === 'forward' ? ok(undefined) : await deleteBranch(options, repo, branch);
  }
  const strangers = await strangersOf(last, direction, true);
  if (strangers.length > 0) return fail(changedSince(last.journal, strangers));
  const stopped = await bring(last, direction, options).catch(refusedBySystem);
  if (stopped instanceof NotWritten) return fail(notWritten(stopped, 'what is missing is done by the next one'));
  return stopped === undefined ? ok(undefined) : fail(changedSince(last.journal, [stopped]));
}

const SHOWN = 10;

function changedSince({ run, state }: ApplyJournal, paths: readonly string[]): Failure {
  const more = paths.length > SHOWN ? ` and ${counted(paths.length - SHOWN, 'further file')}` : '';
  const half = state === 'begun' || state === 'undoing' ? ', which was cut off' : '';
  const message = `Files were changed since the result of ${run} was applied${half}: ${paths.slice(0, SHOWN).join(', ')}${more}.`;
  return { code: 'changed_since', message, fix: 'Put them back to how they were (or move your changes away), and try again.' };
}

/** Takes the last one back, exactly. Refuses when its files were changed since, and names them. */
export async function undoLast(options: WorkspaceOptions, recorder: ApplyRecorder): Promise<Result<ApplyJournal, Failure>> {
  return await lockedApplying(options, async () => {
    const journals = await readJournals(options.home);
    const last = journals.findLast(({ journal }) => journal.state !== 'undone');
    const cut = journals.at(-1);
    if (cut?.journal.state === 'undone' && !cut.journal.recorded) await close(options, cut, 'undone', recorder);
    if (last === undefined) return fail({ code: 'nothing_applied', message: 'There is nothing to take back.' });
    const { folder, journal } = last;
    const half = journal.state !== 'made';
    const strangers = journal.branch === undefined ? await strangersOf(last, 'back', half) : [];
    if (strangers.length > 0) return fail(changedSince(journal, strangers));
    const undoing: KeptJournal = { folder, journal: { ...journal, state: 'undoing', recorded: false } };
    await writeJournal(folder, undoing.journal);
    options.between?.('undo written down');
    const done = await complete(options, undoing, 'back');
    if (!done.ok) {
      await writeJournal(folder, journal);
      return done;
    }
    await close(options, undoing, 'undone', recorder);
    return ok(undoing.journal);
  });
}
