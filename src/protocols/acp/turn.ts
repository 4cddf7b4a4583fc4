/**
 * One prompt: a run of the session, shown to the client as it happens, with its permissions and questions put to it, until it
 * comes to rest. Nothing of it lives here: whoever loads the session later finds all of it in the ledger.
 */
import type { PromptResponse, SessionUpdate } from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { OpenWait, RunEnd, RunHandle } from '../../engine/port.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { type Company, driveToRest } from '../../library/drive-to-rest.ts';
import { createFollower } from '../../library/follow.ts';
import type { HeardPieces } from '../../library/hear.ts';
import type { GivenAnswer } from '../../library/questions.ts';
import { restElsewhere } from '../../library/rest-elsewhere.ts';
import { acpError } from '../acp-wire/errors.ts';
import { answeringClient } from '../acp-wire/permission.ts';
import { createSpeech } from '../acp-wire/speech.ts';
import { nothingSpent, type Spent, spentBelow, spentSince, usageOf, usageUpdate, usdOf } from '../acp-wire/spent.ts';
import { promptEnd } from '../acp-wire/stop-reason.ts';
import { createUpdates, messageChunk } from '../acp-wire/updates.ts';
import type { AcpClient } from './client.ts';
import type { AcpMode, AcpNeeds, AcpProject } from './needs.ts';

export interface TurnNeeds extends Pick<AcpNeeds, 'clock'> {
  readonly project: AcpProject;
  readonly client: AcpClient;
  readonly workspace: string;
  /** As the session has it now: a client may change it while a run is at work. */
  mode(): AcpMode;
  /** Aborts when the client has gone, or we are to stop. */
  readonly leaving: AbortSignal;
  /** What was said since before the run began or went on. */
  readonly heard: HeardPieces;
  /** What the session had cost before, in billionths of a dollar. */
  readonly before: number;
  /** What was told of this run before: it goes on. */
  readonly told?: Spent | undefined;
}

export interface TurnEnd {
  readonly response: PromptResponse;
  /** All that this run has used so far. */
  readonly spent: Spent;
  /** What of that came with this prompt. */
  readonly added: Spent;
}

/** `from`: shows the run from its start, or only what comes from now on. Throws what the client is told as an error. */
export async function takePrompt(needs: TurnNeeds, handle: RunHandle, from: 'start' | 'now'): Promise<TurnEnd> {
  const { project, client, clock, leaving, told = nothingSpent } = needs;
  const { engine, ledger } = project;
  const { run, session } = handle;
  const tell = (update: SessionUpdate): void => client.update(session, update);
  const follower = createFollower(ledger, session);
  const speech = createSpeech(session, tell);
  needs.heard.to(speech.hear);
  const updates = createUpdates(run, needs.workspace);
  let window: number = limits.contextWindowTokens;
  const show = (event: LedgerEvent): void => {
    for (const update of updates.of(event)) tell(update);
    if (event.run_id !== run) return;
    if (event.event_type === 'session.config') window = windowIn(event.payload.definition) ?? window;
    if (event.event_type !== 'model.response') return;
    const { nanoUsd } = spentSince(spentBelow(follower.tree, run), told);
    const used = usageUpdate(event, window, needs.before + nanoUsd);
    if (used !== undefined) tell(used);
  };
  const company: Company = {
    // What is answered in the last moment is for whoever takes the run up next.
    engine: { ...engine, resume: async (id) => (leaving.aborted ? { kind: 'refused', error: LEFT } : await engine.resume(id)) },
    follow: (done, asked) =>
      follower.follow(done, (event) => {
        show(event);
        asked(event);
      }),
    answer: (wait, gone) => answerTo(needs, session, wait, AbortSignal.any([gone, leaving])),
    elsewhere: (id) => restElsewhere({ ledger, engine, clock, leaving }, id),
    oneByOne: false,
  };
  await (from === 'start' ? follower.beginAt(run) : follower.catchUp(run));
  const end = await driveToRest(company, handle);
  speech.end(end);
  const spent = spentBelow(follower.tree, run);
  return { ...responseOf(needs, handle, end, spentSince(spent, told)), spent };
}

const LEFT = { code: 'interrupted', message: 'The client has gone.' };

function responseOf({ client }: TurnNeeds, { run, session }: RunHandle, end: RunEnd, added: Spent): Omit<TurnEnd, 'spent'> {
  const ended = promptEnd(end);
  const { unknownCalls, uncountedCalls, calls: modelCalls } = added;
  const troupe = { run, costUsd: usdOf(added), unknownCalls, uncountedCalls, modelCalls };
  const usage = present({ usage: usageOf(added) });
  if (ended.kind === 'failed') throw acpError(ended.error, { ...troupe, ...usage });
  if (ended.say !== undefined && ended.say !== '') client.update(session, messageChunk(ended.say, `${run}/${ended.status}`));
  // `usage` is not in the stable schema yet; clients that know it count with it.
  const response = { stopReason: ended.reason, ...usage, _meta: { troupe: { ...troupe, status: ended.status } } };
  return { response, added };
}

async function answerTo(
  { client, mode, workspace }: TurnNeeds,
  session: RunHandle['session'],
  wait: OpenWait,
  gone: AbortSignal,
): Promise<GivenAnswer | undefined> {
  if (wait.kind === 'question') {
    const answer = await client.question(session, wait, gone);
    return answer && { answer, answering: answeringClient(client.by) };
  }
  // A run that began before the mode was chosen asks: the client has answered already.
  const isChosen = mode() === 'full' && ['write', 'edit', 'shell'].includes(wait.tool);
  const chosen = isChosen ? ({ kind: 'approved', whole: true } as const) : undefined;
  const answer = chosen ?? (await client.permission(session, wait, workspace, gone));
  return answer && { answer, answering: answeringClient(client.by, wait.shown) };
}

function windowIn(definition: unknown): number | undefined {
  const window: unknown = Object(definition).contextWindow;
  return typeof window === 'number' ? window : undefined;
}
