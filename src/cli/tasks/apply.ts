/** `troupe apply`: brings the result of a run to the working tree or to a branch, and takes it back. */
import { createArtifactArchive } from '../../artifacts/archive.ts';
import { createIds, shortId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { systemRandom } from '../../base/random.ts';
import { counted } from '../../base/wording.ts';
import { sweepEnded } from '../../project/places/ended-places.ts';
import type { Project } from '../../project/project.ts';
import { type AppliedWork, applyWork, undoLast } from '../../workspaces/apply/apply.ts';
import { applyRecorder } from '../../workspaces/apply/record.ts';
import { type WorkToApply, workToApply } from '../../workspaces/apply/run-result.ts';
import type { WorkspaceOptions } from '../../workspaces/options.ts';
import type { PatchedFile } from '../../workspaces/port.ts';
import { createWorkspaces } from '../../workspaces/workspaces.ts';
import { must } from '../commands/groups-send.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface ApplyOptions extends JsonOption {
  readonly branch?: string | undefined;
  readonly dryRun?: boolean | undefined;
  readonly merge?: boolean | undefined;
  readonly undo?: boolean | undefined;
}

export async function applyCommand(context: CommandContext, text: string | undefined, options: ApplyOptions): Promise<ExitCode> {
  if (options.undo === true) {
    if (text !== undefined || options.branch !== undefined || options.dryRun === true || options.merge === true)
      throw usageError('--undo takes back what was applied last, and stands alone', 'troupe apply --undo');
    return await withProject(context, { existing: true }, (project) => undo(context, project, options));
  }
  if (text === undefined) throw usageError('Which run?', 'troupe apply last');
  if (options.branch !== undefined && options.merge === true)
    throw usageError('A branch has none of your uncommitted changes', 'give --branch or --merge');
  return await withProject(context, { existing: true }, (project) => apply(context, project, text, options));
}

async function apply(context: CommandContext, project: Project, text: string, options: ApplyOptions): Promise<ExitCode> {
  const { run, session } = await findRun(project.ledger, text);
  const around = optionsOf(context, project);
  const archive = createArtifactArchive(project.ledger, context.clock);
  const result = must(await workToApply({ ledger: project.ledger, archive, workspaces: createWorkspaces(around) }, session, run));
  const { branch, dryRun, merge } = options;
  const { repo, base, patch, ref } = result;
  const request = { repo, base, patch, ref, run, session, branch, dryRun, merge };
  const applied = must(await applyWork(around, request, applyRecorder(project.ledger, context.clock)));
  if (options.json) printJson(context, 'apply', { run, ...applied, files: [...applied.files], left: [...result.left] });
  else print(context, run, applied, result, options);
  // What was applied is in the user's files: nobody needs the places any more.
  if (applied.kind === 'applied') await sweepEnded({ ledger: project.ledger, clock: context.clock, options: around }, session);
  return applied.kind === 'refused' ? exitCodes.failed : exitCodes.completed;
}

async function undo(context: CommandContext, project: Project, options: ApplyOptions): Promise<ExitCode> {
  const { terminal } = context;
  const undone = must(await undoLast(optionsOf(context, project), applyRecorder(project.ledger, context.clock)));
  const files = undone.files.map(({ path }) => path);
  const { apply: id, run, branch } = undone;
  const nothing = { files: [], inTheWay: [], conflicts: [], left: [] };
  if (options.json)
    printJson(context, 'apply', { run, kind: 'undone', apply: id, ...present({ branch }), ...nothing, undone: files });
  else if (branch !== undefined) terminal.out.line(`the branch ${safeLine(branch.name)} of ${shortId(run)} is gone`);
  else terminal.out.line(`taken back: ${counted(files.length, 'file')} as before ${shortId(run)} was applied`);
  return exitCodes.completed;
}

const optionsOf = ({ clock, terminal }: CommandContext, project: Project): WorkspaceOptions => ({
  home: project.config.home,
  environment: terminal.env,
  clock,
  ids: createIds(clock, systemRandom),
});

const LETTERS: Readonly<Record<PatchedFile['change'], string>> = { added: 'A', changed: 'M', deleted: 'D', renamed: 'R' };

function print(context: CommandContext, run: string, applied: AppliedWork, { left }: WorkToApply, options: ApplyOptions): void {
  const { out, progress } = context.terminal;
  if (applied.finished !== undefined) progress.prose(`finished first: ${safeLine(applied.finished)}, which had been cut off`);
  // Where it is there already nothing is to be changed.
  if (applied.kind !== 'nothing') for (const file of applied.files) out.line(fileLine(file));
  for (const { path, why, fix } of applied.inTheWay)
    progress.line(`in the way: ${safeLine(path)}: ${safeLine(why)}${fix === undefined ? '' : `. ${safeLine(fix)}`}`);
  for (const { path, says, hunks } of applied.conflicts) {
    progress.line(`conflict: ${safeLine(path)}: ${safeLine(says)}`);
    for (const { line, ours, theirs } of hunks)
      progress.prose(`  line ${line}: yours ${safeLine(JSON.stringify(ours))}, the run's ${safeLine(JSON.stringify(theirs))}`);
  }
  for (const { task, path, why } of left) progress.prose(`not in it: ${safeLine(task)}, ${safeLine(path)}: ${safeLine(why)}`);
  progress.line(summary(callOf(context), run, applied, options));
}

function fileLine({ path, from, change, addedLines, removedLines, binary }: PatchedFile): string {
  const lines = binary === true ? 'binary' : `+${addedLines} -${removedLines}`;
  return `${LETTERS[change]} ${safeLine(from === undefined ? path : `${from} -> ${path}`)}  ${lines}`;
}

function summary(
  call: string,
  run: string,
  { kind, branch, files, inTheWay, conflicts }: AppliedWork,
  { merge }: ApplyOptions,
): string {
  if (kind === 'nothing') return `nothing to do: the work of ${shortId(run)} is there already`;
  if (kind === 'planned')
    return `${counted(files.length, 'file')} would be changed, nothing was; to do it: ${call} apply ${shortId(run)}`;
  if (kind === 'applied' && branch !== undefined) return `on the branch ${safeLine(branch.name)} (${branch.commit.slice(0, 12)})`;
  if (kind === 'applied') return `applied; take it back with: ${call} apply --undo`;
  const count = counted(inTheWay.length + conflicts.length, 'file');
  // Where something has to be moved away, neither a commit nor a merge helps.
  const helps = merge !== true && conflicts.length === 0 && inTheWay.every((one) => one.fix === undefined);
  const ways = helps ? ['commit or stash yours', `${call} apply ${shortId(run)} --merge`] : [];
  const fix = [...ways, `${call} apply ${shortId(run)} --branch <name>`].join(', or: ');
  const next = conflicts.length > 0 ? 'Bring them together first' : `Try: ${fix}`;
  return `not applied, nothing was changed: ${count} in the way. ${next}`;
}
