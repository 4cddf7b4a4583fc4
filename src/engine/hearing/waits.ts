/**
 * Durable waits. A question is an event, its answer is another; between the two nothing runs and nothing is held. A run
 * that needs an answer it does not have stops being driven and is taken up again once the answer is there.
 */
import { createHash } from 'node:crypto';
import { type RunId, type SessionId, threadOf } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import type { ClientRights } from '../../events/assistants.ts';
import type { Answer, EventType, Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import { memberOfGroup } from '../../events/run-origin.ts';
import type { Ledger, NewEvent } from '../../ledger/port.ts';
import { permissionQuestion, wholeQuestion } from '../../projections/request-text.ts';
import { foldWaits, initialWaits, type Wait } from '../../projections/waits.ts';
import { Interruption } from '../interruption.ts';
import type { LedgerAccess, ReplayAccess, TimeAndIds } from '../options.ts';
import type { OpenWait } from '../port.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { unfinished } from '../record/past.ts';
import type { Writes } from '../record/writes.ts';
import { isToEnd } from './go-on-or-end.ts';
import type { HearsOutside } from './hears.ts';

export type Question =
  | { readonly kind: 'permission'; readonly payload: Omit<Payloads['approval.asked'], 'wait' | 'shown'> }
  | { readonly kind: 'question'; readonly payload: Omit<Payloads['task.clarify'], 'wait'> };

/** A place in a row of those who may ask: what they ask is put in its order. */
export interface AskingPlace {
  /** Resolves when everybody before it has put their question, or has none. */
  mayAsk(): Promise<void>;
  /** It has put its question, or has none. */
  asked(): void;
}

interface Waiting {
  /** Whether it is waited for as long as others work, or the branch stops at once. */
  readonly otherwise?: 'wait' | 'stop';
  readonly place?: AskingPlace | undefined;
}

export async function waitForAnswer(
  tree: TimeAndIds & Pick<LedgerAccess, 'redact'> & ReplayAccess & Writes & HearsOutside,
  node: DrivenRun,
  wait: string,
  question: Question,
  { otherwise = 'wait', place }: Waiting = {},
): Promise<Answer> {
  const answered = tree.outside.answer(node.run, wait);
  if (question.kind === 'question') tree.replay?.again(node.run, 'task.clarify', wait, { ...question.payload, wait });
  if (answered !== undefined) {
    place?.asked();
    return answered;
  }
  await place?.mayAsk();
  await putQuestion(tree, node, wait, question);
  place?.asked();
  const blocked = { node, wait };
  tree.blockedOn.add(blocked);
  const answer = otherwise === 'wait' ? await whileOthersWork(tree, node, wait) : undefined;
  if (answer === undefined)
    throw new Interruption('waiting', question.kind === 'permission' ? 'waiting for a permission' : 'waiting for an answer');
  tree.blockedOn.delete(blocked);
  return answer;
}

/** Asks once, for ever. */
export async function putQuestion(
  tree: TimeAndIds & Pick<LedgerAccess, 'redact'> & Writes & HearsOutside,
  node: DrivenRun,
  wait: string,
  question: Question,
): Promise<void> {
  const type = question.kind === 'permission' ? 'approval.asked' : 'task.clarify';
  if (node.journal.recorded(type, wait) !== undefined) return;
  const event =
    question.kind === 'permission'
      ? node.journal.event('approval.asked', asked(question.payload, wait, tree.redact), {
          step: wait,
          tool: question.payload.tool,
        })
      : node.journal.event('task.clarify', { ...question.payload, wait }, { step: wait });
  const written = await tree.writer.write([event, ...toClient(node, wait, question, tree)], { sync: 'power' });
  // Its answer may be used in this very life, and be one that is remembered.
  if (!('kind' in written)) for (const one of written) if (one.event_type === 'approval.asked') tree.outside.apply(one);
}

/**
 * As long as something else of the tree goes on by itself, the run is driven anyway: the answer is waited for here, and used at
 * once. `undefined` when nothing does any more, or when the run is to end.
 */
async function whileOthersWork(tree: HearsOutside & Writes, node: DrivenRun, wait: string): Promise<Answer | undefined> {
  const { signal } = node.abort;
  return await tree.withoutSlot(node, async () => {
    for (let resting = false; ; ) {
      const news = AbortSignal.any([tree.nextNews(), signal]);
      tree.checkpoint(node);
      const answer = tree.outside.answer(node.run, wait);
      if (answer !== undefined || resting || signal.aborted || isToEnd(tree, node)) return answer;
      resting = await Promise.race([tree.atWork.rest().then(() => true), aborted(news)]);
    }
  });
}

export async function aborted(signal: AbortSignal): Promise<false> {
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  return false;
}

type Asked = Pick<Payloads['approval.asked'], 'why' | 'input' | 'preview'>;

function asked(
  payload: Omit<Payloads['approval.asked'], 'wait' | 'shown'>,
  wait: string,
  redact: (text: string) => string,
): Payloads['approval.asked'] {
  return { ...payload, wait, shown: shownHash(payload, redact) };
}

/** Stands for all of what is shown to whoever is asked: an approval is for that and nothing else. */
export function shownHash(asked: Asked, redact: (text: string) => string): string {
  return createHash('sha256')
    .update(redact(wholeQuestion(asked.why, asked)))
    .digest('hex');
}

/** A client that spawned the run finds the question in its thread: it has no other way to learn of it. */
function toClient(
  node: DrivenRun,
  wait: string,
  question: Question,
  { ids, redact }: TimeAndIds & Pick<LedgerAccess, 'redact'>,
): NewEvent[] {
  let root = node;
  while (root.parent !== undefined) root = root.parent;
  const { origin, agent } = root.started;
  if (origin.kind !== 'client') return [];
  const message = `question_${node.run.slice('run_'.length)}_${wait.replaceAll('/', '-')}`;
  const payload = {
    message,
    thread: threadOf(root.run),
    from: { assistant: agent, run: root.run },
    to: { assistant: origin.by },
    content: questionText(question, root.run, questionId(node.run, wait), origin.rights, redact),
    fence: ids.nonce(),
    kind: 'question' as const,
  };
  return [root.journal.event('message.sent', payload, { step: `message/${message}`, actor: 'system', aside: true })];
}

function questionText(
  { kind, payload }: Question,
  process: string,
  id: string,
  rights: ClientRights | undefined,
  redact: (text: string) => string,
): string {
  const asked = kind === 'permission' ? permissionQuestion(payload.why, payload, redact) : payload.question;
  const choices = kind === 'question' && payload.choices !== undefined ? `\nChoices: ${payload.choices.join(' | ')}` : '';
  const how = kind === 'permission' ? 'answer yes or no' : 'answer in words';
  const may = kind === 'permission' ? rights?.approves : rights?.answers;
  if (may === false) return `${asked}${choices}\n\nIt waits until the owner of the project has answered; you cannot.`;
  const use = `Use answer_assistant with process_id ${process} and question_id ${id}; ${how}.`;
  return `${asked}${choices}\n\nIt waits for this. ${use}`;
}

/** One name for a question: the run that asks and the wait within it. */
export const questionId = (run: RunId, wait: string): string => `${run}/${wait}`;

/** Where it is recorded until when a wait is waited for. */
export const deadlineStep = (wait: string): string => `${wait}/deadline`;

const WAITS: readonly EventType[] = ['run.started', 'run.ended', 'approval.asked', 'task.clarify', 'approval.answered'];

/** Questions of a session without an answer, oldest first. No turn that is over has one. */
export async function openWaits(ledger: Ledger, session: SessionId): Promise<OpenWait[]> {
  return waitsIn(await unfinished(ledger, session, WAITS));
}

function waitsIn(events: Iterable<LedgerEvent>): OpenWait[] {
  const askers = new Map<string, Asker>();
  let waits = initialWaits();
  for (const event of events) {
    if (event.event_type === 'run.started') askers.set(event.run_id, askerIn(event.payload));
    waits = foldWaits(waits, event);
  }
  return [...waits.values()].map((wait) => openWait(wait, askers.get(wait.run) ?? { agent: '' }));
}

type Asker = Pick<OpenWait, 'agent' | 'member'>;

/** Several may be the same agent under names of their own. */
function askerIn(started: Payloads['run.started']): Asker {
  const member = memberOfGroup(started);
  return { agent: started.agent, ...(member === undefined || member === started.agent ? {} : { member }) };
}

function openWait(
  { run, wait, question, choices, tool, input, missing, request, shown, rule, askedAt }: Wait,
  asker: Asker,
): OpenWait {
  const asked = { run, ...asker, wait, question, askedAt };
  if (tool !== null) return { ...asked, kind: 'permission', tool, input, missing, request, ...present({ shown, rule }) };
  return { ...asked, kind: 'question', ...(choices.length === 0 ? {} : { choices }) };
}
