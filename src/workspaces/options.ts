/** What everything here needs of the world around it. */
import type { Clock } from '../base/clock.ts';
import type { Environment } from '../base/environment.ts';
import type { Ids } from '../base/ids.ts';

export interface WorkspaceOptions {
  /** Where the project keeps its state; worktrees lie in there. */
  readonly home: string;
  readonly environment: Environment;
  readonly clock: Clock;
  readonly ids: Pick<Ids, 'nonce'>;
  /** Called between every two effects on the disk, by its name. A test that throws there has cut the power. */
  readonly between?: ((effect: string) => void) | undefined;
}
