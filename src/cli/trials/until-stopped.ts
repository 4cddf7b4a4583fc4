/** Trials at a terminal: where their project is, and how they are stopped. */
import { TroupeError } from '../../base/errors.ts';
import type { GroundPlace } from '../../trials/grounds.ts';
import type { CommandContext } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';

export const groundPlace = ({ clock, cwd, terminal, openProject }: CommandContext): GroundPlace => ({
  ...{ clock, cwd, env: terminal.env, openProject },
});

/** Ctrl-C ends the trial that is under way, and no other begins. */
export async function untilStopped<Value>(
  { terminal }: CommandContext,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stopping = new AbortController();
  const unheard = terminal.onStop(() => {
    if (stopping.signal.aborted) return terminal.exitNow(exitCodes.interrupted);
    stopping.abort(new TroupeError('stopped', 'Stopped before all trials were made'));
  });
  try {
    return await work(stopping.signal);
  } finally {
    unheard();
  }
}
