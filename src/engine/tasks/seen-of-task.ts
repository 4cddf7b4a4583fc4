/** What the runtime saw of a task's work, from the events of its run: never what anybody says of it. */

import { isAbsolute } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { startOf } from '../../base/whole-words.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { TaskTerms } from '../../events/tasks/task-terms.ts';
import type { CollectedWork } from '../../patterns/task-support.ts';

const OUTPUT_CHARACTERS = 4_000;

export function seenOfTask(run: string, terms: TaskTerms, events: readonly LedgerEvent[]): CollectedWork {
  return {
    ...changesOf(run, terms, events),
    ran: ranOf(run, events),
    tests: testsOf(events),
    calls: events.filter((event) => event.event_type === 'cli.run' && !isDemand(event)).length,
  };
}

type Changes = Pick<CollectedWork, 'files' | 'patch' | 'diff' | 'undone' | 'noticed'>;

/** What was captured, or what was seen changing where nobody captured anything. */
function changesOf(run: string, terms: TaskTerms, events: readonly LedgerEvent[]): Changes {
  const captured = events.findLast((event) => event.event_type === 'task.captured' && event.run_id === run);
  if (captured?.event_type === 'task.captured' && captured.payload.failed === undefined) {
    const { files, patch, diff = '', undone } = captured.payload;
    const back = undone.filter(({ kept }) => kept !== undefined).map(({ path }) => path);
    return { files, ...present({ patch }), diff: joined([diff]), undone: back, noticed: pathsWithout(undone, back) };
  }
  const { files, diff, outside } = changesSeen(terms, events);
  return { files, diff, undone: [], noticed: outside.map(({ path }) => path) };
}

/** What was seen changing, within the terms and outside of them. */
export function changesSeen(
  terms: TaskTerms,
  events: readonly LedgerEvent[],
): Pick<CollectedWork, 'files' | 'diff'> & { readonly outside: readonly Diff[] } {
  const changes = lastOfEach(events);
  const own = new Set(
    events.flatMap((event) => (event.event_type === 'file.diff' && event.payload.by !== 'outside' ? [event.payload.path] : [])),
  );
  const inScope = changes.filter(({ path }) => isIn(terms, path));
  return {
    files: inScope.map(({ path, addedLines, removedLines }) => ({ path, added: addedLines, removed: removedLines })),
    diff: joined(inScope.map(({ diff }) => diff)),
    // What others changed meanwhile is no breach of the task's.
    outside: changes.filter(({ path }) => own.has(path) && !isIn(terms, path)),
  };
}

const pathsWithout = (all: readonly { readonly path: string }[], some: readonly string[]): string[] =>
  all.map(({ path }) => path).filter((path) => !some.includes(path));

type Diff = EventOf<'file.diff'>['payload'];

/** What each file came to; one that is as it was before is none. */
function lastOfEach(events: readonly LedgerEvent[]): readonly Diff[] {
  const files = new Map<string, Diff>();
  for (const event of events) {
    // Programs on the search path are no files of the folder.
    if (event.event_type !== 'file.diff' || isAbsolute(event.payload.path)) continue;
    const { payload } = event;
    const before = files.get(payload.path);
    files.set(payload.path, before === undefined ? payload : together(before, payload));
  }
  return [...files.values()].filter(({ before, after }) => before !== after);
}

const together = (first: Diff, next: Diff): Diff => ({
  ...next,
  before: first.before,
  addedLines: first.addedLines + next.addedLines,
  removedLines: first.removedLines + next.removedLines,
  diff: `${first.diff}\n${next.diff}`,
});

/** The same rule as for packages: a path stands for itself and for all below it. Whoever was only to look may write nothing. */
function isIn({ include, exclude, noTouch, mode }: TaskTerms, path: string): boolean {
  const at = (one: string): boolean => {
    const bare = one.replace(/\/$/, '');
    return bare === '.' || path === bare || path.startsWith(`${bare}/`);
  };
  return mode !== 'read-only' && include.some(at) && ![...exclude, ...noTouch].some(at);
}

/** Commands that are run when the work is said to be done. */
const isDemand = ({ step }: LedgerEvent): boolean => /^(?:turn\/\d+\/)?verify\/\d+$/.test(step ?? '');

function ranOf(run: string, events: readonly LedgerEvent[]): CollectedWork['ran'] {
  const own = events.filter((event) => event.run_id === run);
  const checked = own.findLast(
    (event): event is EventOf<'evidence.checked'> =>
      event.event_type === 'evidence.checked' && event.payload.demanded !== undefined,
  );
  return (checked?.payload.demanded ?? []).map(({ command, passed, why }, index) => {
    const output = passed ? undefined : outputOf(own, `verify/${index}`);
    return { command, passed, ...present({ why, output }) };
  });
}

function outputOf(events: readonly LedgerEvent[], step: string): string | undefined {
  const heads = (['cli.stdout', 'cli.stderr'] as const).flatMap((type) => {
    const found = events.findLast((event) => event.event_type === type && event.step === step);
    return found?.event_type === type ? [found.payload.head] : [];
  });
  const text = heads.join('\n').trim();
  return text === '' ? undefined : text.slice(-OUTPUT_CHARACTERS);
}

function testsOf(events: readonly LedgerEvent[]): CollectedWork['tests'] {
  const last = new Map<string, EventOf<'test.report'>['payload']>();
  for (const event of events) if (event.event_type === 'test.report') last.set(event.payload.command, event.payload);
  return [...last.values()].map(({ command, passed, tests }) => ({ command, passed, ...present({ tests }) }));
}

function joined(diffs: readonly string[]): string {
  const text = diffs.join('\n');
  return text.length > limits.taskDiffCharacters ? `${startOf(text, limits.taskDiffCharacters)}\n[…]` : text;
}
