/** Whether the program of an executor is here. Nothing is started to find that out. */
import type { Environment } from '../base/environment.ts';
import { present } from '../base/present.ts';
import type { ExecutorEntry } from './entry.ts';
import { engineOf } from './image.ts';
import type { ExecutorFailure } from './port.ts';
import { programPath } from './program.ts';
import { executorEnvironment } from './start/reach.ts';

/** In words: what is missing, and how to get it. */
export function notInstalled({ title, reach, install, image }: ExecutorEntry): ExecutorFailure {
  const program = reach.kind === 'stdio' ? reach.program : '';
  const missing = `${title} is not installed: there is no ${program}.`;
  const message = image === undefined ? missing : `${title} runs in an image, and there is no docker or podman.`;
  return { why: 'unavailable', message, ...present({ fix: install === undefined ? undefined : `Install it: ${install}` }) };
}

/** Whether its program is there, or the engine for its image; undefined for one that is reached at an address. */
export function isInstalled({ reach, ...entry }: ExecutorEntry, folder: string, ours: Environment): boolean | undefined {
  if (reach.kind === 'tcp') return undefined;
  if (entry.image !== undefined) return engineOf(entry.image, folder, ours['PATH']) !== undefined;
  const environment = executorEnvironment({ reach, ...entry }, ours);
  const path = environment.ok ? environment.value['PATH'] : ours['PATH'];
  return programPath(reach.program, folder, path) !== undefined;
}
