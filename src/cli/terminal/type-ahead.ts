/**
 * What was typed before a question appeared is no answer to it. The terminal keeps it until somebody reads: so it is read and
 * thrown away, also the line that nobody has ended yet, right before the question is put.
 */
import type { ReadStream } from 'node:tty';
import { eventLoopTurn } from '../../base/clock.ts';

/** So many rounds of the event loop without a key in them: the terminal has nothing left. */
const QUIET_ROUNDS = 5;

/** Only for a terminal: what comes through a pipe was meant to be read, and nobody is asked there. */
export async function dropTypedAhead(input: ReadStream & { readonly fd: 0 }): Promise<void> {
  if (!input.isTTY) return;
  const wasRaw = input.isRaw;
  let quiet = 0;
  const drop = (): void => {
    quiet = 0;
  };
  // In its line mode a terminal gives whole lines only.
  input.setRawMode(true);
  input.on('data', drop);
  input.resume();
  for (quiet = 0; quiet < QUIET_ROUNDS; quiet += 1) await eventLoopTurn();
  input.off('data', drop);
  input.pause();
  input.setRawMode(wasRaw);
}
