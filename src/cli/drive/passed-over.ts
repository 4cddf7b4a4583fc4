/** What a person thinks is read, and is not: said before a run that may miss it. */
import { DOT_ENV, type ProjectConfig } from '../../project/config.ts';
import type { CommandContext } from '../terminal/command.ts';

export function sayPassedOver({ terminal: { progress } }: CommandContext, { dotEnvProblem }: ProjectConfig): void {
  if (dotEnvProblem === undefined) return;
  progress.line(`${progress.paint.yellow('warning')}: ${DOT_ENV} ${dotEnvProblem}: no key is taken from it`);
}
