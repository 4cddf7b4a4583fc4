/** `troupe artifacts list|show|manifest|pin|unpin`: what work left behind. */

import { manifestYaml } from '../../artifacts/manifest.ts';
import type { FoundArtifact } from '../../artifacts/port.ts';
import { changedSinceManifest } from '../../artifacts/recheck.ts';
import { TroupeError } from '../../base/errors.ts';
import { readableJson } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { readManifest, textOfArtifact } from '../../front/looking/artifacts.ts';
import { artifactValue } from '../../front/shown-artifact.ts';
import type { Project } from '../../project/project.ts';
import { firstLine, readableBytes } from '../../projections/readable.ts';
import { artifactsOf } from '../../protocols/artifacts.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine, safeText } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { artifactIn, resolveIn, type WithinOption } from './found.ts';

export interface ArtifactsListOptions extends JsonOption {
  readonly previews?: boolean | undefined;
}

export async function artifactsListCommand(
  context: CommandContext,
  text: string | undefined,
  options: ArtifactsListOptions,
): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger, artifacts }) => {
    const row = await findRun(ledger, text ?? 'last');
    const run = text !== undefined && isNamedBy(row, text) ? row.run : undefined;
    const all = await artifacts.list({ session: row.session, run });
    const shown = options.previews === true ? all : all.filter(({ preview_of }) => preview_of === undefined);
    const { out, progress } = context.terminal;
    if (options.json) printJson(context, 'artifacts list', shown.map(artifactValue));
    else if (shown.length === 0) progress.line('nothing was stored there; what runs change and test is, when they end');
    else {
      const states = shown.some((artifact) => stateOfArtifact(artifact) !== '');
      const heading = ['TYPE', 'SIZE', 'REFERENCE', ...(states ? ['STATE'] : []), 'MADE BY'];
      printTable(
        out,
        heading,
        shown.map((artifact) => cellsOf(artifact, states)),
        ['REFERENCE'],
      );
    }
    return exitCodes.completed;
  });
}

const cellsOf = (artifact: FoundArtifact, states: boolean): readonly string[] => [
  artifact.type,
  readableBytes(artifact.bytes),
  artifact.ref,
  ...(states ? [stateOfArtifact(artifact) || '-'] : []),
  safeLine(firstLine(artifact.generated_by, MADE_BY_CHARACTERS)),
];

const MADE_BY_CHARACTERS = 60;

const stateOfArtifact = ({ pinned, collected, redacted, claimed }: FoundArtifact): string =>
  [
    ...(pinned ? ['pinned'] : []),
    ...(collected ? ['collected'] : []),
    ...(redacted === true ? ['redacted'] : []),
    ...(claimed === undefined ? [] : ['flagged']),
  ].join(' ');

export interface ArtifactsShowOptions extends JsonOption, WithinOption {}

/** What a reference leads to: an artifact with its beginning, an environment, or an event. */
export async function artifactsShowCommand(
  context: CommandContext,
  ref: string,
  options: ArtifactsShowOptions,
): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async (project) => {
    const found = await resolveIn(context, project, ref, options);
    const { out } = context.terminal;
    if (found.kind !== 'artifact') {
      const value = found.kind === 'environment' ? { ...found } : { kind: 'event' as const, event: { ...found.event } };
      if (options.json) printJson(context, 'artifacts show', value);
      else out.line(safeText(readableJson(found.kind === 'environment' ? found.environment : found.event)));
      return exitCodes.completed;
    }
    const { artifact } = found;
    const preview = artifact.collected ? undefined : await previewText(project, artifact);
    if (options.json) {
      printJson(context, 'artifacts show', { kind: 'artifact', artifact: artifactValue(artifact), ...present({ preview }) });
      return exitCodes.completed;
    }
    for (const [name, value] of factsOf(artifact)) out.line(`${`${name}:`.padEnd(NAME_WIDTH)}${safeLine(value)}`);
    if (preview !== undefined) out.line(`\n${safeText(preview).trimEnd()}`);
    return exitCodes.completed;
  });
}

const NAME_WIDTH = 12;

function factsOf(artifact: FoundArtifact): readonly (readonly [string, string])[] {
  const { ref, type, bytes, checksum, generated_by, run, at, size, path, claimed, preview_ref, from } = artifact;
  const state = stateOfArtifact(artifact);
  const facts = {
    reference: ref,
    type: size === undefined ? type : `${type}, ${size.width} × ${size.height} dots`,
    size: bytes < 1_024 ? readableBytes(bytes) : `${readableBytes(bytes)} (${bytes} bytes)`,
    checksum,
    'said to be': claimed,
    'made by': generated_by,
    file: path,
    'name there': from?.name,
    'task there': from?.task,
    run,
    at,
    preview: preview_ref,
    state: state === '' ? undefined : state,
    bytes: artifact.collected ? 'removed by `troupe ledger gc`; what stands here is the tombstone' : undefined,
  };
  return Object.entries(facts).flatMap(([name, value]) => (value === undefined ? [] : [[name, value] as const]));
}

async function previewText({ artifacts }: Pick<Project, 'artifacts'>, artifact: FoundArtifact): Promise<string | undefined> {
  const own = await textOfArtifact(artifacts, artifact, limits.artifactPreviewBytes);
  if (own !== undefined || artifact.preview_ref === undefined) return own;
  const preview = await artifacts.resolve(artifact.preview_ref, artifact.session);
  if (!preview.ok || preview.value.kind !== 'artifact' || preview.value.artifact.collected) return undefined;
  return await textOfArtifact(artifacts, preview.value.artifact, limits.artifactPreviewBytes);
}

export interface ArtifactsManifestOptions extends JsonOption {
  readonly check?: boolean | undefined;
}

/** The manifest of a run, as YAML; of the newest of the session when a session is named. */
export async function artifactsManifestCommand(
  context: CommandContext,
  text: string | undefined,
  options: ArtifactsManifestOptions,
): Promise<ExitCode> {
  return withProject(context, { readOnly: true }, async ({ ledger }) => {
    const row = await findRun(ledger, text ?? 'last');
    const found = await readManifest(ledger, row);
    if (found === undefined)
      throw new TroupeError('artifact_unknown', `There is no manifest in ${row.session}`, {
        fix: 'Manifests are written when a run ends that changed files or ran tests: troupe artifacts list',
      });
    const since = options.check === true ? await changedSinceManifest(await artifactsOf(ledger, row)) : [];
    const flagged = [...(found.flagged ?? []), ...since];
    const manifest = { ...found, ...(flagged.length === 0 ? {} : { flagged }) };
    if (options.json) printJson(context, 'artifacts manifest', manifest);
    else {
      context.terminal.out.write(safeText(manifestYaml(manifest)));
      for (const { path, why } of flagged) context.terminal.progress.line(`not so: ${safeLine(path)}: ${safeLine(why)}`);
    }
    return since.length === 0 ? exitCodes.completed : exitCodes.failed;
  });
}

export interface ArtifactsPinOptions extends JsonOption, WithinOption {}

/** Keeps it whatever its type and age, or not any more. */
export async function artifactsPinCommand(
  context: CommandContext,
  ref: string,
  pinned: boolean,
  options: ArtifactsPinOptions,
): Promise<ExitCode> {
  return withProject(context, { existing: true }, async (project) => {
    const artifact = await artifactIn(context, project, ref, options);
    await project.artifacts.pin(artifact, pinned);
    if (options.json) printJson(context, 'artifacts pin', artifactValue({ ...artifact, pinned }));
    else context.terminal.out.line(`${ref} is ${pinned ? 'kept until it is unpinned' : 'kept as its type says'}`);
    return exitCodes.completed;
  });
}
