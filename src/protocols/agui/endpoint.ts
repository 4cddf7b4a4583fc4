/**
 * Agents for front-ends that speak AG-UI 1.0. A thread is a session of its caller, a run of the protocol a root run; one that
 * waits for a person ends with `interrupt`, and the answers begin the next. Sent again, or asked for by `connect`, it is joined.
 */

import { nothingOpen } from '../../assistants/clients/answers.ts';
import { type RunId, runIdFrom, type SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { questionId } from '../../engine/hearing/waits.ts';
import type { Answer } from '../../events/catalogue.ts';
import { textOf } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import { answerWait, type NotDone } from '../../front/acts.ts';
import { type ChatRest, followTurn, giveUp, type RestedTurn } from '../../front/chat/follow.ts';
import { openAgents } from '../../front/chat/needs.ts';
import { beginTurn, type ChatTurn, sessionNamed } from '../../front/chat/turn.ts';
import { mayDo, roleOfCaller } from '../../front/roles.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { RunRow } from '../../ledger/port.ts';
import { subtreeSpending } from '../../projections/run-tree.ts';
import type { Wait } from '../../projections/waits.ts';
import { clientOf } from '../a2a/needs.ts';
import { type EdgeReply, type EdgeRequest, type ServedEdge, SSE } from '../edges/edge.ts';
import { type AgUiEvent, createAgUiEvents } from './events-out.ts';
import { promptIn, type RunInput, runInput } from './input.ts';
import type { AgUiNeeds } from './needs.ts';

export function createAgUiEdge(needs: AgUiNeeds): ServedEdge {
  return {
    async answer(request) {
      const { method, path } = request;
      const [first, agent, act, ...more] = path;
      const isThere = first === 'agents' && agent !== undefined && more.length === 0 && (act === undefined || act === 'connect');
      if (method === 'GET' && first === 'agents' && agent === undefined) return await listed(needs, request);
      if (!isThere || method !== 'POST')
        return refusal(404, 'not_found', 'There is POST /agui/agents/<name>, and /connect below it.');
      const input = runInput.safeParse(request.body);
      if (!input.success) {
        const [issue] = input.error.issues;
        return refusal(400, 'invalid', `${issue?.path.join('.') || 'the body'}: ${issue?.message ?? 'cannot be read'}`);
      }
      return await played(needs, request, agent, input.data, act === 'connect');
    },
    refused: ({ code, message, fix }) => ({ error: present({ code, message, fix }) }),
  };
}

const refusal = (status: number, code: string, message: string, fix?: string): EdgeReply => ({
  ...{ kind: 'value', status, value: { error: present({ code, message, fix }) } },
});

const STATUS: Readonly<Record<NotDone['why'], number>> = {
  late: 409,
  never: 422,
  reused: 422,
  forbidden: 403,
  limit: 429,
  unknown: 404,
};
const notDone = ({ why, code, message, fix }: NotDone): EdgeReply => refusal(STATUS[why], code, message, fix);

async function listed({ chat }: AgUiNeeds, { caller }: EdgeRequest): Promise<EdgeReply> {
  const agents = (await openAgents(chat, caller)).map(({ name, description }) => ({ name, description }));
  return { kind: 'value', status: 200, value: { agents } };
}

async function played(
  needs: AgUiNeeds,
  request: EdgeRequest,
  agent: string,
  input: RunInput,
  joins: boolean,
): Promise<EdgeReply> {
  const { chat, onError } = needs;
  const { caller } = request;
  const session = sessionNamed('agui', caller.name, input.threadId);
  const words = chat.hear();
  const begun = await begin(needs, request, agent, input, session, joins);
  if ('kind' in begun) {
    words.close();
    return begun;
  }
  let isOver = joins;
  return {
    kind: 'stream',
    type: SSE,
    async *pieces(signal) {
      const all = AbortSignal.any([signal, chat.stopping]);
      const frames = streamed(needs, begun, input, all, words);
      for (let next = await frames.next(); ; next = await frames.next()) {
        if (next.done === true) {
          isOver ||= next.value;
          return;
        }
        yield next.value;
      }
    },
    close() {
      words.close();
      if (isOver) return;
      isOver = true;
      giveUp(chat, begun, caller.name).catch(onError);
    },
  };
}

/** What is followed, or why nothing is. */
async function begin(
  needs: AgUiNeeds,
  request: EdgeRequest,
  agent: string,
  input: RunInput,
  session: SessionId,
  joins: boolean,
): Promise<(ChatTurn & { readonly joined: boolean }) | EdgeReply> {
  const { chat } = needs;
  const { caller } = request;
  const [newest] = await chat.ledger.runs({ session, roots: true, limit: 1 });
  if (joins) return newest === undefined ? refusal(404, 'not_found', 'There is no such thread.') : await joined(needs, newest);
  if (input.resume !== undefined && input.resume.length > 0) {
    if (newest === undefined) return refusal(404, 'not_found', 'There is no such thread.');
    return await answered(needs, request, input.resume, newest);
  }
  const prompt = promptIn(input, chat.ids.nonce());
  if (prompt === undefined) return refusal(400, 'invalid', 'There is no message of the user to answer.');
  const run = runIdFrom(JSON.stringify(['agui', caller.name, input.threadId, input.runId]));
  const taken = await beginTurn(chat, caller, { agent, session, run, ...prompt });
  if (!taken.ok) return notDone(taken.error);
  return taken.value.before ? await joined(needs, { ...taken.value }) : { ...taken.value, joined: false };
}

async function joined({ chat }: AgUiNeeds, { run, session, agent }: Pick<RunRow, 'run' | 'session' | 'agent'>) {
  const [first] = await chat.ledger.read({ session, run, limit: 1 });
  return { run, session, agent, after: (first?.position ?? 1) - 1, before: true, joined: true } as const;
}

/** Each answer counts once, and only for what was shown; then the run goes on. */
async function answered(
  { chat, acting }: AgUiNeeds,
  { caller, signal }: EdgeRequest,
  resume: NonNullable<RunInput['resume']>,
  { run, session, agent }: RunRow,
): Promise<(ChatTurn & { readonly joined: boolean }) | EdgeReply> {
  if (!mayDo(roleOfCaller(caller), 'work')) return refusal(403, 'not_allowed', 'Your role is viewer.');
  const [head] = await chat.ledger.read({ session, newest: true, limit: 1 });
  const act = { client: clientOf(caller), isOwner: roleOfCaller(caller) === 'owner', signal };
  const open = await chat.engine.waits(run);
  for (const { interruptId, status, payload } of resume) {
    const wait = open.find((one) => questionId(one.run, one.wait) === interruptId);
    if (wait === undefined) {
      const none = { code: 'not_open', message: `Nothing waits under ${JSON.stringify(interruptId.slice(0, 100))}.` };
      const { code, message } = await nothingOpen(chat.ledger, { process_id: run, question_id: interruptId }, none);
      return refusal(409, code, message);
    }
    const answer = answerIn(wait.kind, status, payload);
    const given: unknown = Object(payload).shown;
    const shown = typeof given === 'string' ? given : undefined;
    const said = answer.kind === 'approved' && shown !== undefined ? { ...answer, whole: true as const } : answer;
    const outcome = await answerWait(acting, act, { run: wait.run, wait: wait.wait, answer: said, shown });
    if (!outcome.ok) return notDone(outcome.error);
  }
  return { run, session, agent, after: head?.position ?? 0, before: false, joined: false };
}

function answerIn(kind: Wait['kind'], status: 'resolved' | 'cancelled', payload: unknown): Answer {
  const { text, approved, note }: Record<string, unknown> = Object(payload);
  if (kind === 'question') {
    const words = typeof payload === 'string' ? payload : typeof text === 'string' ? text : '';
    return { kind: 'text', text: status === 'cancelled' ? 'No answer was given.' : words };
  }
  if (status === 'resolved' && approved === true) return { kind: 'approved' };
  return { kind: 'denied', ...present({ note: typeof note === 'string' ? note : undefined }) };
}

/** Gives back whether the run rests. */
async function* streamed(
  needs: AgUiNeeds,
  turn: ChatTurn & { readonly joined: boolean },
  { threadId, runId }: RunInput,
  signal: AbortSignal,
  words: ReturnType<AgUiNeeds['chat']['hear']>,
): AsyncGenerator<string, boolean> {
  const out = createAgUiEvents(turn.run);
  const written = (events: readonly AgUiEvent[], id?: string): string =>
    events.map((event) => `${id === undefined ? '' : `id: ${id}\n`}data: ${JSON.stringify(event)}\n\n`).join('');
  yield written([{ type: 'RUN_STARTED', threadId, runId, protocolVersion: '1.0' }]);
  if (turn.joined) yield written([{ type: 'MESSAGES_SNAPSHOT', messages: await messagesOf(needs, turn) }]);
  const news = followTurn(needs.chat, turn, words, signal);
  let tree: RestedTurn['tree'] | undefined;
  for (let next = await news.next(); ; next = await news.next()) {
    if (next.done === true) {
      if (next.value.rest.kind === 'left') return false;
      yield written(ending(needs, turn, { threadId, runId }, next.value, out));
      return true;
    }
    const one = next.value;
    if (one.kind === 'quiet') yield ': still at work\n\n';
    else if (one.kind === 'event') {
      ({ tree } = one);
      const text = written(out.event(one.event, one.tree), one.event.event_id);
      if (text !== '') yield text;
    } else if (tree !== undefined) {
      const text = written(out.words(one.piece, tree));
      if (text !== '') yield text;
    }
  }
}

/** What was said in the thread before what is told now. */
async function messagesOf({ chat }: AgUiNeeds, { session, run }: ChatTurn): Promise<readonly object[]> {
  const messages: object[] = [];
  const roots = new Set((await chat.ledger.runs({ session, roots: true })).map((row) => row.run));
  for await (const { event_type: type, run_id, payload } of readEvents(chat.ledger, {
    session,
    types: ['run.started', 'run.ended'],
  })) {
    if (!roots.has(run_id)) continue;
    if (type === 'run.started' && payload.input.role === 'user')
      messages.push({ id: `${run_id}_asked`, role: 'user', content: textOf(payload.input.content) });
    if (type === 'run.ended' && run_id !== run && payload.report.synthetic !== true)
      messages.push({ id: `${run_id}_said`, role: 'assistant', content: payload.report.body });
  }
  return messages;
}

function ending(
  { chat }: AgUiNeeds,
  { run }: ChatTurn,
  ids: { readonly threadId: string; readonly runId: string },
  { rest, tree }: RestedTurn,
  out: ReturnType<typeof createAgUiEvents>,
): readonly AgUiEvent[] {
  const { inputTokens, outputTokens, nanoUsd } = subtreeSpending(tree, run);
  const usage = [{ inputTokens, outputTokens, totalTokens: inputTokens + outputTokens }];
  const finished = (outcome: object, result?: object): AgUiEvent => ({
    type: 'RUN_FINISHED',
    ...ids,
    outcome,
    usage,
    ...present({ result }),
  });
  if (rest.kind === 'asks') {
    const interrupts = rest.waits.map((wait) => interruptOf(wait, run, chat.answerLink(wait)));
    return [
      ...out.close(
        undefined,
        interrupts.map(({ id }) => id),
      ),
      finished({ type: 'interrupt', interrupts }),
    ];
  }
  if (rest.kind === 'ended' && succeeded(rest.end)) {
    const { report, status, verification, finalAgent } = rest.end;
    const result = { run, status, verification: verification.state, finalAgent, costUsd: nanoUsd / 1e9 };
    return [...out.close(report.body, []), finished({ type: 'success' }, result)];
  }
  if (rest.kind === 'ended' && rest.end.status === 'cancelled')
    return [...out.close(undefined, []), finished({ type: 'cancelled' })];
  return [...out.close(undefined, []), { type: 'RUN_ERROR', ...failureOf(rest), usage }];
}

function failureOf(rest: ChatRest): { readonly message: string; readonly code: string } {
  if (rest.kind === 'still') {
    const { still } = rest;
    return still.kind === 'paused' ? { code: 'paused', message: still.reason } : { code: 'parked', message: still.error.message };
  }
  if (rest.kind !== 'ended') return { code: rest.kind, message: 'The run goes on without this stream.' };
  const { error, status, report } = rest.end;
  return { code: error?.code ?? status, message: error?.message ?? report.body };
}

const QUESTION = { type: 'object', properties: { text: { type: 'string' } }, required: ['text'] };
const PERMISSION = {
  ...{ type: 'object', required: ['approved', 'shown'] },
  properties: { approved: { type: 'boolean' }, shown: { type: 'string' }, note: { type: 'string' } },
};

function interruptOf({ kind, run, wait, question, choices, tool, input, request, shown }: Wait, root: RunId, link: string) {
  return {
    ...{ id: questionId(run, wait), reason: kind, message: kind === 'permission' ? request : question },
    responseSchema: kind === 'permission' ? PERMISSION : QUESTION,
    metadata: { link, ...present({ shown, tool: tool ?? undefined, input: tool === null ? undefined : input }), choices },
    ...(run === root ? {} : { subagentRunId: run }),
  };
}
