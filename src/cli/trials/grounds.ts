/** The project as trials need it: opened once for every model that they name, and closed when they are over. */
import { TroupeError } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { type Troupe, troupeOf } from '../../library/troupe.ts';
import type { OpenGround } from '../../trials/run-tests.ts';
import type { TrialGround } from '../../trials/trial.ts';
import type { CommandContext } from '../terminal/command.ts';
import { exitCodes } from '../terminal/exit-codes.ts';

export interface Grounds extends AsyncDisposable {
  readonly open: OpenGround;
  /** Where the project is, and its state. */
  place(): Promise<{ readonly root: string; readonly home: string }>;
}

interface Ground extends TrialGround {
  readonly troupe: Troupe;
  readonly home: string;
}

export interface GroundOptions {
  /** In place of what tests and agents name. */
  readonly model?: string | undefined;
  readonly keepFiles: boolean;
  readonly signal: AbortSignal;
}

export function createGrounds({ clock, cwd, terminal, openProject }: CommandContext, options: GroundOptions): Grounds {
  const { signal, keepFiles } = options;
  const opened = new Map<string | undefined, Promise<Ground>>();
  const openFor = async (model: string | undefined): Promise<Ground> => {
    const project = await openProject({ cwd, env: terminal.env, clock, flags: { model } });
    const { proves, config } = project;
    const judging = async (): Promise<Troupe> => (await open(undefined)).troupe;
    const how = { clock, random: systemRandom, signal, keepFiles };
    return { troupe: troupeOf(project, clock), judging, proves, ...how, home: config.home };
  };
  const open = (named: string | undefined): Promise<Ground> => {
    const model = options.model ?? named;
    const ground = opened.get(model) ?? openFor(model);
    opened.set(model, ground);
    return ground;
  };
  return {
    open,
    async place() {
      const { troupe, home } = await open(undefined);
      return { root: troupe.root, home };
    },
    async [Symbol.asyncDispose]() {
      for (const ground of await Promise.allSettled(opened.values()))
        if (ground.status === 'fulfilled') await ground.value.troupe.close();
    },
  };
}

/** Ctrl-C ends the trial that is under way, and no other begins. */
export async function untilStopped<Value>(
  { terminal }: CommandContext,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const stopping = new AbortController();
  const unheard = terminal.onStop(() => {
    if (stopping.signal.aborted) return terminal.exitNow(exitCodes.interrupted);
    stopping.abort(new TroupeError('interrupted', 'Stopped before all trials were made'));
  });
  try {
    return await work(stopping.signal);
  } finally {
    unheard();
  }
}
