/** What a person thinks is read or can be asked, and is not: said before a run that may miss it. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { closedBelow } from '../../front/project/closed-models.ts';
import { DOT_ENV, type ProjectConfig } from '../../project/config.ts';
import type { CommandContext } from '../terminal/command.ts';
import { safeLine } from '../terminal/safe-text.ts';

export function sayPassedOver({ terminal: { progress } }: CommandContext, { dotEnvProblem, dotEnvHeld }: ProjectConfig): void {
  const warn = (text: string): void => progress.line(`${progress.paint.yellow('warning')}: ${text}`);
  if (dotEnvProblem !== undefined) warn(`${DOT_ENV} ${dotEnvProblem}: no key is taken from it`);
  for (const held of dotEnvHeld ?? []) warn(`${heldKeyText(DOT_ENV, held)}. ${heldKeyFix(held)}`);
}

/** Who could ask no model, of everybody that the agent may come to: before anything is paid for. */
export function sayClosed(
  { terminal: { progress } }: CommandContext,
  { keyEnv: env, providers }: ProjectConfig,
  agents: readonly AgentDefinition[],
  first: AgentDefinition,
): void {
  for (const { agent, namedBy, problem } of closedBelow(first, agents, { env, providers })) {
    const whose =
      namedBy === undefined
        ? `with which ${safeLine(agent)} chooses`
        : `of ${safeLine(agent)}, which ${safeLine(namedBy.agent)} names as ${namedBy.as},`;
    progress.prose(`no model ${whose} can be asked from this shell: ${safeLine(problem)}`, {
      head: `${progress.paint.yellow('warning')}: `,
      indent: 2,
    });
  }
}

type Held = NonNullable<ProjectConfig['dotEnvHeld']>[number];

/** A key that would go to another server than the one that stands beside it. */
export const heldKeyText = (file: string, { key, address }: Held): string =>
  `${file} names ${address}, and no address is taken from a file: ${key} beside it is not taken either`;

export const heldKeyFix = ({ address }: Held): string =>
  `Set ${address} in the environment, or name the server under \`providers\` in troupe.yaml`;
