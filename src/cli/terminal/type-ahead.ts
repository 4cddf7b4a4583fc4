/**
 * What was typed before a question appeared is no answer to it. The terminal keeps it until somebody reads: so it is read and
 * thrown away, also the line that nobody has ended yet, right before the question is put. Ctrl-C is no answer to anything: while
 * this reads it is a key like any other, and whoever called is told of it.
 */
import type { ReadStream } from 'node:tty';
import { eventLoopTurn } from '../../base/clock.ts';

/** So many rounds of the event loop without a key in them: the terminal has nothing left. */
const QUIET_ROUNDS = 5;

const CTRL_C = '\u0003';

type Typed = Pick<ReadStream, 'isTTY' | 'isRaw' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause'>;

/** Only for a terminal: what comes through a pipe was meant to be read, and nobody is asked there. */
export async function dropTypedAhead(input: Typed): Promise<'interrupted' | 'dropped'> {
  let said: 'interrupted' | 'dropped' = 'dropped';
  if (!input.isTTY) return said;
  const wasRaw = input.isRaw;
  let quiet = 0;
  const drop = (piece: string | Uint8Array): void => {
    quiet = 0;
    if (piece.toString().includes(CTRL_C)) said = 'interrupted';
  };
  // In its line mode a terminal gives whole lines only.
  input.setRawMode(true);
  input.on('data', drop);
  input.resume();
  for (quiet = 0; quiet < QUIET_ROUNDS; quiet += 1) await eventLoopTurn();
  input.off('data', drop);
  input.pause();
  input.setRawMode(wasRaw);
  return said;
}
