/** What is known of an agent elsewhere when nobody waits for it any longer: for whoever wants to know why it was not done. */

import { limits } from '../../base/limits.ts';
import { startOf } from '../../base/whole-words.ts';
import type { PeerFailure, PeerOutcome } from '../../peers/port.ts';
import type { PeerExchange, PeerRecorder } from './recorder.ts';

/** `closed`: it was not even asked, as there is no way to it. */
export type Tried = PeerOutcome | { readonly kind: 'closed'; readonly failure: PeerFailure };

/** Notes it with the run. What nobody has in mind any more, as another process saw it, is what the ledger has. */
export function noteLast(recorder: PeerRecorder, at: Pick<PeerExchange, 'step' | 'trouble'>, came?: Tried): void {
  const { tree, node } = recorder;
  const last = came?.kind === 'stopped' ? came.last : recordedLast(recorder, at);
  node.lastKnown = startOf(tree.redact(last), limits.peerReasonCharacters);
}

function recordedLast({ node, tasks }: PeerRecorder, { step, trouble }: Pick<PeerExchange, 'step' | 'trouble'>): string {
  const failure = trouble ?? node.journal.recorded('model.failed', step)?.payload.error;
  const { kind } = tasks.of(step);
  if (kind === 'task' || tasks.ended(step) > 0) return 'it was still at work';
  if (failure !== undefined) return `the last try failed: ${failure.message}`;
  return kind === 'doubt' ? 'it had not answered yet' : 'it had not been reached yet';
}
