/** `troupe chat`: a conversation in the terminal. Every message is a run of its own, so nothing is lost with the process. */
import { shortId } from '../../base/ids.ts';
import type { RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { firstLine } from '../../projections/readable.ts';
import { askAboutServers, requireFolder } from '../commands/run.ts';
import { agentFileOf, findAgent } from '../drive/find-agent.ts';
import { conversations, findSession, NO_CONVERSATION } from '../drive/find-session.ts';
import { printReport } from '../drive/finish-run.ts';
import { sayClosed, sayPassedOver } from '../drive/passed-over.ts';
import { type CommandContext, callOf, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { completeDraft } from './complete-draft.ts';
import { type Chat, type ChatOptions, saidBefore, standingNow, startOfRun, typedText } from './conversation.ts';
import { draftText, emptyDraft } from './draft.ts';
import { type Read, readMessage } from './editor.ts';
import { CHAT_PROMPT } from './layout.ts';
import { complain, goOnWith, notNow, say, showMeanwhile } from './say.ts';
import { doSlashCommand, slashCommandIn, slashCommands } from './slash-commands.ts';
import { createTyping } from './typing.ts';

const SHOWN_CHARACTERS = 200;

export async function chatCommand(context: CommandContext, agent: string | undefined, options: ChatOptions): Promise<ExitCode> {
  const { terminal } = context;
  if (!terminal.interactive || !terminal.animated)
    throw usageError(
      'A chat needs a terminal to type at and to draw on',
      'say one thing at a time: troupe run <agent> "…", then troupe run --continue "…"',
    );
  const agentFile = agent === undefined ? undefined : await agentFileOf(context.cwd, agent);
  const { model, maxTurns, workspace, var: vars, notify } = options;
  return withProject(context, { flags: { model, maxTurns, workspace, vars, agentFile, notify } }, async (project) => {
    const before = await goesOnFrom(project, options);
    const leaving = new AbortController();
    const chat = await openChat(context, project, { agent, agentFile, before, options, leaving: leaving.signal });
    const stop = terminal.onStop((signal) => {
      if (signal === 'SIGINT') return chat.typing.push({ kind: 'key', name: 'interrupt' });
      // What is under way is recorded and given back: it can be resumed.
      leaving.abort();
      void project.engine.close();
    });
    try {
      await greet(chat, before);
      chat.typing.take();
      await talk(chat);
    } finally {
      chat.typing.letGo();
      stop();
    }
    if (chat.session !== undefined)
      terminal.progress.prose(`to come back: ${callOf(context)} chat --session ${shortId(chat.session)}`);
    return leaving.signal.aborted ? exitCodes.interrupted : exitCodes.completed;
  });
}

async function goesOnFrom({ ledger }: Project, options: ChatOptions): Promise<RunRow | undefined> {
  if (options.session !== undefined) return await findSession(ledger, options.session);
  if (options.continue !== true) return undefined;
  const newest = await newestConversation(ledger);
  if (newest === undefined) throw usageError(NO_CONVERSATION, 'begin one: troupe chat <agent>');
  return newest;
}

async function newestConversation(ledger: Project['ledger']): Promise<RunRow | undefined> {
  for await (const [newest] of conversations(ledger)) return newest;
  return undefined;
}

interface Opening extends Pick<Chat, 'options' | 'leaving'> {
  readonly agent: string | undefined;
  readonly agentFile: string | undefined;
  readonly before: RunRow | undefined;
}

async function openChat(context: CommandContext, project: Project, opening: Opening): Promise<Chat> {
  const { agent: named, agentFile, before, options, leaving } = opening;
  const { ledger, config } = project;
  const files = { ...(await project.agents()), root: project.root, variables: Object.keys(config.vars) };
  const names = files.agents.filter(({ disabled }) => !disabled).map(({ definition }) => definition.name);
  const word = named ?? before?.agent ?? (names.length === 1 ? names[0] : await lastTalkedTo(project, names));
  if (word === undefined)
    throw usageError(
      'Which agent do you want to talk to?',
      `name it: troupe chat <agent>; there are: ${names.join(', ') || 'none'}`,
    );
  const { definition } = await findAgent(files, word, agentFile);
  await requireFolder(config.workspace);
  sayPassedOver(context, config);
  if (options.model === undefined)
    sayClosed(
      context,
      config,
      files.agents.map(({ definition }) => definition),
      definition,
    );
  await askAboutServers(context, project, files.agents, definition);
  const started = before === undefined ? undefined : await startOfRun(ledger, before);
  const typing = createTyping(context.terminal.keys);
  return {
    context: askingWithout(context, typing),
    ...{ project, options, typing, leaving },
    agent: definition.name,
    // What was chosen with /model goes with the conversation, unless another agent or model is named now.
    model: named === undefined && options.model === undefined ? started?.model : undefined,
    session: before?.session,
    seen: before?.run,
    unanswered: before?.endedAt === null ? before.run : undefined,
    condense: false,
    over: false,
    draft: emptyDraft,
    history: await saidBefore(ledger),
  };
}

/** Of several agents the one that was talked to last. */
async function lastTalkedTo({ ledger }: Project, names: readonly string[]): Promise<string | undefined> {
  const newest = await newestConversation(ledger);
  return newest !== undefined && names.includes(newest.agent) ? newest.agent : undefined;
}

/** Whoever asks a person reads the keyboard themselves. */
function askingWithout(context: CommandContext, typing: Chat['typing']): CommandContext {
  const { terminal } = context;
  const without = <Value>(work: () => Promise<Value>): Promise<Value> => {
    typing.letGo();
    return work().finally(() => typing.take());
  };
  const ask: typeof terminal.ask = (question, options) => without(() => terminal.ask(question, options));
  const edit: typeof terminal.edit = (draft) => {
    typing.letGo();
    const editing = terminal.edit(draft);
    if (editing === undefined) typing.take();
    return editing?.finally(() => typing.take());
  };
  return { ...context, terminal: { ...terminal, ask, edit } };
}

async function greet(chat: Chat, before: RunRow | undefined): Promise<void> {
  const { terminal } = chat.context;
  const { progress } = terminal;
  const { bold, dim } = progress.paint;
  progress.line(`${bold(safeLine(chat.agent))} ${dim('listens; /help says what else there is, Ctrl-D leaves')}`);
  if (before === undefined) return progress.line();
  const { ledger } = chat.project;
  const started = await startOfRun(ledger, before);
  if (started !== undefined) progress.line(`\n${CHAT_PROMPT}${firstLine(safeLine(typedText(started)), SHOWN_CHARACTERS)}\n`);
  const { session, run } = before;
  const [ended] = await ledger.read({ session, run, types: ['run.ended'], newest: true, limit: 1 });
  if (ended?.event_type === 'run.ended') await printReport(chat.context, ended.payload.report);
  await tellStanding(chat);
  progress.line();
}

async function tellStanding(chat: Chat): Promise<void> {
  const { progress } = chat.context.terminal;
  const standing = await standingNow(chat);
  if (standing.kind === 'held') progress.prose(`${notNow(standing).message}; what it says is shown when you speak`);
  if (standing.kind === 'unfinished')
    progress.prose(`this has no answer yet (${standing.state}): an empty line goes on with it, /stop ends it`);
}

async function talk(chat: Chat): Promise<void> {
  const { context, project, typing, history } = chat;
  const { keys, progress: screen } = context.terminal;
  const names = {
    workspace: project.config.workspace,
    commands: slashCommands.map(({ name }) => name),
    agents: async () => (await project.agents()).agents.map(({ definition }) => definition.name),
  };
  const { clock } = context;
  const parts = { typing, keys, screen, clock, history, complete: (draft: Chat['draft']) => completeDraft(draft, names) };
  while (!chat.over && !chat.leaving.aborted) {
    const read = await readMessage(parts, chat.draft, chat.leaving);
    chat.draft = emptyDraft;
    if (read.kind === 'left') return;
    await answer(chat, read);
    if (read.kind === 'said') screen.line();
  }
}

async function answer(chat: Chat, read: Exclude<Read, { readonly kind: 'left' }>): Promise<void> {
  if (read.kind === 'nothing' || draftText(read.draft).trim() === '') {
    await showMeanwhile(chat);
    const standing = await standingNow(chat);
    if (standing.kind === 'free') return;
    if (standing.kind === 'held') complain(chat, notNow(standing));
    else await goOnWith(chat, standing.row);
    return chat.context.terminal.progress.line();
  }
  const command = slashCommandIn(read.draft);
  if (command !== undefined) return await doSlashCommand(chat, command.name, command.argument);
  await say(chat, read.draft);
}
