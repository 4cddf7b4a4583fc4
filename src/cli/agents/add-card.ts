/**
 * `troupe agents add <address of a card>`: shows who is there, asks, and writes the agent's file from the card. What the card
 * says goes into the file once, as it was shown; later cards change nothing in it.
 */
import { nameProblem } from '../../agents/definition/agent-name.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { TroupeError } from '../../base/errors.ts';
import { checkedUrl } from '../../network/follow.ts';
import { keepsNoCards } from '../../peers/cards/kept-cards.ts';
import type { ReadCard } from '../../peers/cards/port.ts';
import { readCard } from '../../peers/cards/read-card.ts';
import { peerEnvironment } from '../../project/lazy-peers.ts';
import { impossiblePeer } from '../../project/servers/allowed-peers.ts';
import { createDeclaredServers } from '../../project/servers/declared-servers.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

import { approvalOf } from './allow.ts';
import { cardFileText, nameFromCard } from './card-file.ts';
import { type CardLogin, loginOf } from './card-login.ts';
import { type AgentFilesHere, readAgentFiles, settingsOf } from './files.ts';
import { checkAgentText } from './given-agent.ts';
import { type AgentsAddOptions, freePlace, placeFor, printAdded, putAgent } from './put-agent.ts';
import { loginText, showCard } from './shown-card.ts';

export async function agentsAddCardCommand(context: CommandContext, word: string, options: AgentsAddOptions): Promise<ExitCode> {
  const { terminal } = context;
  const address = addressOf(word);
  refuseOptions(context, options);
  const files = await readAgentFiles(context);
  await refuseImpossible(context, address, options.tokenEnv);
  const token = await tokenOf(context, options.tokenEnv);
  const read = await readOrRefuse(context, address, token, options);
  const name = (options.name ?? nameFromCard(read.card, address)).normalize('NFC');
  const source = await freePlace(files, name, options);
  showCard(context, address.href, read);
  if (!(await agreed(context, source, options))) {
    terminal.progress.line('nothing was written');
    return exitCodes.interrupted;
  }
  const { agent, text } = await written(files, read, { name, address, options, source });
  const added = await putAgent(context, files, { agent, text, source, origin: placeFor(options) });
  await allowed(context, agent, options);
  const warnings = [...added.warnings, ...loginWarnings(read, token, options)];
  printAdded(context, { ...added, warnings }, options);
  if (!options.json) terminal.progress.line(`try it: ${callOf(context)} run ${safeLine(name)} "…"`);
  return exitCodes.completed;
}

function addressOf(word: string): URL {
  const checked = checkedUrl(word);
  if (checked.ok) return checked.value;
  throw usageError(checked.error, 'give the address of a card, such as https://agents.example/.well-known/agent-card.json');
}

/** Before anything is asked over the network. */
function refuseOptions({ terminal }: CommandContext, { name, yes, tokenEnv }: AgentsAddOptions): void {
  const problem = name === undefined ? undefined : nameProblem(name.normalize('NFC'));
  if (problem !== undefined) throw usageError(`The name "${name}" ${problem}`, 'choose another --name');
  if (tokenEnv !== undefined && !/^[A-Za-z_][A-Za-z0-9_]*$/.test(tokenEnv))
    throw usageError(
      `"${tokenEnv}" is not the name of a variable`,
      'the token itself is not given here: --token-env WEATHER_TOKEN',
    );
  if (yes !== true && !terminal.interactive)
    throw usageError('Nobody is here to be asked about the card', 'to add it without being asked: --yes');
}

async function refuseImpossible(context: CommandContext, address: URL, variable: string | undefined): Promise<void> {
  const remote = { card: address.href, ...(variable === undefined ? {} : { token: `\${${variable}}` }) };
  const never = impossiblePeer(remote, await settingsOf(context));
  if (never !== undefined) throw usageError(never.message, never.fix);
}

/** Whoever named the variable and saw where it goes has allowed it. */
async function allowed(context: CommandContext, { definition }: LoadedAgent, { yes }: AgentsAddOptions): Promise<void> {
  const { terminal, clock } = context;
  const declared = createDeclaredServers(await settingsOf(context), terminal.env);
  for (const one of await declared.open(definition)) {
    const kept = await declared.allow(one, approvalOf(terminal.env, clock.now(), yes === true));
    if (!kept.ok) throw new TroupeError('io', `What you allowed cannot be kept: ${kept.error}`);
  }
}

/** The value of the variable, here or in the project's `.env`; empty when it is not set yet. */
async function tokenOf(context: CommandContext, variable: string | undefined): Promise<string> {
  if (variable === undefined) return '';
  return peerEnvironment(await settingsOf(context))[variable] ?? '';
}

async function readOrRefuse(
  { clock }: CommandContext,
  address: URL,
  token: string,
  { pin, plain }: AgentsAddOptions,
): Promise<ReadCard> {
  // How the token is shown follows from the card, which may not come without it: most want it in this way.
  const headers: Readonly<Record<string, string>> = token === '' ? {} : { authorization: `Bearer ${token}` };
  const outcome = await readCard({ address, headers, plain, lookedAt: pin === true }, { clock, kept: keepsNoCards });
  if (outcome.state === 'read') return outcome;
  const { reason } = outcome;
  const message = reason.includes(address.href) ? reason : `${address.href}: ${reason}`;
  if (outcome.state === 'refused')
    throw new TroupeError('card', message, { fix: outcome.fix.replace('write `plain: true` under `a2a:`', 'say --plain') });
  throw new TroupeError('io', message, { fix: 'see whether it runs, and whether the address is right' });
}

async function agreed({ terminal }: CommandContext, source: string, { yes }: AgentsAddOptions): Promise<boolean> {
  if (yes === true) return true;
  const answer = await terminal.ask(`what it is given goes there. write ${safeLine(source)}? yes or no: `);
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}

interface ToWrite {
  readonly name: string;
  readonly address: URL;
  readonly options: AgentsAddOptions;
  readonly source: string;
}

async function written(files: AgentFilesHere, read: ReadCard, { name, address, options, source }: ToWrite) {
  const { card, hash } = read;
  const login =
    options.tokenEnv === undefined
      ? undefined
      : { variable: options.tokenEnv, how: loginOf(card) ?? ({ kind: 'token' } satisfies CardLogin) };
  const pin = options.pin === true ? hash : undefined;
  const plain = options.plain === true && login !== undefined;
  const text = cardFileText({ name, card, address: address.href, login, pin, plain });
  const agent = await checkAgentText(files, { file: `${name}.md`, origin: placeFor(options) }, source, text);
  return { agent, text };
}

function loginWarnings({ card }: ReadCard, token: string, { tokenEnv }: AgentsAddOptions): readonly string[] {
  const login = loginOf(card);
  if (tokenEnv !== undefined && token === '') return [`${tokenEnv} is not set yet: set it here or in .env`];
  if (login?.kind === 'other') return [`it wants ${loginText(card)}, which cannot be given`];
  if (login !== undefined && tokenEnv === undefined)
    return [`it wants ${loginText(card)}: put it into a variable and add the agent with --token-env NAME`];
  return [];
}
