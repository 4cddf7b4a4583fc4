/**
 * Goes on with what servers of this project began and left, when they were killed or stopped. Whoever serves the project looks
 * for it, at the start and then every few seconds, among the runs that have not ended: the next server, and each that was there
 * all along. Which of them gets a run its lease decides.
 *
 * A run that rests is left alone: one that waits for an answer, was paused or stands still for want of something.
 */
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isInside } from '../../agents/text/confined-path.ts';
import { type Clock, sleep } from '../../base/clock.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { spawnerOf } from '../../events/run-origin.ts';
import type { RunRow } from '../../ledger/port.ts';
import { CONFIG_FILE } from '../../project/config.ts';
import type { Project } from '../../project/project.ts';
import type { QueueFollower } from './session-queue.ts';

export interface LeftRunNeeds {
  readonly project: Pick<Project, 'engine' | 'ledger' | 'assistants' | 'config' | 'root'>;
  /** Prompts that wait are looked for, too. */
  readonly queues?: Pick<QueueFollower, 'takeUp'> | undefined;
  readonly clock: Clock;
  readonly stopping: AbortSignal;
  /** What goes wrong is for the log; the next look comes all the same. */
  onError(error: Error): void;
}

/** As a run stood when it was looked at last: as long as nothing happens in its session, the same would be decided again. */
interface Looked {
  readonly stood: string;
  readonly tries: number;
  /** By `Clock.elapsed`. */
  readonly notBefore: number;
}

/** Until `stopping`. */
export async function goOnWithLeft(needs: LeftRunNeeds): Promise<void> {
  const { project, clock, stopping, queues, onError } = needs;
  // Some clients start a server only to ask what it is, and end it at once: such a one must not begin what it cannot finish.
  if ((await sleep(clock, limits.takeUpAfterMs, stopping)) !== 'elapsed') return;
  project.assistants.warm();
  const looked = new Map<RunId, Looked>();
  // On a cluster whoever assigns the work finds another worker; what is done at the start is to hand it over once more.
  const isAssigned = project.config.cluster !== undefined;
  for (let looks = 0; ; looks += 1) {
    try {
      queues?.takeUp();
      if (looks === 0 || !isAssigned) await look(needs, looked);
    } catch (error) {
      if (!stopping.aborted) onError(error instanceof Error ? error : new Error(String(error)));
    }
    if ((await sleep(clock, limits.takeUpLookMs, stopping)) !== 'elapsed') return;
  }
}

/** Costs what is under way: of what has ended nothing is read. */
async function look(needs: LeftRunNeeds, looked: Map<RunId, Looked>): Promise<void> {
  const { project, stopping } = needs;
  const rows = await project.ledger.runs({ roots: true, states: ['running', 'waiting'], limit: limits.runLookup });
  const left = rows.filter(({ owner, state, cutOff }) => owner === null && (state === 'running' || cutOff === true)).toReversed();
  // Also of one that this process is at work on: how often it was tried counts until it has ended.
  const unfinished = new Set(rows.map(({ run }) => run));
  for (const run of looked.keys()) if (!unfinished.has(run)) looked.delete(run);
  for (const row of left) {
    if (stopping.aborted) return;
    try {
      await takeUp(needs, looked, row);
    } catch (error) {
      // One that cannot be read holds up no other.
      if (!stopping.aborted) needs.onError(error instanceof Error ? error : new Error(String(error)));
    }
  }
}

async function takeUp({ project, clock }: LeftRunNeeds, looked: Map<RunId, Looked>, row: RunRow): Promise<void> {
  const { run, session } = row;
  const { stood, tries = 0, notBefore = 0 } = looked.get(run) ?? {};
  const [newest] = await project.ledger.read({ session, newest: true, limit: 1 });
  if (newest === undefined) return;
  const stands = `${newest.position}${row.cutOff === true ? ' cut off' : ''}`;
  if (stands === stood || clock.elapsed() < notBefore) return;
  const asSeen = (): void => void looked.set(run, { stood: stands, tries, notBefore });
  if (!(await isDue(project, row, newest))) return asSeen();
  const served = await servedHere(project, row);
  if (served === undefined) return asSeen();
  const outcome = await project.assistants.goOn(run, served.by);
  if (outcome.kind === 'held') return asSeen();
  // What stops again and again, whatever for, is tried more and more rarely.
  const pause = Math.min(limits.takeUpLookMs * 2 ** tries, limits.takeUpPauseMs);
  // A refusal leaves nothing in the ledger: how the run stands says nothing of whether it would be refused again.
  const stoodThen = outcome.kind === 'refused' ? '' : stands;
  looked.set(run, { stood: stoodThen, tries: tries + 1, notBefore: clock.elapsed() + pause });
}

/** Whoever drove it is gone in the middle of it, or has stopped; or something was answered and nobody has gone on with that. */
async function isDue({ engine, ledger }: LeftRunNeeds['project'], row: RunRow, newest: LedgerEvent): Promise<boolean> {
  const { session, run } = row;
  const [said] = await ledger.read({ session, run, types: ['run.signalled'], newest: true, limit: 1 });
  // Whoever asked for a pause has it, also when nobody was left to write it down.
  if (said?.event_type === 'run.signalled' && said.payload.signal === 'pause') return false;
  if (row.cutOff === true || newest.event_type === 'approval.answered') return true;
  return (await engine.waits(row.run)).length === 0;
}

/** Whether a server of this project began it; a person's own run, and what was forked, is theirs to go on with. */
async function servedHere(
  { ledger, config, root }: LeftRunNeeds['project'],
  { run, session }: RunRow,
): Promise<{ readonly by: string | undefined } | undefined> {
  const [first] = await ledger.read({ session, limit: 1 });
  if (first?.event_type !== 'session.started' || first.payload.forked !== undefined) return undefined;
  const callers = Object.values(config.serve.callers ?? {}).flatMap(({ workspace }) =>
    workspace === undefined ? [] : [resolve(root, workspace)],
  );
  const places = [root, config.home, config.workspace, ...callers];
  // Several projects may have one ledger, and examples work in folders of their own: their agents and settings are not ours.
  const { workspace } = first.payload;
  if (!places.some((place) => isInside(place, workspace)) || isOfAnother(root, workspace)) return undefined;
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  if (started?.event_type !== 'run.started') return undefined;
  const { origin } = started.payload;
  const spawned = spawnerOf(started.payload);
  if (spawned !== undefined) return { by: spawned.by };
  if (origin.kind === 'person' && origin.client === 'api') return { by: undefined };
  return origin.kind === 'group' && origin.person?.where === 'api' ? { by: undefined } : undefined;
}

/** A folder below may have settings of its own: then what works in it goes by these, not by ours. */
function isOfAnother(root: string, workspace: string): boolean {
  for (let at = workspace; isInside(root, at) && resolve(at) !== resolve(root); at = dirname(at))
    if (existsSync(join(at, CONFIG_FILE))) return true;
  return false;
}
