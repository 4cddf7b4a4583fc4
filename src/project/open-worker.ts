/** A worker of the project's cluster. Loaded only by `troupe worker`: it brings the Restate SDK along. */
import { TroupeError } from '../base/errors.ts';
import type { EngineOptions } from '../engine/options.ts';
import { createRestateWorker, type RestateWorker, type WorkerOptions } from '../engine/restate/worker.ts';
import type { ProjectConfig } from './config.ts';

export function openWorker(
  engineOptions: EngineOptions,
  { cluster }: ProjectConfig,
  options: Omit<WorkerOptions, 'engineOptions' | 'address'>,
): RestateWorker {
  if (cluster === undefined)
    throw new TroupeError('config', 'This project has no cluster: its runs are worked on by whoever starts them.', {
      fix: 'Name one in troupe.yaml, such as engine: restate+http://127.0.0.1:8080, or try one: troupe cluster up',
    });
  return createRestateWorker({ ...options, engineOptions, address: cluster });
}
