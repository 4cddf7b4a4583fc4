/** `troupe artifacts diff`: two artifacts line by line, or what two runs left behind file by file. */
import { isArtifactRef } from '../../artifacts/refs.ts';
import { judgedName, judgedText } from '../../base/visible-text.ts';
import { compareArtifacts, compareRuns, type Difference, type FileDifference } from '../../front/looking/artifacts.ts';
import type { Project } from '../../project/project.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeText } from '../terminal/safe-text.ts';
import { artifactIn } from './found.ts';

export interface ArtifactsDiffOptions extends JsonOption {
  /** The run or session of the first, and of the second. */
  readonly in?: string | undefined;
  readonly and?: string | undefined;
}

export async function artifactsDiffCommand(
  context: CommandContext,
  left: string,
  right: string,
  options: ArtifactsDiffOptions,
): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const areRefs = isArtifactRef(left) || isArtifactRef(right);
    const found = areRefs ? await ofArtifacts(context, project, left, right, options) : await ofRuns(project, left, right);
    const { out, progress } = context.terminal;
    if (options.json) printJson(context, 'artifacts diff', found);
    else if (found.same) progress.line('they are the same');
    else if (found.diff !== undefined) out.write(out.isTty ? safeText(judgedText(found.diff)) : found.diff);
    else for (const file of found.files) out.line(fileLine(file));
    return exitCodes.completed;
  });
}

async function ofArtifacts(
  context: CommandContext,
  project: Project,
  left: string,
  right: string,
  options: ArtifactsDiffOptions,
): Promise<Difference> {
  const one = await artifactIn(context, project, left, { in: options.in });
  const other = await artifactIn(context, project, right, { in: options.and ?? options.in ?? one.session });
  return await compareArtifacts(project.artifacts, one, other);
}

async function ofRuns({ ledger }: Project, left: string, right: string): Promise<Difference> {
  return await compareRuns(ledger, await findRun(ledger, left), await findRun(ledger, right));
}

function fileLine({ path, left, right }: FileDifference): string {
  const how = left === null ? 'only in the second' : right === null ? 'only in the first' : 'different';
  return `${how}: ${safeText(judgedName(path))}`;
}
