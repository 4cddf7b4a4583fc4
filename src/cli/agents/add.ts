/**
 * `troupe agents add`: checks a file as it would be once it is there, then puts it into the project's `agents/` or the user's; an
 * address is that of a card, from which the file is written.
 */
import { type CommandContext, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { readAgentFiles } from './files.ts';
import { checkGivenAgent } from './given-agent.ts';
import { type AgentsAddOptions, freePlace, placeFor, printAdded, putAgent } from './put-agent.ts';

export async function agentsAddCommand(context: CommandContext, file: string, options: AgentsAddOptions): Promise<ExitCode> {
  if (isAddress(file)) return await (await import('./add-card.ts')).agentsAddCardCommand(context, file, options);
  const unfit = (['pin', 'tokenEnv', 'plain'] as const).find((name) => options[name] !== undefined);
  if (unfit !== undefined)
    throw usageError(
      `${ONLY_CARDS[unfit]} is for the address of a card, and ${file} is a file`,
      'leave it out, or give an address',
    );
  const files = await readAgentFiles(context);
  const origin = placeFor(options);
  const { agent, text } = await checkGivenAgent(context, files, { file, origin, name: options.name });
  const source = await freePlace(files, agent.definition.name, options);
  printAdded(context, await putAgent(context, files, { agent, text, source, origin }), options);
  return exitCodes.completed;
}

const ONLY_CARDS = { pin: '--pin', tokenEnv: '--token-env', plain: '--plain' };

/** Of anything that is asked over a network, not only of what can be. */
const isAddress = (text: string): boolean => /^[a-z][a-z0-9+.-]+:\/\//i.test(text);
