/** What was broadcast to a listener and not heard yet. */
import { type UserMessage, userText } from '../../events/messages.ts';
import type { Listener } from '../../events/run-origin.ts';
import { textTokens } from '../../models/tokens.ts';
import { broadcastText } from '../../projections/patterns/broadcast-text.ts';
import type { TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import type { BroadcastReference } from '../record/said-by-others.ts';
import type { StepIndex } from '../record/step-index.ts';
import type { Writes } from '../record/writes.ts';
import type { Broadcast } from './broadcasts.ts';
import type { HearsRuns } from './hears.ts';

/** `heard` are the references of a request that was recorded for this turn. */
export async function broadcastMessages(
  tree: TimeAndIds & Writes & HearsRuns,
  node: DrivenRun,
  stepIndex: StepIndex,
  listener: Listener,
  roomTokens: number,
  heard: readonly BroadcastReference[] | undefined,
): Promise<{ readonly messages: UserMessage[]; readonly overflow: boolean }> {
  const said =
    heard === undefined
      ? await news(tree, node, listener, roomTokens)
      : heard.flatMap((reference) => tree.broadcasts.find(reference) ?? []);
  const messages = said.map((broadcast) => {
    const message = userText(broadcastText(broadcast.payload, node.run));
    stepIndex.place(message, broadcast.step, broadcast.run);
    return message;
  });
  return { messages, overflow: listener.leads && said.some(({ payload }) => payload.replaces !== undefined) };
}

/** What is new, with a notice in the place of what does not fit into the reader's context any more. */
async function news(
  tree: TimeAndIds & Writes & HearsRuns,
  node: DrivenRun,
  listener: Listener,
  roomTokens: number,
): Promise<Broadcast[]> {
  const heard: Broadcast[] = [];
  let text = '';
  for (const broadcast of tree.broadcasts.unheard(listener)) {
    const next = text + broadcastText(broadcast.payload, node.run);
    // A notice stands for something larger already.
    if (broadcast.payload.replaces !== undefined || textTokens(next) <= roomTokens) {
      text = next;
      heard.push(broadcast);
    } else heard.push(await tooLarge(tree, node, listener, broadcast));
  }
  return heard;
}

async function tooLarge(
  tree: TimeAndIds & Writes & HearsRuns,
  node: DrivenRun,
  listener: Listener,
  broadcast: Broadcast,
): Promise<Broadcast> {
  const { memberId, message, cycle, turnCount, team } = broadcast.payload;
  const what = `A broadcast of ${memberId} (${Buffer.byteLength(message)} bytes)`;
  const step = `overflow/${broadcast.run}/${broadcast.step}`;
  const payload = {
    team,
    cycle,
    turnCount,
    type: 'failure' as const,
    memberId,
    message: `${what} does not fit into your context and was left out. It is in the ledger.`,
    timestamp: new Date(tree.clock.now()).toISOString(),
    replaces: { run: broadcast.run, step: broadcast.step, reader: listener.name },
  };
  await tree.writer.write([node.journal.event('team.broadcast', payload, { step, actor: 'system' })]);
  const notice = { run: node.run, step, payload };
  tree.broadcasts.publish(notice);
  return notice;
}
