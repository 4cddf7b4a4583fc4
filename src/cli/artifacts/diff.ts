/** `troupe artifacts diff`: two artifacts line by line, or what two runs left behind file by file. */
import { diffOfTexts } from '../../artifacts/patch-text.ts';
import { isArtifactRef } from '../../artifacts/refs.ts';
import { limits } from '../../base/limits.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Project } from '../../project/project.ts';
import { readableBytes } from '../../projections/readable.ts';
import { findRun } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { artifactIn, textOfArtifact } from './found.ts';

export interface ArtifactsDiffOptions extends JsonOption {
  /** The run or session of the first, and of the second. */
  readonly in?: string | undefined;
  readonly and?: string | undefined;
}

interface Difference {
  readonly same: boolean;
  readonly files: readonly FileDifference[];
  readonly diff?: string;
}

type FileDifference = { readonly path: string; readonly left: string | null; readonly right: string | null };

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
    else if (found.diff !== undefined) out.write(safeText(found.diff));
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
  if (one.checksum === other.checksum) return { same: true, files: [] };
  const [before, after] = await Promise.all(
    [one, other].map((artifact) => textOfArtifact(project.artifacts, artifact, limits.artifactShownBytes)),
  );
  if (before === undefined || after === undefined) {
    const facts = [one, other].map(({ bytes, checksum }) => `${readableBytes(bytes)}, ${checksum}`);
    return { same: false, files: [], diff: `no texts, or too long to be compared:\n- ${facts[0]}\n+ ${facts[1]}\n` };
  }
  return { same: false, files: [], diff: diffOfTexts([left, before], [right, after]) };
}

/** By what the manifests say that files hold. */
async function ofRuns({ ledger }: Project, left: string, right: string): Promise<Difference> {
  const [before, after] = await Promise.all([left, right].map((text) => filesOf(ledger, text)));
  const paths = [...new Set([...(before?.keys() ?? []), ...(after?.keys() ?? [])])].sort();
  const files = paths.flatMap((path): FileDifference[] => {
    const [one, other] = [before?.get(path) ?? null, after?.get(path) ?? null];
    return one === other ? [] : [{ path, left: one, right: other }];
  });
  return { same: files.length === 0, files };
}

async function filesOf(ledger: Project['ledger'], text: string): Promise<ReadonlyMap<string, string | null>> {
  const { session, run, parent } = await findRun(ledger, text);
  const files = new Map<string, string | null>();
  const scope = parent === null ? { root: run } : { run };
  for await (const event of readEvents(ledger, { session, ...scope, types: ['artifact.manifest'] }))
    if (event.event_type === 'artifact.manifest')
      for (const { path, sha256 } of event.payload.items) files.set(path, sha256 ?? 'deleted');
  return files;
}

function fileLine({ path, left, right }: FileDifference): string {
  const how = left === null ? 'only in the second' : right === null ? 'only in the first' : 'different';
  return `${how}: ${safeLine(path)}`;
}
