/** What a run of a driven session writes with. */
import type { SessionId } from '../../base/ids.ts';
import type { DrivenRun } from './driven-run.ts';
import type { SessionWriter } from './writer.ts';

export interface Writes {
  readonly session: SessionId;
  readonly writer: SessionWriter;
  /** Throws when work must stop here: paused, closed, lease lost. Called before everything that has an effect. */
  checkpoint(node: DrivenRun): void;
}
