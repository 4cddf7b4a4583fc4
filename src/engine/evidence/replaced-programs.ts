/**
 * Programs that were replaced while the work went on. Who runs `npm test` runs whatever is called `node` among the programs of
 * the packages, and a file that passes is soon written. Nothing that is run proves anything from then on, whoever runs it, and
 * whether or not tests may change.
 */
import { basename, isAbsolute } from 'node:path';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { exitMeaning } from '../../permissions/exit-code.ts';
import { looksLikeTestRun } from '../../tools/shell/test-commands.ts';
import { ANOTHER_TOOL } from '../../tools/watch/search-path.ts';

type Change = EventOf<'file.diff'>['payload'];

/** Files of others, which are installed and not written. */
const INSTALLED = /(?:^|\/)(?:node_modules|site-packages|\.venv)\//;

interface Work {
  /** Of earlier prompts of the session. */
  readonly earlier?: readonly Change[] | undefined;
  readonly events: readonly LedgerEvent[];
}

/** A sentence for each; `events` are those of the whole work, in order, and `runs` are texts that say what is run. */
export function replacementReasons({ earlier = [], events }: Work, runs: readonly (string | undefined)[]): readonly string[] {
  const words = new Set(runs.flatMap((text) => text?.split(/[^\w.+-]+/) ?? []));
  return replacedFiles([...earlier, ...changesOfWork(events)]).flatMap(({ path, why }) =>
    why === ANOTHER_TOOL && !words.has(basename(path)) ? [] : [`${path} was changed during the run: ${why}`],
  );
}

/** What was changed outside of the workspace before the first command was changed before the work. */
function changesOfWork(events: readonly LedgerEvent[]): readonly Change[] {
  const first = events.findIndex(({ event_type: type }) => type === 'cli.run');
  return events.flatMap((event, index) => {
    if (event.event_type !== 'file.diff') return [];
    const { path, by } = event.payload;
    return isAbsolute(path) && by === 'outside' && (first < 0 || index < first) ? [] : [event.payload];
  });
}

export function replacedFiles(changes: readonly Change[]): readonly { readonly path: string; readonly why: string }[] {
  const byPath = new Map<string, Change[]>();
  for (const change of changes) byPath.set(change.path, [...(byPath.get(change.path) ?? []), change]);
  return [...byPath].flatMap(([path, all]) => {
    const last = all.at(-1);
    const why = all.findLast(({ program }) => program !== undefined)?.program;
    // Put back, it is what it was; what ran in between has run with something else.
    if (why !== undefined) return [{ path, why }];
    if (!INSTALLED.test(path) || last === undefined || last.after === null || last.after === all[0]?.before) return [];
    return [{ path, why: 'it belongs to what is installed, and was written by hand' }];
  });
}

const PACKAGES = /^(?:pip[\d.]*|uv|poetry|pipenv|npm|pnpm|yarn|gem|bundle|cargo|go|pyenv|rbenv|asdf|corepack|brew|apt|apt-get)$/;
const INSTALLS = /^(?:install|i|ci|add|sync|rehash|reshim|update|upgrade|enable|pip)$/;

/** Where something came and went on the search path while a line ran that does more than to install and to run what it proves. */
export function passingProgram({ payload }: EventOf<'cli.run'>): string | undefined {
  const { workspace, command } = payload;
  const folder = workspace === undefined || 'unknown' in workspace ? undefined : workspace.passing;
  const meaning = exitMeaning(command);
  if (folder === undefined || !meaning.ok) return undefined;
  const all = [...meaning.value.proved, ...meaning.value.hidden.map((one) => one.command)];
  const isKnown = ({ words }: (typeof all)[number]): boolean =>
    (PACKAGES.test(words[0] ?? '') && INSTALLS.test(words[1] ?? '')) || looksLikeTestRun(words.join(' '));
  if (all.length < 2 || all.every(isKnown)) return undefined;
  return `programs are looked for in ${folder}, and while it ran something was put there and taken away again`;
}
