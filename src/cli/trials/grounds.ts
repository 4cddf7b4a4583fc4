/** The project as trials need it: opened once for every model that they name, and closed when they are over. */
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
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

type Terms = Parameters<OpenGround>[0];

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
  const opened = new Map<string, Promise<Ground>>();
  const openFor = async (terms: Terms): Promise<Ground> => {
    const project = await openProject({ cwd, env: terminal.env, clock, flags: terms });
    const { proves, declared, redact, root, config } = project;
    const judging = async (): Promise<Troupe> => (await open({})).troupe;
    const how = { clock, random: systemRandom, signal, keepFiles };
    return { troupe: troupeOf(project, clock), judging, proves, declared, redact, root, ...how, home: config.home };
  };
  const open = ({ model: named, vars }: Terms): Promise<Ground> => {
    const terms = present({ model: options.model ?? named, vars });
    const key = JSON.stringify([terms.model, Object.entries(vars ?? {}).toSorted()]);
    const ground = opened.get(key) ?? openFor(terms);
    opened.set(key, ground);
    return ground;
  };
  return {
    open,
    async place() {
      const { troupe, home } = await open({});
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
    stopping.abort(new TroupeError('stopped', 'Stopped before all trials were made'));
  });
  try {
    return await work(stopping.signal);
  } finally {
    unheard();
  }
}
