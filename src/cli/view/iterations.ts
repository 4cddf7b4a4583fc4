/** What is shown of groups: one line while they work, a table of their iterations afterwards. */

import type { RunId } from '../../base/ids.ts';
import { counted } from '../../base/wording.ts';
import { groupsBelow } from '../../front/shown-run.ts';
import type { GroupProgress, Iteration, WorkerProgress } from '../../projections/patterns/group-progress.ts';
import { firstLine, readableDuration } from '../../projections/readable.ts';
import type { RunTree } from '../../projections/run-tree.ts';
import { safeLine } from '../terminal/safe-text.ts';
import type { Screen } from '../terminal/terminal.ts';
import { cutToWidth } from '../terminal/text-width.ts';
import { tableLines } from './table.ts';

const TASK_CHARACTERS = 40;

/** `desk: iteration 2, working: coder (write the tests), tester · score 0.50, improving`. */
export function progressLines(tree: RunTree, root: RunId, width: number, paint: Screen['paint']): readonly string[] {
  return groupsBelow(tree, root)
    .filter(({ phase }) => phase !== 'ended')
    .map((group) => paint.cyan(cutToWidth(`  ${progressText(group)}`, width)));
}

export function progressText(group: GroupProgress): string {
  const current = group.iterations.at(-1);
  const judged = group.iterations.findLast(({ score }) => score !== null);
  const busy = current?.workers.filter(({ state }) => state === 'working') ?? [];
  const who = group.phase === 'working' && busy.length > 0 ? `: ${busy.map(taskText).join(', ')}` : '';
  const score = judged?.score == null ? '' : ` · score ${judged.score.toFixed(2)}, ${judged.trend}`;
  const number =
    current === undefined ? 1 : group.phase === 'planning' && current.score !== null ? current.iteration + 1 : current.iteration;
  return `${safeLine(group.agent)}: iteration ${number}, ${group.phase}${who}${score}`;
}

const taskText = ({ worker, task }: WorkerProgress): string =>
  task === null ? safeLine(worker) : `${safeLine(worker)} (${safeLine(firstLine(task, TASK_CHARACTERS))})`;

/** A table for each group that divided work or judged it. */
export function iterationLines(tree: RunTree, root: RunId, now: number): readonly string[] {
  return groupsBelow(tree, root)
    .filter(planned)
    .flatMap((group) => {
      const rows = group.iterations.map((one) => cellsOf(one, now));
      const table = tableLines(['ITERATION', 'SCORE', 'TREND', 'WORKERS', 'TOOK', 'NOTE'], rows);
      const stop = group.stop === null ? [] : [safeLine(group.summary ?? `Ended: ${group.stop.replaceAll('_', ' ')}.`)];
      return [`${safeLine(group.agent)}${group.phase === 'ended' ? '' : ` is ${group.phase}`}`, ...table, ...stop];
    });
}

/** Groups that only ask everybody have nothing to say that the tree does not show. */
const planned = ({ iterations }: GroupProgress): boolean =>
  iterations.some((one) => one.score !== null || one.nudges > 0 || one.direct || one.workers.some(({ task }) => task !== null));

/** Of one that is done only what that is worth; the word for it says that it is done. */
const standing = ({ state, verification }: WorkerProgress): string => (state === 'done' ? (verification ?? state) : state);

function cellsOf(one: Iteration, now: number): readonly string[] {
  const notes = [
    ...(one.stalled > 0 ? [`the same as before (${one.stalled} in a row)`] : []),
    ...(one.direct ? ['answered without the workers'] : []),
    ...(one.unknown.length > 0 ? [`no worker is named ${one.unknown.map(safeLine).join(', ')}`] : []),
    ...(one.nudges > 0 ? [`was told ${counted(one.nudges, 'time')}${one.unknown.length > 0 ? '' : ' to delegate'}`] : []),
  ];
  return [
    String(one.iteration),
    one.score === null ? '-' : one.score.toFixed(2),
    one.trend ?? '-',
    one.workers.map((worker) => `${safeLine(worker.worker)} (${standing(worker)})`).join(', ') || 'nobody',
    readableDuration(Math.max(0, (one.endedAt ?? now) - one.startedAt)),
    notes.join('; '),
  ];
}
