/**
 * A tool gets exactly the arguments that the model gave (invariant I11). After a resume they come out of the ledger, where those
 * with a secret in them are sealed. When they do not open (the key is gone, or another one is here), the call is not made. A
 * person who has approved it is asked what to do about it; otherwise the model is told, and can give them again or ask.
 */
import { hasMark } from '../../base/secrets/mark.ts';
import type { ToolCallPart } from '../../events/messages.ts';
import type { Tool } from '../../tools/port.ts';
import { type AskingPlace, waitForAnswer } from '../hearing/waits.ts';
import type { ToolAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';

/** Why the arguments cannot be had; `undefined` when they are as the model gave them, or somebody who changed them. */
export function argumentsGone(node: DrivenRun, turn: number, step: string, asked: ToolCallPart): string | undefined {
  const begun = node.journal.recorded('tool.call', step);
  const changed = begun?.payload.input;
  if (changed !== undefined) return begun?.inexact !== undefined && hasMark(changed) ? begun.inexact : undefined;
  const why = node.journal.recorded('model.response', `turn/${turn}/model`)?.inexact;
  // Another part of the same answer may be what held the secret.
  return why !== undefined && hasMark(asked.input) ? why : undefined;
}

/** What the model is told instead. */
export const goneText = (tool: string, why: string): string =>
  `Not run: the exact arguments of this call are gone. They held a secret, were kept sealed while the run was interrupted, and ` +
  `cannot be opened (${why}). What you see of them is redacted. Call ${tool} again with the exact arguments if you know ` +
  `them; otherwise ask for what is missing, or report it.`;

type Asks = Parameters<typeof waitForAnswer>[0] & Pick<ToolAccess, 'whenInDoubt'>;

const AGAIN = 'again';
const LEAVE = 'leave it';

/**
 * Asks about a call that somebody has approved: nothing that a person said yes to is dropped without a word. Comes back when
 * it is to be left; whoever has brought the key back says "again", and then nobody comes here any more.
 */
export async function askAboutGone(
  tree: Asks,
  node: DrivenRun,
  { step, tool, place }: { readonly step: string; readonly tool: Pick<Tool, 'name'>; readonly place: AskingPlace },
  why: string,
): Promise<void> {
  const asks = tree.whenInDoubt === 'ask' || tree.outside.answer(node.run, `${step}/approval`)?.kind === 'approved';
  if (!asks) return;
  for (let time = 1; ; time += 1) {
    const question =
      `${tool.name} was not run: its exact arguments are gone. They held a secret, were kept sealed, and cannot be opened ` +
      `(${why}). Bring the key back (\`troupe doctor\` shows which are here) and answer "${AGAIN}", or answer "${LEAVE}": ` +
      'then the agent is told.';
    const payload = { question, choices: [AGAIN, LEAVE] };
    const answer = await waitForAnswer(tree, node, `${step}/gone/${time}`, { kind: 'question', payload }, { place });
    const isAgain = answer.kind === 'approved' || (answer.kind === 'text' && answer.text.trim().toLowerCase() === AGAIN);
    if (!isAgain) return;
  }
}
