/** What a person thinks is read, and is not: said before a run that may miss it. */
import { DOT_ENV, type ProjectConfig } from '../../project/config.ts';
import type { CommandContext } from '../terminal/command.ts';

export function sayPassedOver({ terminal: { progress } }: CommandContext, { dotEnvProblem, dotEnvHeld }: ProjectConfig): void {
  const warn = (text: string): void => progress.line(`${progress.paint.yellow('warning')}: ${text}`);
  if (dotEnvProblem !== undefined) warn(`${DOT_ENV} ${dotEnvProblem}: no key is taken from it`);
  for (const held of dotEnvHeld ?? []) warn(`${heldKeyText(DOT_ENV, held)}. ${heldKeyFix(held)}`);
}

type Held = NonNullable<ProjectConfig['dotEnvHeld']>[number];

/** A key that would go to another server than the one that stands beside it. */
export const heldKeyText = (file: string, { key, address }: Held): string =>
  `${file} names ${address}, and no address is taken from a file: ${key} beside it is not taken either`;

export const heldKeyFix = ({ address }: Held): string =>
  `Set ${address} in the environment, or name the server under \`providers\` in troupe.yaml`;
