/**
 * One session of a connection: what the client has chosen for its next prompt, and the prompt that is being answered. What was
 * said is in the ledger; a session is a session there, and each prompt goes on with the run before it.
 */
import type { ContentBlock, PromptResponse } from '@agentclientprotocol/sdk';
import type { RunId, SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { RunHandle } from '../../engine/port.ts';
import { textOf, type UserMessage } from '../../events/messages.ts';
import { type HeardPieces, hear } from '../../library/hear.ts';
import { firstLine } from '../../projections/readable.ts';
import { messageIn } from '../acp-wire/content-in.ts';
import { acpError } from '../acp-wire/errors.ts';
import { nothingSpent, type Spent } from '../acp-wire/spent.ts';
import { goOn } from './begin.ts';
import type { AcpClient } from './client.ts';
import type { AcpNeeds, AcpProject, Choices } from './needs.ts';
import { askClientAboutServers } from './servers-in.ts';
import { type TurnNeeds, takePrompt } from './turn.ts';

export interface SessionStart {
  readonly needs: AcpNeeds;
  readonly client: AcpClient;
  readonly project: AcpProject;
  readonly id: SessionId;
  readonly cwd: string;
  readonly chosen: Choices;
  /** What the session has cost so far, in billionths of a dollar. */
  readonly nanoUsd: number;
  /** Somebody has spoken in it before. */
  readonly begun: boolean;
  /** Aborts when the client has gone, or we are to stop. */
  readonly leaving: AbortSignal;
}

export interface AcpSession extends Pick<SessionStart, 'id' | 'cwd' | 'project'> {
  readonly chosen: Choices;
  /** The run that is at work on a prompt. */
  working(): RunId | undefined;
  isBusy(): boolean;
  prompt(blocks: readonly ContentBlock[]): Promise<PromptResponse>;
  /** Ends what is being answered, or what was left unfinished. */
  cancel(): Promise<void>;
}

interface Now {
  busy: boolean;
  cancelled: boolean;
  run: RunId | undefined;
  titled: boolean;
  nanoUsd: number;
  /** What was told of the run that came last. */
  told: { readonly run: RunId; readonly spent: Spent } | undefined;
}

const CANCELLED: PromptResponse = { stopReason: 'cancelled' };

export function createAcpSession(start: SessionStart): AcpSession {
  const { project, id, cwd, chosen } = start;
  const now: Now = {
    busy: false,
    cancelled: false,
    run: undefined,
    titled: start.begun,
    nanoUsd: start.nanoUsd,
    told: undefined,
  };
  return {
    ...{ id, cwd, project, chosen },
    working: () => now.run,
    isBusy: () => now.busy,
    async prompt(blocks) {
      if (now.busy)
        throw acpError({
          code: 'busy',
          message: 'This session is answering a prompt already.',
          fix: 'Wait until it is done, or cancel it: session/cancel.',
        });
      now.busy = true;
      now.cancelled = false;
      try {
        return await answered(start, now, blocks);
      } finally {
        now.busy = false;
        now.run = undefined;
      }
    },
    async cancel() {
      now.cancelled = true;
      const run = now.run ?? (now.busy ? undefined : await unfinished(start));
      if (run !== undefined) await project.engine.cancel(run, CANCEL);
    },
  };
}

const CANCEL = 'the client cancelled it';

async function unfinished({ project, id }: SessionStart): Promise<RunId | undefined> {
  const [newest] = await project.ledger.runs({ session: id, roots: true, limit: 1 });
  return newest === undefined || newest.endedAt !== null ? undefined : newest.run;
}

async function answered(start: SessionStart, now: Now, blocks: readonly ContentBlock[]): Promise<PromptResponse> {
  const { needs, project, id } = start;
  const message = messageIn(blocks, needs.ids.nonce());
  if (!message.ok) throw acpError({ code: 'usage', message: `${message.error}.` });
  const { agent, input } = await addressed(start, message.value);
  project.answers(id, agent, start.chosen.model);
  await askClientAboutServers(start, agent, () => now.cancelled);
  if (now.cancelled) return CANCELLED;
  tellTitle(start, now, input);
  const heard = hear(project.engine, true);
  try {
    return await played(start, now, agent, input, heard);
  } finally {
    heard.close();
  }
}

async function played(
  start: SessionStart,
  now: Now,
  agent: string,
  input: UserMessage,
  heard: HeardPieces,
): Promise<PromptResponse> {
  const { needs, project, client, id } = start;
  const before = await goOn(start, input);
  const handle = before ?? (await begin(start, agent, input));
  now.run = handle.run;
  if (now.cancelled) await project.engine.cancel(handle.run, CANCEL);
  const told = now.told?.run === handle.run ? now.told.spent : nothingSpent;
  const turn: TurnNeeds = {
    ...{ project, client, clock: needs.clock, workspace: start.cwd, leaving: start.leaving },
    ...{ mode: () => start.chosen.mode, before: now.nanoUsd, told, heard },
  };
  const { response, spent, added } = await takePrompt(turn, handle, before === undefined ? 'start' : 'now');
  now.told = { run: handle.run, spent };
  now.nanoUsd += added.nanoUsd;
  client.update(id, { sessionUpdate: 'session_info_update', updatedAt: new Date(needs.clock.now()).toISOString() });
  return response;
}

/** A prompt that begins with `/name` is for that agent, and only this one prompt. */
async function addressed(
  { project, chosen }: SessionStart,
  message: UserMessage,
): Promise<{ readonly agent: string; readonly input: UserMessage }> {
  const [first, ...rest] = message.content;
  const own = { agent: chosen.agent, input: message };
  if (first?.type !== 'text' || !first.text.startsWith('/')) return own;
  const [, name = '', text = ''] = /^\/(\S+)\s+([\s\S]+)$/.exec(first.text) ?? [];
  if (name === '' || !(await project.agents()).some((agent) => agent.name === name)) return own;
  return { agent: name, input: { ...message, content: [{ type: 'text', text }, ...rest] } };
}

function tellTitle({ client, id }: SessionStart, now: Now, input: UserMessage): void {
  if (now.titled) return;
  now.titled = true;
  const title = firstLine(textOf(input.content), limits.acpTitleCharacters);
  if (title !== '') client.update(id, { sessionUpdate: 'session_info_update', title });
}

async function begin({ project, client, id, cwd, chosen }: SessionStart, agent: string, input: UserMessage): Promise<RunHandle> {
  const mode = chosen.mode === 'ask' ? undefined : chosen.mode;
  const origin = { kind: 'person', client: client.name, ...present({ mode }) } as const;
  const request = { agent, input, session: id, workspace: cwd, origin, model: chosen.model };
  const started = await project.engine.start(request);
  if (started.kind === 'refused') throw acpError(started.error);
  return started.handle;
}
