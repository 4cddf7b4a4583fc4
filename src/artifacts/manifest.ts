/** Manifests: what whoever did the work says it made, and the list that the runtime writes, as YAML for whoever reads it. */
import { isAbsolute } from 'node:path';
import { z } from 'zod';
import { limits } from '../base/limits.ts';
import type { Payloads } from '../events/catalogue.ts';
import { type ArtifactType, artifactTypes, type FlaggedArtifact } from '../events/evidence.ts';
import type { DeclaredArtifact } from './port.ts';

const entrySchema = z.object({
  type: z.enum(artifactTypes),
  ref: z.string().min(1).max(limits.pathCharacters).optional(),
  path: z.string().min(1).max(limits.pathCharacters).optional(),
  generated_by: z.string().max(1_000).optional(),
  checksum: z.string().max(200).optional(),
});
const declaredSchema = z.object({ artifacts: z.array(z.unknown()) });

/** What a manifest of somebody else says: the files that it names, and its entries that cannot be read. */
export interface Declaration {
  readonly files: readonly DeclaredArtifact[];
  readonly flagged: readonly FlaggedArtifact[];
}

const BLOCK = /```(?:ya?ml|json)?[^\n]*\n([\s\S]*?)\n```/g;

/**
 * The files that a text declares: a manifest in YAML or JSON, in a block of its own or as the whole text. `undefined` when there
 * is none. References without a scheme are paths in the workspace.
 */
export async function declaredIn(text: string): Promise<Declaration | undefined> {
  if (!text.includes('artifacts') || text.length > limits.declaredManifestBytes) return undefined;
  const { parse } = await import('yaml');
  for (const block of [...[...text.matchAll(BLOCK)].map(([, inner = '']) => inner), text]) {
    if (!/(^|[\s"{])artifacts"?\s*:/.test(block)) continue;
    let value: unknown;
    try {
      value = parse(block, { maxAliasCount: 0 });
    } catch {
      continue;
    }
    const read = declaredSchema.safeParse(value);
    if (read.success) return declarationOf(read.data.artifacts);
  }
  return undefined;
}

/** Entry by entry: one that is wrong takes nothing from the others. */
function declarationOf(entries: readonly unknown[]): Declaration {
  const [files, flagged]: [DeclaredArtifact[], FlaggedArtifact[]] = [[], []];
  for (const [index, entry] of entries.slice(0, limits.manifestEntries).entries()) {
    const read = entrySchema.safeParse(entry);
    const found = read.success ? declaredFile(read.data) : [];
    files.push(...found);
    if (found.length > 0) continue;
    const [issue] = read.success ? [] : read.error.issues;
    const field = issue?.path.join('.') ?? '';
    const why =
      issue === undefined ? 'it names no file' : `it cannot be read${field === '' ? '' : ` (${field})`}: ${issue.message}`;
    flagged.push({ path: nameOf(entry) ?? `artifacts[${index}]`, why });
  }
  const more = entries.length - limits.manifestEntries;
  if (more > 0)
    flagged.push({ path: `artifacts[${limits.manifestEntries}]`, why: `${more} more than the manifestEntries that are read` });
  return { files, flagged };
}

function nameOf(entry: unknown): string | undefined {
  const named = z.union([z.object({ path: z.string().min(1) }), z.object({ ref: z.string().min(1) })]).safeParse(entry);
  if (!named.success) return undefined;
  return ('path' in named.data ? named.data.path : named.data.ref).slice(0, limits.pathCharacters).toWellFormed();
}

function declaredFile({
  type,
  ref = '',
  path = ref.replace(/^(?:file:\/\/|artifact:\/\/)/, ''),
  generated_by: generatedBy,
  checksum,
}: {
  readonly type: ArtifactType;
  readonly ref?: string | undefined;
  readonly path?: string | undefined;
  readonly generated_by?: string | undefined;
  readonly checksum?: string | undefined;
}): DeclaredArtifact[] {
  const given = isAbsolute(path) ? path : path.replace(/^\.\//, '');
  return given === '' ? [] : [{ type, path: given, generatedBy, checksum }];
}

/** A manifest as the page of the format shows it. What is not there is left out. */
export function manifestYaml(manifest: Payloads['artifact.manifest']): string {
  const { manifest_id, session_id, generated_at, environment_fingerprint, artifacts = [] } = manifest;
  const lines = Object.entries({ manifest_id, session_id, generated_at, environment_fingerprint }).flatMap(([key, value]) =>
    value === undefined ? [] : [`${key}: ${plain(value)}`],
  );
  const entries = artifacts.flatMap(({ type, ref, generated_by, checksum, preview_ref }) => [
    `  - type: ${type}`,
    `    ref: ${plain(ref)}`,
    `    generated_by: ${JSON.stringify(generated_by)}`,
    `    checksum: ${plain(checksum)}`,
    ...(preview_ref === undefined ? [] : [`    preview_ref: ${plain(preview_ref)}`]),
  ]);
  const missing = manifest.missing_executor_manifest === true ? ['missing_executor_manifest: true'] : [];
  return [...lines, entries.length === 0 ? 'artifacts: []' : 'artifacts:', ...entries, ...missing, ''].join('\n');
}

/** Without quotes where YAML needs none: references, times, checksums. */
const plain = (text: string): string => (/^[A-Za-z0-9][\w.:/+-]*$/.test(text) && !/:$/.test(text) ? text : JSON.stringify(text));
