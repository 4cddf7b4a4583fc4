/**
 * A message of a peer: it begins a task, answers what a task asks, or tells something to one at work. Each is an event in the
 * ledger before the peer hears of it, under a name that follows from the message's own id: sent again, it is the same.
 */
import type { SendMessageRequest } from '@a2a-js/sdk';
import { type A2AError, RequestMalformedError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { answerFailure, chosenAnswer, mayAnswer, nothingOpen } from '../../assistants/clients/answers.ts';
import { callId } from '../../assistants/threads/service-needs.ts';
import { sleep } from '../../base/clock.ts';
import { type RunId, runIdFrom, type SessionId, threadOf } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { questionId } from '../../engine/hearing/waits.ts';
import type { OpenWait, StartRequest } from '../../engine/port.ts';
import type { PeerRequest } from '../../events/run-origin.ts';
import { readEvents } from '../../ledger/pages.ts';
import { isTerminalTask } from '../../projections/tasks/task-states.ts';
import type { RootTask } from '../../projections/tasks/tasks.ts';
import { AGENT_KEY, agentFor, agentMeant, type Door } from './doors.ts';
import { refused, tooManyOf, tooMuch } from './errors.ts';
import { type FoundTask, UNDER_WAY } from './found-tasks.ts';
import { type HeardMessage, heardMessage } from './message-in.ts';
import { type A2aNeeds, clientOf, type Scope } from './needs.ts';
import type { PeerRoom } from './room.ts';

/** A message may name the question that it answers, when there are several. */
const QUESTION_KEY = 'question';

/** The task that the message is about, once what it says is in the ledger. */
export async function heard(room: PeerRoom, door: Door, scope: Scope, request: SendMessageRequest): Promise<FoundTask> {
  const { message } = request;
  const said = heardMessage(message, room.needs.ids.nonce());
  return await room.inTurn(JSON.stringify([scope.caller.name, scope.tenant]), async () => {
    if (message !== undefined && message.taskId !== '') return await goOn(room, door, scope, request, said);
    return await begin(room, door, scope, request, said);
  });
}

/** The same names for the same message, in every process. */
const wordsOf = ({ caller, tenant }: Scope, kind: string, word: string): string =>
  JSON.stringify(['a2a', caller.name, tenant, kind, word]);
const sessionFrom = (words: string): SessionId => runIdFrom(words).replace(/^run_/, 'ses_') as SessionId;

async function begin(
  room: PeerRoom,
  door: Door,
  scope: Scope,
  request: SendMessageRequest,
  heard: HeardMessage,
): Promise<FoundTask> {
  const { needs, tasks } = room;
  const { message } = request;
  const named = namedIn(request);
  const meant = { ...heard, agent: agentMeant(door, named) };
  const run = runIdFrom(wordsOf(scope, 'message', heard.id));
  const before = await tasks.find(scope, run);
  if (before !== undefined) return await takenUp(room, sameTask(before, meant));
  const agent = await agentFor(needs, door, scope, named);
  const { caller, tenant } = scope;
  if (agent === caller.name)
    throw new UnsupportedOperationError('The agent has your own name: in its thread nobody could tell you apart.');
  const most = needs.settings.tasksPerCaller ?? limits.a2aTasksPerCaller;
  if ((await tasks.underWay(caller.name)) >= most)
    throw tooManyOf('You have too many tasks under way', most, 'a2aTasksPerCaller', 'a2a.tasksPerCaller');
  const { session, context } = await conversation(room, scope, message?.contextId ?? '', heard);
  const { id, digest, parts } = heard;
  const a2a = { message: id, digest, ...present({ tenant: tenant || undefined, context, parts }) };
  const begun = await started(room, scope, {
    ...{ agent, run, session, input: heard.input, workspace: caller.workspace ?? needs.workspace, isNew: true, a2a },
    origin: { kind: 'client', by: caller.name, a2a, ...present({ rights: caller.rights }) },
  });
  return sameTask(begun, meant);
}

type Starting = StartRequest & { readonly run: RunId; readonly session: SessionId; readonly a2a: PeerRequest };

/** Where another server has just heard the same message, what it writes is there in a moment. */
async function started({ needs, tasks }: PeerRoom, scope: Scope, { a2a, ...request }: Starting): Promise<FoundTask> {
  const { clock, stopping, ledger, engine } = needs;
  const { run, session, agent } = request;
  const until = clock.elapsed() + limits.a2aBeginMs;
  for (;;) {
    const outcome = await engine.start(request);
    if (outcome.kind === 'started' && outcome.before !== true)
      return tasks.begun({ run, session, agent }, a2a, scope.caller.name);
    const begun = await tasks.find(scope, run);
    if (begun !== undefined) return begun;
    if (outcome.kind === 'started') throw new Error(`The run ${run} was started and is not in the ledger`);
    const [open] = await ledger.runs({ session, roots: true, states: UNDER_WAY, limit: 1 });
    const isSame = open === undefined || open.run === run;
    const waits = outcome.error.code === 'session_busy' && isSame && clock.elapsed() < until;
    if (!waits || (await sleep(clock, limits.a2aBeginPollMs, stopping)) === 'aborted') throw refused(outcome.error);
  }
}

/** A task that a process left when it died goes on as soon as its peer asks for it. */
async function takenUp({ needs: { ledger, engine } }: PeerRoom, found: FoundTask): Promise<FoundTask> {
  const [row] = await ledger.runs({ run: found.run, limit: 1 });
  if (row?.state === 'running' && row.owner === null) await engine.resume(found.run);
  return found;
}

const namedIn = ({ message, metadata }: SendMessageRequest): unknown => message?.metadata?.[AGENT_KEY] ?? metadata?.[AGENT_KEY];

/**
 * Refused and not begun anew for the other agent: an id that is one message everywhere cannot become two tasks by a change of the
 * settings, of the address or of the binding between one try and the next.
 */
function sameTask(task: FoundTask, heard: Pick<HeardMessage, 'digest'> & { readonly agent: string | undefined }): FoundTask {
  if (heard.agent !== undefined && heard.agent !== task.agent)
    throw new RequestMalformedError(
      `This messageId was used before, for the agent ${task.agent}: a message to another one has its own.`,
    );
  if (task.asked.digest === heard.digest) return task;
  throw usedBefore();
}

const usedBefore = (): A2AError =>
  new RequestMalformedError('This messageId was used before, for another message: give each its own.');

/** The session that a new task belongs to. The peer may have a word of its own for it; one that is ours must be its own. */
async function conversation(
  { needs, tasks }: PeerRoom,
  scope: Scope,
  contextId: string,
  heard: HeardMessage,
): Promise<{ readonly session: SessionId; readonly context?: string }> {
  if (contextId === '') return { session: sessionFrom(wordsOf(scope, 'session', heard.id)) };
  const [row] = contextId.startsWith('ses_')
    ? await needs.ledger.runs({ session: contextId as SessionId, roots: true, limit: 1 })
    : [];
  const known = row === undefined ? undefined : await tasks.find(scope, row.run);
  if (known !== undefined && known.context === contextId) return { session: known.session };
  return { session: sessionFrom(wordsOf(scope, 'context', contextId)), context: contextId };
}

/** A message for a task that there is. */
async function goOn(
  room: PeerRoom,
  door: Door,
  scope: Scope,
  request: SendMessageRequest,
  heard: HeardMessage,
): Promise<FoundTask> {
  const { message } = request;
  const { needs, tasks, folds } = room;
  const found = await tasks.find(scope, message?.taskId ?? '');
  const task = found === undefined ? undefined : await folds.now(found);
  if (found === undefined || task === undefined) throw new TaskNotFoundError(`Task not found: ${message?.taskId.slice(0, 100)}`);
  if (message?.contextId && message.contextId !== found.context)
    throw new RequestMalformedError(`The task is not of the context ${message.contextId.slice(0, 100)}.`);
  const meant = agentMeant(door, namedIn(request));
  if (meant !== undefined && meant !== found.agent)
    throw new RequestMalformedError(`The task is of the agent ${found.agent}: go on with it there, or at the house.`);
  if (await wasHeard(room, scope, found, heard)) return found;
  if (isTerminalTask(task.state))
    throw new UnsupportedOperationError('The task has ended and hears nothing more; begin another one in its context.');
  try {
    if (task.waits.length > 0) await answer(needs, scope, found, task, heard, message?.metadata?.[QUESTION_KEY]);
    else await tell(needs, scope, found, heard);
  } catch (error) {
    // Another server may have heard the same in this moment: then it was said, and nothing is wrong.
    if (!(await wasHeard(room, scope, found, heard))) throw error;
  }
  return found;
}

/**
 * As an answer or as a word to an agent at work: what was said once is neither, however the task stands by now. Other words under
 * the same id are refused; of what was recorded without a digest nobody can tell.
 */
async function wasHeard(
  { needs: { ledger } }: PeerRoom,
  { caller }: Scope,
  found: FoundTask,
  heard: HeardMessage,
): Promise<boolean> {
  const { session, run } = found;
  const told = callId({ kind: 'client', name: caller.name }, toldKey(found, heard));
  const types = ['approval.answered', 'message.sent'] as const;
  for await (const { event_type, payload } of readEvents(ledger, { session, root: run, types })) {
    if (event_type !== 'approval.answered' && event_type !== 'message.sent') continue;
    if (payload.message !== (event_type === 'approval.answered' ? heard.id : told)) continue;
    if (payload.digest !== undefined && payload.digest !== heard.digest) throw usedBefore();
    return true;
  }
  return false;
}

/** A peer may use the same id in another task, or for another tenant. */
const toldKey = ({ run }: FoundTask, { id }: HeardMessage): string => JSON.stringify(['a2a', run, id]);

async function answer(
  { engine, ledger }: A2aNeeds,
  { caller }: Scope,
  { run }: FoundTask,
  { waits }: RootTask,
  heard: HeardMessage,
  question: unknown,
): Promise<void> {
  if (Buffer.byteLength(heard.text) > limits.messageBytes) throw tooMuch('The answer is too long', 'messageBytes');
  const asked = new Set(waits.map((wait) => `${wait.run} ${wait.wait}`));
  const open: readonly OpenWait[] = (await engine.waits(run)).filter((one) => asked.has(`${one.run} ${one.wait}`));
  const question_id = typeof question === 'string' ? question : questionShown(waits, caller);
  const input = { process_id: run, answer: heard.text, ...present({ question_id }) };
  const chosen = chosenAnswer(open, clientOf(caller), input);
  if (!chosen.ok) throw refused(await nothingOpen(ledger, input, chosen.error));
  const { wait, answer } = chosen.value;
  // Only whoever says which question they mean has certainly seen it.
  const shown = typeof question === 'string' && wait.kind === 'permission' ? wait.shown : undefined;
  const { id: message, digest, parts } = heard;
  const answering = { by: caller.name, where: 'a2a' as const, message, digest, ...present({ shown, parts }) };
  const failure = answerFailure(await engine.answer(wait.run, wait.wait, answer, answering), wait, run);
  if (failure !== undefined) throw refused(failure);
  await engine.resume(run);
}

/**
 * Where several are open, the status of the task shows the first that its caller may answer; a peer that knows no more than the
 * protocol answers that one. What somebody approves they have to name.
 */
function questionShown(waits: RootTask['waits'], caller: Scope['caller']): string | undefined {
  const first = waits.length > 1 ? waits.find((wait) => mayAnswer(clientOf(caller), wait)) : undefined;
  return first === undefined || first.kind === 'permission' ? undefined : questionId(first.run, first.wait);
}

/** An agent at work reads it before its next turn. */
async function tell({ assistants }: A2aNeeds, { caller }: Scope, found: FoundTask, heard: HeardMessage): Promise<void> {
  const input = { to_assistant_id: found.agent, thread_id: threadOf(found.run as RunId), message: heard.text };
  const { digest, parts } = heard;
  const options = {
    signal: new AbortController().signal,
    idempotencyKey: toldKey(found, heard),
    digest,
    clientMessage: heard.id,
    parts,
  };
  const told = await assistants.send(clientOf(caller), input, options);
  if (!told.ok) throw refused(told.error);
}
