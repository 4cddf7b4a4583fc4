/** The files that a group gives its members as context: each must be there, inside the project, and text. */
import { resolve } from 'node:path';
import { fail, type Result } from '../base/result.ts';
import type { AgentDefinition } from './definition/definition.ts';
import type { LoadedAgent } from './file/load.ts';
import { confinedPath } from './text/confined-path.ts';
import { type Diagnostic, errorAt, quote } from './text/diagnostics.ts';
import { type ReadFailure, readText } from './text/read-text.ts';

const KEYS = ['sharedContext', 'routingContext'] as const;

export async function readContextFile(root: string, file: string): Promise<Result<string, ReadFailure>> {
  const path = await confinedPath(root, resolve(root, file));
  return path.ok ? await readText(path.value) : fail(path.error);
}

/** The files that the definition names, and under which key. */
export function contextFilesOf({
  group,
}: Pick<AgentDefinition, 'group'>): readonly { readonly key: string; readonly file: string }[] {
  return KEYS.flatMap((key) => {
    const source = group?.[key];
    return typeof source === 'string' ? [{ key, file: source }] : [];
  });
}

export async function checkContextFiles(root: string, agents: readonly LoadedAgent[]): Promise<readonly Diagnostic[]> {
  const problems: Diagnostic[] = [];
  for (const { definition, placeOf } of agents) {
    for (const { key, file } of contextFilesOf(definition)) {
      const read = await readContextFile(root, file);
      if (read.ok) continue;
      const fix = read.error.fix ?? 'Write the file, or remove the key. The path is relative to the project folder.';
      problems.push(errorAt(placeOf(['group', key]), `the file ${quote(file)} (group.${key}) ${read.error.message}`, fix));
    }
  }
  return problems;
}
