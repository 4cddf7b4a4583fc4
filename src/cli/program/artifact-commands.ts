/** Commands on what work left behind. */
import type { Command } from 'commander';
import type {
  ArtifactsListOptions,
  ArtifactsManifestOptions,
  ArtifactsPinOptions,
  ArtifactsShowOptions,
} from '../artifacts/artifacts.ts';
import type { ArtifactsDiffOptions } from '../artifacts/diff.ts';
import type { ArtifactsGetOptions } from '../artifacts/get.ts';
import type { Perform } from '../terminal/command.ts';
import { addTo, json } from './describe.ts';

const IN = '--in <run>';
const WITHIN = 'of this run or session, instead of the newest that has it';

export function describeArtifacts(artifacts: Command, perform: Perform): void {
  json(addTo(artifacts, 'list [run]', 'what a run or session left behind; the last one', 'troupe artifacts list'))
    .option('--previews', 'previews too')
    .action((run: string | undefined, options: ArtifactsListOptions) =>
      perform(async (context) => (await import('../artifacts/artifacts.ts')).artifactsListCommand(context, run, options)),
    );
  json(
    addTo(
      artifacts,
      'show <ref>',
      'what a reference leads to: artifact://…, env://… or event://…',
      'troupe artifacts show artifact://patches/patch-0001.diff',
    ),
  )
    .option(IN, WITHIN)
    .action((ref: string, options: ArtifactsShowOptions) =>
      perform(async (context) => (await import('../artifacts/artifacts.ts')).artifactsShowCommand(context, ref, options)),
    );
  json(
    addTo(
      artifacts,
      'get <ref>',
      'the bytes of one, to stdout or into a file',
      'troupe artifacts get artifact://patches/patch-0001.diff -o change.diff',
    ),
  )
    .option('-o, --output <file>', 'into this file or folder; what is there is not replaced')
    .option('--force', 'replace the file')
    .option(IN, WITHIN)
    .action((ref: string, options: ArtifactsGetOptions) =>
      perform(async (context) => (await import('../artifacts/get.ts')).artifactsGetCommand(context, ref, options)),
    );
  json(addTo(artifacts, 'diff <one> <other>', 'two artifacts, or what two runs left behind', 'troupe artifacts diff a1b2c3 last'))
    .option(IN, 'the run or session of both, or of the first')
    .option('--and <run>', 'the run or session of the second')
    .action((one: string, other: string, options: ArtifactsDiffOptions) =>
      perform(async (context) => (await import('../artifacts/diff.ts')).artifactsDiffCommand(context, one, other, options)),
    );
  json(addTo(artifacts, 'manifest [run]', 'the manifest of a run, as YAML; the last one', 'troupe artifacts manifest'))
    .option('--check', 'whether files still hold what it says; 1 when one does not')
    .action((run: string | undefined, options: ArtifactsManifestOptions) =>
      perform(async (context) => (await import('../artifacts/artifacts.ts')).artifactsManifestCommand(context, run, options)),
    );
  for (const [name, pinned, about] of [
    ['pin', true, 'keep one, whatever its type and age'],
    ['unpin', false, 'keep one no longer than its type says'],
  ] as const)
    json(addTo(artifacts, `${name} <ref>`, about, `troupe artifacts ${name} artifact://patches/patch-0001.diff`))
      .option(IN, WITHIN)
      .action((ref: string, options: ArtifactsPinOptions) =>
        perform(async (context) =>
          (await import('../artifacts/artifacts.ts')).artifactsPinCommand(context, ref, pinned, options),
        ),
      );
}
