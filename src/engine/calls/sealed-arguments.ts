/**
 * A tool gets exactly the arguments that the model gave (invariant I11). After a resume they come out of the ledger, where those
 * with a secret in them are sealed. When they do not open (the key is gone, or another one is here), the call is not made: the
 * model is told, and can give them again or ask.
 */

import type { ToolCallPart } from '../../events/messages.ts';
import type { RunNode } from '../record/run-node.ts';

/** What stands in a redacted text where a secret was. */
const MARK = /\[redacted:[\w.-]+\]/;

/** What to tell the model instead of making the call; `undefined` when the arguments are as it gave them. */
export function argumentsGone(node: RunNode, turn: number, asked: ToolCallPart): string | undefined {
  const why = node.journal.recorded('model.response', `turn/${turn}/model`)?.inexact;
  // Another part of the same answer may be what held the secret.
  if (why === undefined || !MARK.test(JSON.stringify(asked.input))) return undefined;
  return (
    `Not run: the exact arguments of this call are gone. They held a secret, were kept sealed while the run was interrupted, and ` +
    `cannot be opened (${why}). What you see of them is redacted. Call ${asked.name} again with the exact arguments if you know ` +
    `them; otherwise ask for what is missing, or report it.`
  );
}
