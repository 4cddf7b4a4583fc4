/**
 * What changed, while an executor worked, of what is closed to it: agents, settings, hooks. Inside walls it cannot; without them
 * it can be noticed. Who changed it nobody knows, so nothing is taken back: it is told, and the work does not count as verified.
 */
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { ExecutorSession } from '../../executors/port.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { PROTECTED_CATEGORY } from '../evidence/protected-changes.ts';
import { type ExecutorRecorder, recorded } from './recorder.ts';

/** Looks; the events are made when they are asked for. */
export async function touchedBy(recorder: ExecutorRecorder, session: ExecutorSession, step?: string): Promise<() => NewEvent[]> {
  const { tree, use, setup } = recorder;
  const found = (await session.touched?.()) ?? [];
  // What its agent may change with the owner's leave is no surprise.
  const closed = found.filter(({ kind }) => (tree.opening?.(setup.definition, kind) ?? 'deny') === 'deny');
  if (closed.length === 0) return () => [];
  const shown = closed.slice(0, limits.touchedFilesTold).map(({ path }) => tree.redact(path));
  const more = closed.length > shown.length ? ` and ${counted(closed.length - shown.length, 'more file')}` : '';
  const payload = {
    code: 'protected_changed',
    category: PROTECTED_CATEGORY,
    message: `While ${use.name} worked, files changed that are closed to it: ${shown.join(', ')}${more}.`,
    fix: 'Look at each before anything uses it. Inside a sandbox it could not have: see troupe executors list.',
  };
  return () => [recorded(recorder, 'task.error', payload, step === undefined ? { aside: true } : { step })];
}
