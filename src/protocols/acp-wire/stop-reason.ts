/** How a run came to rest, as the end of a prompt: a reason to stop, with what has to be said besides; or what went wrong. */
import type { StopReason } from '@agentclientprotocol/sdk';
import { unreachable } from '../../base/errors.ts';
import type { OpenWait, RunEnd } from '../../engine/port.ts';
import type { Failure } from '../../events/catalogue.ts';
import { reasonOutside } from '../../events/outside-reason.ts';

export type PromptEnd =
  | { readonly kind: 'stopped'; readonly reason: StopReason; readonly status: string; readonly say?: string | undefined }
  | { readonly kind: 'failed'; readonly error: Failure };

export function promptEnd(end: RunEnd): PromptEnd {
  switch (end.kind) {
    case 'ended':
      return endedWith(end.result);
    case 'waiting':
      return { kind: 'stopped', reason: 'end_turn', status: 'waiting', say: end.waits.map(waitText).join('\n\n') };
    case 'paused':
      return { kind: 'stopped', reason: 'end_turn', status: 'paused', say: `Paused: ${end.reason}. The next message goes on.` };
    case 'parked':
      return { kind: 'failed', error: end.error };
    case 'interrupted':
      return { kind: 'failed', error: end.error ?? { code: 'interrupted', message: end.reason } };
    case 'lost':
      return { kind: 'failed', error: { code: 'held', message: 'Another process drives this run now.' } };
    default:
      return unreachable(end);
  }
}

function endedWith({ status, report, error }: Extract<RunEnd, { kind: 'ended' }>['result']): PromptEnd {
  const stopped = (reason: StopReason, say?: string): PromptEnd => ({ kind: 'stopped', reason, status, say });
  if (status === 'completed' || status === 'completed_unverified')
    return stopped(report.cut === true ? 'max_tokens' : 'end_turn');
  if (status === 'cancelled') return stopped('cancelled');
  if (error?.code === 'model_refused') return stopped('refusal', error.message);
  const reason = reasonOutside({ status, error });
  if (reason === 'budget' || reason === 'time' || reason === 'turns') return stopped('max_turn_requests', error?.message);
  return { kind: 'failed', error: error ?? { code: status, message: report.body } };
}

/** A question is put as a text: the next message is the answer to it. A permission is nothing that words can give. */
function waitText(wait: OpenWait): string {
  if (wait.kind === 'question') return [wait.question, ...(wait.choices ?? []).map((choice) => `- ${choice}`)].join('\n');
  return `It waits for a permission, which \`troupe inbox\` or the next message asks for again:\n${wait.question}`;
}
