import { type RunId, threadOf } from '../../base/ids.ts';
import type { SpawnOutput } from './schemas.ts';

/** What whoever has spawned somebody is told, be it an agent or a client. */
export function spawnAnswer(
  run: RunId,
  status: SpawnOutput['status'],
  more: Pick<SpawnOutput, 'answer' | 'verification'> = {},
): SpawnOutput {
  return { process_id: run, thread_id: threadOf(run), status, ...more };
}
