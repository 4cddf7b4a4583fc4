/**
 * Programs that were replaced while the work went on. Who runs `npm test` runs whatever is called `node` among the programs of
 * the packages, and a file that passes is soon written. Nothing that is run proves anything from then on, whoever runs it, and
 * whether or not tests may change.
 */
import type { EventOf } from '../../events/envelope.ts';

type Change = EventOf<'file.diff'>['payload'];

/** Files of others, which are installed and not written. */
const INSTALLED = /(?:^|\/)(?:node_modules|site-packages|\.venv)\//;

/** A sentence for each; `changes` are those of the whole work, in order. */
export const replacementReasons = (changes: readonly Change[]): readonly string[] =>
  replacedFiles(changes).map(({ path, why }) => `${path} was changed during the run: ${why}`);

export function replacedFiles(changes: readonly Change[]): readonly { readonly path: string; readonly why: string }[] {
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  return [...byPath].flatMap(([path, all]) => {
    const last = all.at(-1);
    if (last === undefined || last.after === null || last.after === all[0]?.before) return [];
    const why = all.findLast(({ program }) => program !== undefined)?.program;
    if (why === undefined && !INSTALLED.test(path)) return [];
    return [{ path, why: why ?? 'it belongs to what is installed, and was written by hand' }];
  });
}
