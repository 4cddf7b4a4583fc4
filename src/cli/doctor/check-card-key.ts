/** The key that signs cards for A2A peers. The server may have it alone: that it is not here is only told. */
import { access } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type Diagnostic, errorAt, warningAt } from '../../agents/text/diagnostics.ts';
import { messageOf, TroupeError } from '../../base/errors.ts';
import type { ProjectConfig } from '../../project/config.ts';

export async function checkCardKey({
  root,
  a2a: { key },
  cardKeyPlace: place,
}: Pick<ProjectConfig, 'root' | 'a2a' | 'cardKeyPlace'>): Promise<readonly Diagnostic[]> {
  if (key === undefined || place === undefined) return [];
  const isHere = await access(resolve(root, key)).then(
    () => true,
    () => false,
  );
  if (!isHere) return [warningAt(place, `there is no file ${key} here (a2a.key): \`troupe serve\` does not start without it`)];
  try {
    const { readCardKey } = await import('../../protocols/a2a/card-key.ts');
    await readCardKey(root, key);
    return [];
  } catch (error) {
    return [errorAt(place, messageOf(error), error instanceof TroupeError ? error.fix : undefined)];
  }
}
