/**
 * Durable waits. A question is an event, its answer is another; between the two nothing runs and nothing is held. A run
 * that needs an answer it does not have stops being driven and is taken up again once the answer is there.
 */
import type { Answer, Payloads } from '../events/catalogue.ts';
import type { LedgerEvent } from '../events/envelope.ts';
import { Interruption } from './interruption.ts';
import type { OpenWait } from './port.ts';
import type { RunNode, Tree } from './tree.ts';

export type Question =
  | { readonly kind: 'permission'; readonly payload: Omit<Payloads['approval.asked'], 'wait'> }
  | { readonly kind: 'question'; readonly payload: Omit<Payloads['task.clarify'], 'wait'> };

export async function waitForAnswer(tree: Tree, node: RunNode, wait: string, question: Question): Promise<Answer> {
  const answered = tree.inbox.answer(node.run, wait);
  if (answered !== undefined) return answered;
  const type = question.kind === 'permission' ? 'approval.asked' : 'task.clarify';
  if (node.journal.recorded(type, wait) === undefined) {
    const event =
      question.kind === 'permission'
        ? node.journal.event('approval.asked', { ...question.payload, wait }, { step: wait, tool: question.payload.tool })
        : node.journal.event('task.clarify', { ...question.payload, wait }, { step: wait });
    await tree.writer.write([event], { sync: 'power' });
  }
  tree.blockedOn.push({ run: node.run, wait });
  throw new Interruption('waiting', question.kind === 'permission' ? 'waiting for a permission' : 'waiting for an answer');
}

/** Questions without an answer, oldest first. */
export function openWaits(events: Iterable<LedgerEvent>): OpenWait[] {
  const open = new Map<string, OpenWait>();
  const agents = new Map<string, string>();
  for (const event of events) {
    const run = event.run_id;
    const agent = agents.get(run) ?? '';
    if (event.event_type === 'run.started') agents.set(run, event.payload.agent);
    else if (event.event_type === 'run.ended') forgetRun(open, run);
    else if (event.event_type === 'approval.answered') open.delete(`${run} ${event.payload.wait}`);
    else if (event.event_type === 'task.clarify') {
      const { wait, question, choices } = event.payload;
      open.set(`${run} ${wait}`, { run, agent, wait, kind: 'question', question, choices });
    } else if (event.event_type === 'approval.asked') {
      const { wait, why } = event.payload;
      open.set(`${run} ${wait}`, { run, agent, wait, kind: 'permission', question: why });
    }
  }
  return [...open.values()];
}

function forgetRun(open: Map<string, OpenWait>, run: string): void {
  for (const [key, wait] of open) if (wait.run === run) open.delete(key);
}
