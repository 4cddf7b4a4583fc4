/**
 * The end of a run and what comes for it from outside, one after the other and never past each other. The append that ends the
 * run is refused while something has not been heard, and what is said to a run after its end is refused too: whoever was told
 * "accepted" had an effect, or is told here that it was too late.
 */
import { shortId, threadOf } from '../../base/ids.ts';
import { unreadPrefix } from '../../events/assistants.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { NewEvent } from '../../ledger/port.ts';
import { CANCELLED } from '../../loop/port.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { firstLine } from '../../projections/readable.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import type { HearsOutside, HearsRuns } from '../hearing/hears.ts';
import { withReason } from '../hearing/stop-reason.ts';
import { unheardBy } from '../hearing/unheard-by.ts';
import type { SentMessage } from '../hearing/unheard-messages.ts';
import { Interruption } from '../interruption.ts';
import type { AgentAccess, TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { Writes } from '../record/writes.ts';
import type { HasAssistants } from '../spawning/spawned.ts';
import type { GivesBackLease } from './tree.ts';

/** What the end of a run takes. */
export type ClosesRuns = TimeAndIds &
  Writes &
  HearsOutside &
  HearsRuns &
  HasAssistants &
  GivesBackLease &
  Pick<AgentAccess, 'patterns'>;

/** `closing` makes the last events for a result; it may be asked again for another one. */
export async function closeRun(
  tree: ClosesRuns,
  node: DrivenRun,
  result: RunResult,
  first: readonly NewEvent[],
  closing: (result: RunResult) => readonly NewEvent[],
): Promise<RunResult> {
  const isRoot = node.parent === undefined;
  const own = namingRun(node, result);
  for (;;) {
    const final = isToEnd(tree, node) ? withReason(node, cancelled(own)) : own;
    const takeBack = node.journal.mark();
    const sentMessages = tree.messages.unheard(node.run);
    const unheard = unheardBy(tree, node).length;
    // What was to be heard by a turn that is over is given back; who came after that is heard first, while the run has not ended.
    if (unheard > (node.passedOver ?? unheard) && goesOn(tree, node, final)) throw new Interruption('unheard', LAST_MOMENT);
    const events = [...first, ...sentMessages.flatMap((sent) => unread(tree, node, sent)), ...closing(final)];
    // Only the root's result is given to somebody outside; what a child gave goes to the disk with what comes of it.
    const durable = isRoot ? ({ sync: 'power', release: true } as const) : {};
    const stored = await tree.writer.writeIfHeard(events, { heard: tree.outside.heard(), ...durable });
    if (!('kind' in stored)) {
      if (isRoot) tree.released();
      for (const event of stored) tree.messages.apply(event);
      return final;
    }
    takeBack();
    await tree.refresh();
    const more = unheardBy(tree, node).length > unheard;
    if (more && goesOn(tree, node, final)) throw new Interruption('unheard', LAST_MOMENT);
  }
}

const LAST_MOMENT = 'hears what came in the last moment';
/** Whose answer is another's has no turn of its own left. */
const goesOn = (tree: HearsOutside, node: DrivenRun, final: RunResult): boolean =>
  succeeded(final) && final.finalRun === node.run && !isToEnd(tree, node);

/** The loop does not know whose it is: what it advises to call is about this run. */
function namingRun({ run }: DrivenRun, result: RunResult): RunResult {
  const fix = result.error?.fix?.replaceAll('<run>', shortId(run));
  return result.error === undefined || fix === undefined ? result : { ...result, error: { ...result.error, fix } };
}

/** What was done by then is kept. */
function cancelled(result: RunResult): RunResult {
  if (result.status === 'cancelled') return result;
  return { ...result, status: 'cancelled', error: { code: 'cancelled', message: CANCELLED } };
}

/** Whoever wrote and is not heard any more is told so, in the same thread and the same transaction. */
function unread(tree: TimeAndIds & HasAssistants, node: DrivenRun, { run, payload }: SentMessage): NewEvent[] {
  const { message, from, kind, thread, content } = payload;
  const ofMine = tree.spawned.of(node.run).some((assistant) => assistant.run === from.run);
  if (kind !== undefined || ofMine || message.startsWith(unreadPrefix) || thread !== threadOf(node.run) || run !== node.run)
    return [];
  const { agent } = node.started;
  const back = {
    message: `${unreadPrefix}${message}`,
    thread,
    from: { assistant: agent, run: node.run },
    to: from,
    content: `Your message came too late, ${agent} ended without having read it: ${firstLine(content, SHOWN_CHARACTERS)}`,
    fence: tree.ids.nonce(),
  };
  return [node.journal.event('message.sent', back, { step: `message/${back.message}`, actor: 'system', aside: true })];
}

/** Enough of a message to tell which one it was. */
const SHOWN_CHARACTERS = 120;
