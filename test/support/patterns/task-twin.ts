/**
 * Tasks without a disk, the same by hand and on the engine. Names decide: a task changes the files that it includes, one that
 * includes `stray` also wrote outside, one that includes `left` did and it could not be taken back, one that includes
 * `nothing` changed nothing, one that includes `slow` has changed more whenever it is looked at, patches that hold `torn`
 * stand against what came before, and commands that begin with `fail` fail. Those that begin with `apart` fail where the work
 * of two is together, and where a `full` file is in it there is no place. Where a task began all fail but those that begin
 * with `old`.
 */
import { childRunId, type RunId } from '../../../src/base/ids.ts';
import { present } from '../../../src/base/present.ts';
import { fail, ok } from '../../../src/base/result.ts';
import { UNTOUCHED } from '../../../src/engine/evidence/untouched.ts';
import type { TaskAccess } from '../../../src/engine/options.ts';
import { seenOfTask } from '../../../src/engine/tasks/seen-of-task.ts';
import type { Payloads } from '../../../src/events/catalogue.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { taskTermsOf } from '../../../src/events/run-origin.ts';
import { succeeded } from '../../../src/events/succeeded.ts';
import type { TaskTerms } from '../../../src/events/tasks/task-terms.ts';
import type { RunResult } from '../../../src/patterns/steps.ts';
import type { Merged, TaskSupport } from '../../../src/patterns/task-support.ts';
import { unchecked, unverified, withVerification } from '../../../src/patterns/verification.ts';
import type { Verifier } from '../../../src/tools/shell/verifier.ts';
import type { ScenarioEvent } from './scenarios.ts';

const FAKE_BASE = '0'.repeat(40);

const TOGETHER = '/worktrees/together/';
const NO_ROOM = 'There is no room for it.';

/** Where the work of two is together their ids are in the commit. */
function placeOf(task: string, base: string = FAKE_BASE) {
  const path = base.split('+').length > 2 ? `${TOGETHER}${task}` : `/worktrees/${task}`;
  return { kind: 'worktree', path, base, repo: '/repo' } as const;
}
const isFull = (base: string | undefined): boolean => base?.endsWith('+full') === true;

const written = ({ include, mode }: TaskTerms) => (mode === 'read-only' || include.includes('nothing') ? [] : include);
const changedBy = (terms: TaskTerms) => written(terms).map((path) => ({ path, added: 1, removed: 0 }));
const strayOf = ({ include }: TaskTerms) =>
  include.includes('stray') || include.includes('left')
    ? [{ path: 'elsewhere', why: 'it is in no included path', ...(include.includes('stray') ? { kept: 'kept.patch' } : {}) }]
    : [];
const patchOf = (terms: TaskTerms): string => written(terms).join(' ');
const textOf = (terms: TaskTerms): string =>
  written(terms)
    .map((path) => `+++ ${path}`)
    .join('\n');

function mergedByName(onto: string, parts: readonly { readonly task: string; readonly patch: string }[]): Merged {
  const fits = parts.filter(({ patch }) => !patch.split(' ').includes('torn'));
  const torn = parts.filter((part) => !fits.includes(part));
  const files = fits.flatMap(({ patch }) => patch.split(' '));
  const commit = [onto, ...fits.map(({ task }) => task), ...(files.includes('full') ? ['full'] : [])].join('+');
  return {
    commit,
    patch: files.join(' '),
    files: files.length,
    conflicts: torn.map(({ task }) => ({ path: 'torn', tasks: [task] })),
  };
}

const slowTasks = new Set<string>();
let looks = 0;
/** Never the same again for one that moves. */
function markOf(task: string): string {
  looks += 1;
  return slowTasks.has(task) ? `${looks}` : '';
}

const failsByName = (command: string, path: string): string | undefined =>
  command.startsWith('fail') || (command.startsWith('apart') && path.startsWith(TOGETHER)) ? 'it ended with 1' : undefined;
const failedBefore = (command: string): boolean => !command.startsWith('old');

export function handTasks(events: readonly ScenarioEvent[], run: RunId): TaskSupport {
  return {
    namedBy: run,
    planOnly: false,
    executor: async (name) => name,
    environment: async () => ({ session: 'ses_twin', environment: 'env://hash/unknown' }),
    where: async (task) => placeOf(task, undefined).path,
    async prepare({ task, workspace, base }) {
      if (workspace === 'in-place') return { place: { kind: 'in-place', path: '.' } };
      return isFull(base) ? { refused: NO_ROOM } : { place: placeOf(task, base) };
    },
    collect: async (key, terms) => {
      const own = events.filter((event) => event.run === childRunId(run, key));
      const shaped = own.map(({ type, run: run_id, step, payload }) => ({ event_type: type, run_id, step, payload }));
      return seenOfTask(childRunId(run, key), terms, shaped as unknown as LedgerEvent[]);
    },
    progress: async (_key, { task, include }) => {
      if (include.includes('slow')) slowTasks.add(task);
      return { files: markOf(task), tests: '', waits: false };
    },
    before: async ({ commands }) => {
      const fails = commands.findIndex(failedBefore);
      const ran = commands.slice(0, fails < 0 ? commands.length : fails + 1);
      return { ran: ran.map((command) => ({ command, ended: failedBefore(command) ? 'failed' : 'passed' })) };
    },
    merge: async (_key, { place, parts }) => mergedByName(place.kind === 'worktree' ? place.base : '', parts),
    events: async () => events.length,
    hold: async () => undefined,
  };
}

/** In a folder as it is nobody sees a change here. */
const isIdle = (terms: TaskTerms): boolean => terms.place.kind === 'in-place' || patchOf(terms) === '';

type Record = <Type extends 'task.captured' | 'evidence.checked'>(type: Type, payload: Payloads[Type], step: string) => void;

/** What the runtime finds and runs when a task's work is over, by hand. */
export function endOfTask(started: Payloads['run.started'], result: RunResult, record: Record): RunResult {
  const terms = taskTermsOf(started);
  if (terms === undefined) return result;
  const patch = patchOf(terms);
  const captured = { task: terms.task, files: changedBy(terms), diff: textOf(terms), undone: strayOf(terms) };
  if (terms.onlyVerify !== true && terms.place.kind === 'worktree')
    record('task.captured', patch === '' ? captured : { ...captured, patch }, 'captured');
  const outcomes = (succeeded(result) ? (terms.verify ?? []) : []).map((command) => {
    const why = failsByName(command, terms.place.path);
    return { command, passed: why === undefined, ...present({ why }) };
  });
  if (outcomes.length === 0) return result;
  const failed = outcomes.flatMap(({ command, why }) => (why === undefined ? [] : [`verify ${JSON.stringify(command)}: ${why}`]));
  const idle = failed.length === 0 && terms.onlyVerify !== true && isIdle(terms);
  record('evidence.checked', { claims: [], verified: failed.length === 0 && !idle, demanded: outcomes }, 'verify');
  if (idle) return withVerification(result, unchecked([UNTOUCHED]));
  return withVerification(result, failed.length === 0 ? { state: 'verified' } : unverified(failed));
}

/** The same for an engine: places that are only names, and commands that end as their names say. */
export const namedPlaces: Required<TaskAccess> & { readonly verifier: Verifier } = {
  places: {
    where: ({ task }) => placeOf(task, undefined).path,
    prepare: async ({ task, base }) => (isFull(base) ? fail({ code: 'no_room', message: NO_ROOM }) : ok(placeOf(task, base))),
    async lease({ task, domain }) {
      if (domain.include.includes('slow')) slowTasks.add(task);
      return ok(undefined);
    },
    mark: async (path) => markOf(path.split('/').at(-1) ?? ''),
    capture: async (terms) =>
      ok({ patch: Buffer.from(patchOf(terms)), text: textOf(terms), files: changedBy(terms), outside: strayOf(terms) }),
    merge: async ({ place, parts }) => {
      const {
        commit = '',
        patch = '',
        files,
        conflicts,
      } = mergedByName(
        place.kind === 'worktree' ? place.base : '',
        parts.map(({ task, patch: bytes }) => ({ task, patch: Buffer.from(bytes).toString() })),
      );
      return ok({
        commit,
        patch: Buffer.from(patch),
        files,
        conflicts,
      });
    },
  },
  verifier: {
    run: async (command, { workspace }) => {
      const failure =
        workspace.endsWith('-before') && failedBefore(command) ? 'it ended with 1' : failsByName(command, workspace);
      return ok({ evidence: [], output: '', ...present({ failure }) });
    },
  },
};
