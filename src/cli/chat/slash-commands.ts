/** What begins with a stroke: said to the chat itself and not to the agent. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { nearest } from '../../base/did-you-mean.ts';
import { TroupeError } from '../../base/errors.ts';
import { latestStanding } from '../../engine/record/past.ts';
import { defaultModel } from '../../front/project/models.ts';
import { costCommand } from '../commands/cost.ts';
import { askAboutServers } from '../commands/run.ts';
import { findAgent } from '../drive/find-agent.ts';
import { whyCommand } from '../questions/why.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { padToWidth } from '../terminal/text-width.ts';
import type { Chat } from './conversation.ts';
import { type ChatDraft, draftText } from './draft.ts';
import { resume } from './resume.ts';
import { complain, endUnfinished } from './say.ts';
import { undo } from './undo.ts';

interface SlashCommand {
  readonly name: string;
  readonly takes?: string;
  readonly about: string;
  readonly act: (chat: Chat, argument: string) => Promise<void>;
}

export const slashCommands: readonly SlashCommand[] = [
  { name: 'model', takes: '[name]', about: 'which model answers, and why; or another for the next messages', act: chooseModel },
  { name: 'agent', takes: '[name]', about: 'who answers; or another for the next messages', act: chooseAgent },
  { name: 'cost', about: 'what this conversation has cost', act: (chat) => look(chat, costCommand, chat.session) },
  { name: 'why', about: 'from the last answer back to what you said', act: whyLast },
  { name: 'undo', about: 'leave the last exchange out', act: undo },
  { name: 'compact', about: 'begin the next message with what was said before condensed', act: compact },
  { name: 'resume', takes: '[run]', about: 'go on with what was cut off, waits or failed outside', act: resume },
  { name: 'stop', about: 'end what is unfinished', act: stop },
  { name: 'help', about: 'this list', act: help },
  { name: 'exit', about: 'leave; Ctrl-D does too', act: leave },
];

/** The command that was typed, if it is one: never what was pasted, and no path. */
export function slashCommandIn({ cells }: ChatDraft): { readonly name: string; readonly argument: string } | undefined {
  if (cells.some(({ text, pasted }, index) => text === '\n' || (pasted && index === 0))) return undefined;
  const [, name, argument = ''] = /^\/([^\s/]*)(?:\s+(.*))?$/.exec(draftText({ cells })) ?? [];
  return name === undefined ? undefined : { name, argument: argument.trim() };
}

export async function doSlashCommand(chat: Chat, name: string, argument: string): Promise<void> {
  const command = slashCommands.find((one) => one.name === name.toLowerCase());
  try {
    if (command !== undefined) return await command.act(chat, argument);
  } catch (error) {
    if (!(error instanceof TroupeError)) throw error;
    return complain(chat, { message: error.message, fix: error.fix });
  }
  const near = nearest(
    name,
    slashCommands.map((one) => one.name),
  );
  complain(chat, {
    message: `There is no command /${name}`,
    fix: `${near === undefined ? '/help lists them.' : `did you mean /${near}?`} To say it to the agent, begin with a space`,
  });
}

async function leave(chat: Chat): Promise<void> {
  chat.over = true;
}

async function help({ context: { terminal } }: Chat): Promise<void> {
  const { progress } = terminal;
  const names = slashCommands.map(({ name, takes }) => `/${name}${takes === undefined ? '' : ` ${takes}`}`);
  const width = Math.max(...names.map((name) => name.length));
  for (const [index, { about }] of slashCommands.entries())
    progress.prose(about, { head: `  ${padToWidth(names[index] ?? '', width)}  `, indent: width + 4 });
  const keys = ['Alt-Enter, Ctrl-J or \\ at the end: another line', '@path: sends a file along; Tab completes it'];
  for (const key of keys) progress.prose(key, { head: '  ', indent: 4 });
}

/** What the commands of the same name print, of this conversation. */
async function look(
  { context }: Chat,
  command: (context: Chat['context'], of: string, options: Record<string, never>) => Promise<unknown>,
  of: string | undefined,
): Promise<void> {
  if (of === undefined) context.terminal.progress.line('nothing was said yet');
  else await command(context, of, {});
}

/** What was left out is no answer any more. */
async function whyLast(chat: Chat): Promise<void> {
  const { project, session, seen, agent } = chat;
  const [gone] =
    session === undefined || seen === undefined
      ? []
      : await project.ledger.read({ session, run: seen, types: ['run.withdrawn', 'run.reopened'], newest: true, limit: 1 });
  const isLeftOut = session !== undefined && gone?.event_type === 'run.withdrawn';
  await look(chat, whyCommand, isLeftOut ? await latestStanding(project.ledger, session, agent) : seen);
}

async function chooseModel(chat: Chat, name: string): Promise<void> {
  const { context, project } = chat;
  const { progress } = context.terminal;
  const { remote, executor } = (await definitionOf(chat)) ?? {};
  if (remote !== undefined) return progress.prose(`${safeLine(chat.agent)} lives elsewhere and has models of its own`);
  if (executor !== undefined)
    return progress.prose(
      `${safeLine(executor.name)} works for ${safeLine(chat.agent)}: its model is executor.model in its file`,
    );
  if (name === '') return progress.line(await modelAndWhy(chat));
  const opened = await project.models.open(name);
  if (!opened.ok) return complain(chat, { message: opened.error.message, fix: 'troupe models lists names' });
  chat.model = name;
  progress.line(`the next messages go to ${safeLine(name)}`);
}

async function definitionOf({ project, agent }: Chat): Promise<AgentDefinition | undefined> {
  const { agents } = await project.agents();
  return agents.find(({ definition }) => definition.name === agent)?.definition;
}

async function modelAndWhy(chat: Chat): Promise<string> {
  const { context, project, agent, model, options } = chat;
  if (model !== undefined) return `${safeLine(model)}, chosen with /model`;
  if (options.model !== undefined) return `${safeLine(options.model)}, named by --model`;
  const own = (await definitionOf(chat))?.models ?? [];
  if (own.length > 0) return `${safeLine(own.join(', '))}, named by the agent ${safeLine(agent)}`;
  const used = await defaultModel(context.clock, project.config, false);
  return used.ok ? `${safeLine(used.value.models.join(', '))}, ${safeLine(used.value.why)}` : safeLine(used.error);
}

async function chooseAgent(chat: Chat, name: string): Promise<void> {
  const { context, project, session } = chat;
  const { progress } = context.terminal;
  const files = { ...(await project.agents()), root: project.root, variables: Object.keys(project.config.vars) };
  if (name === '') {
    const names = files.agents.map(({ definition }) => safeLine(definition.name)).join(', ');
    return progress.line(`${safeLine(chat.agent)} answers; there are: ${names}`);
  }
  const { definition } = await findAgent(files, name);
  await askAboutServers(context, project, files.agents, definition);
  chat.agent = definition.name;
  chat.model = undefined;
  const known = session === undefined ? undefined : await latestStanding(project.ledger, session, definition.name);
  const knows =
    known === undefined ? 'it does not know what was said to others here' : 'it goes on with what was said to it here';
  progress.prose(`the next messages go to ${safeLine(definition.name)}; ${knows}`);
}

async function compact(chat: Chat): Promise<void> {
  const { project, session, agent } = chat;
  const before = session === undefined ? undefined : await latestStanding(project.ledger, session, agent);
  chat.condense = before !== undefined;
  const { progress } = chat.context.terminal;
  if (before === undefined) progress.line('there is nothing to condense yet');
  else progress.prose('the next message begins with what was said before condensed; the originals stay in the ledger');
}

async function stop(chat: Chat): Promise<void> {
  const { progress } = chat.context.terminal;
  const ended = await endUnfinished(chat);
  if (ended !== undefined) progress.line('ended; the conversation goes on from here');
  else progress.line('nothing is unfinished');
}
