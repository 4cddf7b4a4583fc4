/** The project as trials need it: opened once for every model that they name, and closed when they are over. */
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import { present } from '../base/present.ts';
import { systemRandom } from '../base/random.ts';
import { type Troupe, troupeOf } from '../library/troupe.ts';
import type { Extras, OpenProject } from '../project/project.ts';
import type { OpenGround } from './run-tests.ts';
import type { TrialGround } from './trial.ts';

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

/** How the project is opened. */
export interface GroundPlace {
  readonly clock: Clock;
  readonly cwd: string;
  readonly env: Environment;
  readonly openProject: OpenProject;
  readonly extras?: Extras | undefined;
}

export interface GroundOptions {
  /** In place of what tests and agents name. */
  readonly model?: string | undefined;
  readonly keepFiles: boolean;
  readonly signal: AbortSignal;
}

export function createGrounds({ clock, cwd, env, openProject, extras = {} }: GroundPlace, options: GroundOptions): Grounds {
  const { signal, keepFiles } = options;
  const opened = new Map<string, Promise<Ground>>();
  const openFor = async (terms: Terms): Promise<Ground> => {
    const project = await openProject({ cwd, env, clock, flags: terms }, extras);
    const { proves, declared, redact, root, config } = project;
    const judging = async (): Promise<Troupe> => (await open({})).troupe;
    const how = { clock, random: systemRandom, signal, keepFiles };
    return {
      troupe: troupeOf(project, clock, extras.agents),
      judging,
      proves,
      declared,
      redact,
      root,
      ...how,
      home: config.home,
    };
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
