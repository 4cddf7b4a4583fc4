/** `troupe groups send|pause|resume|stop`: talking to a group. Every prompt goes through the same function. */

import { TroupeError } from '../../base/errors.ts';
import { type RunId, type SessionId, shortId } from '../../base/ids.ts';
import type { Result } from '../../base/result.ts';
import { counted } from '../../base/wording.ts';
import type { RunEnd } from '../../engine/port.ts';
import type { Failure } from '../../events/catalogue.ts';
import { signalSavedGroup } from '../../front/groups/group-acts.ts';
import { findGroup } from '../../groups/groups.ts';
import { readOrganisation } from '../../groups/organisation.ts';
import { activeRun, queueOf, type SentPrompt, type Standing, sendToGroup, takePauseBack } from '../../groups/send.ts';
import type { Project } from '../../project/project.ts';
import type { SavedGroup } from '../../projections/groups.ts';
import { hearFor } from '../drive/finish-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { readPrompt } from '../terminal/read-prompt.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { type DriveOptions, drainQueue, driveHandle } from './queue.ts';
import { resumeRun } from './resume.ts';

export interface SendOptions extends DriveOptions {
  readonly member?: string | undefined;
  readonly model?: string | undefined;
}

export interface StopOptions extends JsonOption {
  readonly all?: boolean | undefined;
}

export async function groupsSendCommand(
  context: CommandContext,
  name: string,
  argument: string | undefined,
  options: SendOptions,
): Promise<ExitCode> {
  const text = await readPrompt(context.terminal, argument);
  return withProject(context, { flags: { model: options.model } }, async (project) => {
    const heard = hearFor(context, project, options);
    const sent = must(await sendToGroup(project.groups, name, { text, member: options.member }));
    if (sent.kind === 'started') {
      const { code, end } = await driveHandle(context, project, { handle: sent.handle, heard }, options, true);
      if (end.kind === 'ended') await drainQueue(context, project, sent.handle.session, quietly(options));
      return code;
    }
    if (sent.handle === undefined) {
      heard.close();
      return sayQueued(context, name, sent, options);
    }
    // Prompts of somebody who is gone come first; this process works on them, and on its own in its turn.
    const { end } = await driveHandle(context, project, { handle: sent.handle, heard }, quietly(options), false);
    const code = end.kind === 'ended' ? await drainQueue(context, project, sent.handle.session, options, sent.prompt) : undefined;
    return code ?? sayQueued(context, name, { ...sent, standing: STANDING_AFTER[end.kind] }, options);
  });
}

/** The result of the command is that of its own prompt. */
const quietly = (options: SendOptions): DriveOptions => ({ ...options, json: false, jsonl: false });

function sayQueued(
  context: CommandContext,
  name: string,
  sent: Extract<SentPrompt, { kind: 'queued' }>,
  options: JsonOption,
): ExitCode {
  const { prompt, before, run, standing } = sent;
  if (options.json) {
    printJson(context, 'groups send', { queued: true, prompt, before, run: run ?? null, standing, live: standing === 'working' });
    return exitCodes.completed;
  }
  const { out, progress } = context.terminal;
  out.prose(`queued: ${name} ${STANDINGS[standing]}, ${before} before this one; its run will be ${prompt}`);
  const call = callOf(context);
  if (standing === 'paused') progress.line(`go on with: ${call} groups resume "${name}"`);
  if (run === undefined || standing === 'paused') return exitCodes.completed;
  if (standing === 'working') progress.line(`watch: ${call} logs -f ${shortId(run)}`);
  else if (standing === 'waiting') progress.prose(`see what it asks, and answer: ${call} show ${shortId(run)}`);
  else progress.line(`go on with: ${call} groups resume "${name}"`);
  return exitCodes.completed;
}

/** How the group stands when this process has worked for it and could not get to its own prompt. */
const STANDING_AFTER: Readonly<Record<RunEnd['kind'], Standing>> = {
  ended: 'working',
  waiting: 'waiting',
  paused: 'paused',
  parked: 'left',
  interrupted: 'left',
  lost: 'working',
};

const STANDINGS: Readonly<Record<Standing, string>> = {
  working: 'is busy',
  waiting: 'waits for an answer',
  paused: 'is paused',
  left: 'was left by its process',
};

export async function groupsResumeCommand(context: CommandContext, name: string, options: DriveOptions): Promise<ExitCode> {
  return withProject(context, {}, async (project) => {
    const session = (await groupNamed(project, name)).session as SessionId;
    const active = await activeRun(project.groups, session);
    if (active !== undefined) return resumeRun(context, project, active, options);
    await takePauseBack(project.groups, session);
    const waiting = await queueOf(project.groups, session);
    const last = waiting.at(-1)?.prompt;
    if (last === undefined) {
      if (options.json) printJson(context, 'groups resume', { group: name, state: 'idle' });
      else context.terminal.out.line(`${safeLine(name)} has nothing to go on with`);
      return exitCodes.completed;
    }
    return (await drainQueue(context, project, session, options, last as RunId)) ?? exitCodes.completed;
  });
}

export async function groupsSignalCommand(
  context: CommandContext,
  signal: 'pause' | 'cancel',
  name: string,
  options: StopOptions,
): Promise<ExitCode> {
  return withProject(context, {}, async (project) => {
    const reason = `${signal} from the command line`;
    const value = must(await signalSavedGroup(project, name, signal, { reason, all: options.all === true }));
    const { run, live, dropped, queued } = value;
    if (options.json) {
      printJson(context, signal === 'pause' ? 'groups pause' : 'groups stop', value);
      return exitCodes.completed;
    }
    const { out } = context.terminal;
    const verb = signal === 'pause' ? 'pause' : 'stop';
    if (run === null) out.line(`${safeLine(name)} works on nothing`);
    else
      out.line(
        live
          ? `asked ${safeLine(name)} to ${verb} (${run})`
          : `${safeLine(name)}: ${run} is ${verb === 'stop' ? 'cancelled' : 'paused'}`,
      );
    if (dropped > 0) out.line(`${counted(dropped, 'prompt')} dropped`);
    if (queued > 0 && signal === 'cancel') sayWhatIsLeft(context, name, queued, live);
    return exitCodes.completed;
  });
}

/** A stop is for what is under way. Whoever works on the group goes on with the next prompt; where nobody does, it waits. */
function sayWhatIsLeft(context: CommandContext, name: string, queued: number, live: boolean): void {
  const call = callOf(context);
  const { progress } = context.terminal;
  const [prompts, them] = [counted(queued, 'prompt'), queued === 1 ? 'it' : 'them'];
  if (live) progress.prose(`${prompts} still in the queue: whoever works on the group goes on with ${them}`);
  else progress.prose(`${prompts} still in the queue; go on with ${them}: ${call} groups resume "${safeLine(name)}"`);
  progress.prose(`to drop ${them}: ${call} groups stop "${safeLine(name)}" --all`);
}

async function groupNamed({ ledger }: Project, name: string): Promise<SavedGroup> {
  return must(findGroup(await readOrganisation(ledger), name));
}

export function must<Value>(result: Result<Value, Failure>): Value {
  if (result.ok) return result.value;
  const { code, message, fix } = result.error;
  throw new TroupeError(code, message, { fix });
}
