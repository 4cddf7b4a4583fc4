/**
 * What a peer has said about a task so far, from the pieces of its streams and from its answers. All of it is a stranger's:
 * bounded, and whatever does not fit is left out, which is said.
 */

import { createHash } from 'node:crypto';
import {
  type Artifact,
  type Message,
  type Part,
  Role,
  type StreamResponse,
  type Task,
  TaskState,
  type TaskStatus,
} from '@a2a-js/sdk';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { startOf } from '../../base/whole-words.ts';
import type { AnsweredQuestion, PeerArtifact, PeerOutcome, PeerTask } from '../port.ts';
import { CONFIRMATION_CHOICES, type Confirmations, createConfirmations } from './confirmations.ts';
import { filesIn, fileWords } from './files.ts';
import { costIn, laterCost, type SaidCost } from './usage.ts';

export interface TaskView {
  /** Undefined until it says which one it is. */
  task(): PeerTask | undefined;
  /** Takes in a piece. What it adds to what is read is given to `onText`. */
  apply(piece: StreamResponse, onText?: (text: string) => void): void;
  /** What came of it, once nothing more comes without us and all of it is known: the whole task may have to be asked for. */
  outcome(): PeerOutcome | undefined;
  /** How it stands, in words: for whoever does not wait any longer. */
  standing(): string;
  /** However it stands, it stands so: what was taken for a question that has its answer is asked again. */
  believe(): void;
}

type Settled = 'completed' | 'failed' | 'rejected' | 'canceled' | 'input-required' | 'auth-required';

/** All others, those that nobody knows yet among them, mean that it is at work. */
const SETTLED: Readonly<Partial<Record<TaskState, Settled>>> = {
  [TaskState.TASK_STATE_COMPLETED]: 'completed',
  [TaskState.TASK_STATE_FAILED]: 'failed',
  [TaskState.TASK_STATE_REJECTED]: 'rejected',
  [TaskState.TASK_STATE_CANCELED]: 'canceled',
  [TaskState.TASK_STATE_INPUT_REQUIRED]: 'input-required',
  [TaskState.TASK_STATE_AUTH_REQUIRED]: 'auth-required',
};

/** The state in the words of the protocol, as far as it matters here. */
export const stateWord = (state: TaskState | undefined): Settled | 'working' =>
  (state === undefined ? undefined : SETTLED[state]) ?? 'working';

/** Whether a piece of what is made says that it is added to what came before. */
export type Pieces = 'marked' | 'unmarked';

/** `own`: the context that we gave; `known`: the task, when it is not a new one; `answered`: what it asked before. */
export function createTaskView(own: string, known?: PeerTask, answered?: AnsweredQuestion, pieces: Pieces = 'marked'): TaskView {
  const made = createMade(pieces);
  /** What it said on the way: the answer of those who give no other. */
  let said = '';
  /** What it said last in what it keeps of the conversation. */
  let kept = '';
  let status: TaskStatus | undefined;
  let reply: Message | undefined;
  // Nothing more than this: it is spread over what comes of it.
  let at: PeerTask | undefined = known && { task: known.task, context: known.context };
  let took: SaidCost = { usage: {} };
  let before = answered;
  const leave = createConfirmations();
  /** It has not moved since it asked what has its answer. */
  let isOld = false;

  const isOurs = (task: string, context: string): boolean => {
    if (task === '' || task.length > limits.peerIdCharacters || context.length > limits.peerIdCharacters) return false;
    at ??= { task, context: context === '' ? own : context };
    return at.task === task;
  };
  const note = (parts: readonly Part[], onText?: (text: string) => void): void => {
    const text = wordsIn(parts);
    if (text === '') return;
    if (said.length < limits.peerAnswerBytes) said = said === '' ? text : `${said}\n\n${text}`;
    onText?.(text);
  };
  const whole = (task: Task): void => {
    if (!isOurs(task.id, task.contextId)) return;
    status = task.status;
    leave.take([...task.history.flatMap(({ parts }) => parts), ...partsIn(status)]);
    isOld = before?.task === task.id && isSame(before, status);
    took = laterCost(took, costIn(task.metadata));
    kept = lastSaid(task.history);
    made.clear();
    for (const artifact of task.artifacts) made.take(artifact, false);
  };
  return {
    task: () => at,
    apply({ payload }, onText) {
      switch (payload?.$case) {
        case 'task':
          whole(payload.value);
          break;
        case 'message':
          reply = payload.value;
          took = laterCost(took, costIn(payload.value.metadata));
          onText?.(wordsIn(payload.value.parts));
          break;
        case 'statusUpdate': {
          const { taskId, contextId, metadata } = payload.value;
          if (!isOurs(taskId, contextId)) return;
          status = payload.value.status;
          leave.take(partsIn(status));
          // An update is news; a peer without marks cannot show the old question after it.
          isOld = false;
          if (before?.mark === undefined) before = undefined;
          took = laterCost(took, costIn(metadata));
          if (status !== undefined && SETTLED[status.state] === undefined) note(partsIn(status), onText);
          break;
        }
        case 'artifactUpdate': {
          const { taskId, contextId, artifact, append } = payload.value;
          if (!isOurs(taskId, contextId)) return;
          made.take(artifact, append);
          if (artifact !== undefined && append) onText?.(wordsIn(artifact.parts));
          break;
        }
      }
    },
    outcome() {
      if (reply !== undefined && status === undefined) return messageOutcome(reply, own, took);
      const state = status === undefined ? undefined : SETTLED[status.state];
      if (state === undefined || at === undefined || isOld || made.isPartial()) return undefined;
      return outcomeOf(state, { status, said: said || kept, leave: leave.waiting(), ...made.all(), at, took });
    },
    standing() {
      if (status === undefined && at === undefined) return 'it had not answered yet';
      const words = shortened(wordsIn(status?.message?.parts ?? []) || said || kept);
      const how = isOld ? 'it still wanted an answer' : 'it was still at work';
      return words === '' ? how : `${how} and had said: ${words}`;
    },
    believe() {
      before = undefined;
      isOld = false;
    },
  };
}

/** What a task has made so far. */
function createMade(pieces: Pieces) {
  const artifacts = new Map<string, Artifact>();
  /** It made more than is kept. */
  let leftOut = false;
  /** Of something only the last piece is known. */
  let isPartial = false;
  return {
    take(artifact: Artifact | undefined, append: boolean): void {
      if (artifact === undefined || artifact.artifactId.length > limits.peerIdCharacters) return;
      const before = artifacts.get(artifact.artifactId);
      if (before === undefined && artifacts.size >= limits.peerArtifacts) {
        leftOut = true;
        return;
      }
      if (before !== undefined && pieces === 'unmarked') isPartial = true;
      const parts = append && before !== undefined ? appended(before.parts, artifact.parts) : artifact.parts;
      artifacts.set(artifact.artifactId, { ...artifact, name: artifact.name || (before?.name ?? ''), parts });
    },
    isPartial: () => isPartial,
    clear(): void {
      artifacts.clear();
      leftOut = false;
      isPartial = false;
    },
    all: () => ({ artifacts: [...artifacts.values()], leftOut }),
  };
}

const partsIn = (status: TaskStatus | undefined): readonly Part[] => status?.message?.parts ?? [];

/** A peer that gives neither a time nor an id shows the question that it had until it says something else. */
function isSame({ mark }: AnsweredQuestion, status: TaskStatus | undefined): boolean {
  const state = status === undefined ? undefined : SETTLED[status.state];
  if (status === undefined || (state !== 'input-required' && state !== 'auth-required')) return false;
  const now = markOf(status);
  return mark === undefined || now === undefined || mark === now;
}

/** By what a question is known again. */
function markOf({ state, timestamp = '', message }: TaskStatus): string | undefined {
  const id = message?.messageId ?? '';
  if (timestamp === '' && id === '') return undefined;
  const words = message === undefined ? '' : wordsIn(message.parts);
  return createHash('sha256')
    .update(JSON.stringify([state, timestamp, id, words]))
    .digest('hex');
}

interface Ended {
  readonly leave: ReturnType<Confirmations['waiting']>;
  readonly status: TaskStatus | undefined;
  readonly said: string;
  readonly artifacts: readonly Artifact[];
  readonly leftOut: boolean;
  readonly at: PeerTask;
  readonly took: SaidCost;
}

function messageOutcome(reply: Message, own: string, took: SaidCost): PeerOutcome {
  const { files, leftOut } = filesIn([], reply.parts);
  const { text, cut } = bounded(wordsIn(reply.parts));
  const came = { context: reply.contextId || own, artifacts: [], files, ...(leftOut ? { leftOut } : {}), ...took };
  return { kind: 'answer', text, cut: cut || leftOut, ...came };
}

function outcomeOf(state: Settled, { status, said, leave, artifacts, leftOut: isMore, at, took }: Ended): PeerOutcome {
  const words = status?.message === undefined ? '' : wordsIn(status.message.parts);
  const { files, leftOut: hasMoreFiles } = filesIn(artifacts, partsIn(status));
  const leftOut = isMore || hasMoreFiles;
  const came = { ...at, artifacts: artifacts.map(keptArtifact), files, ...(leftOut ? { leftOut } : {}), ...took };
  if (state === 'completed') {
    const made = artifacts.map(({ parts }) => wordsIn(parts)).filter((text) => text !== '');
    const { text, cut } = bounded(made.join('\n\n') || words || said);
    return { kind: 'answer', text, cut: cut || leftOut, ...came };
  }
  if (state === 'input-required' || state === 'auth-required') {
    const needs = state === 'input-required' ? 'input' : 'auth';
    const mark = status && markOf(status);
    if (leave !== undefined)
      return { kind: 'asks', question: leave.words, confirms: leave.ids, choices: CONFIRMATION_CHOICES, needs, mark, ...came };
    const question = startOf(words || said || 'It waits for an answer and does not say to what.', limits.peerQuestionCharacters);
    return { kind: 'asks', question, needs, mark, ...came };
  }
  const why = words || said || artifacts.map(({ parts }) => wordsIn(parts)).join('\n\n');
  return { kind: 'ended', state, message: startOf(why, limits.peerReasonCharacters), ...came };
}

/** A stranger's words in a sentence of ours: on one line, and not many. */
export function shortened(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  const most = limits.peerLastCharacters;
  return line.length <= most ? line : `${line.slice(0, most - 1).toWellFormed()}…`;
}

/** Its words after ours; what it said before them is answered already. */
function lastSaid(history: readonly Message[]): string {
  const last = history.findLast(({ role, parts }) => role === Role.ROLE_USER || wordsIn(parts) !== '');
  return last === undefined || last.role === Role.ROLE_USER ? '' : wordsIn(last.parts);
}

/**
 * What a model or a person can read: addresses are told and never fetched, bytes are named. Texts are pieces of one; data beside
 * them stands on a line of its own.
 */
function wordsIn(parts: readonly Part[]): string {
  let words = '';
  let wasData = false;
  for (const part of parts) {
    const isData = part.content?.$case === 'data';
    const said = partText(part);
    const isApart = (isData || wasData) && words !== '' && said !== '' && !words.endsWith('\n');
    words += isApart ? `\n${said}` : said;
    wasData = isData;
  }
  return words;
}

function partText(part: Part): string {
  const { content, filename } = part;
  switch (content?.$case) {
    case 'text':
      return content.value;
    case 'data':
      return JSON.stringify(downTo(limits.peerDataDepth, content.value ?? null));
    case 'url':
      return `\n[file ${filename || 'without a name'} at ${content.value}]\n`;
    case 'raw':
      return `\n${fileWords(part, content)}\n`;
    case undefined:
      return '';
  }
}

/** Data whose levels can be gone through. */
function downTo(levels: number, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (levels === 0) return `[deeper than ${limits.peerDataDepth} levels (peerDataDepth)]`;
  if (Array.isArray(value)) return value.map((item) => downTo(levels - 1, item));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, downTo(levels - 1, item)]));
}

/** Chunks of a text are one text. */
function appended(before: readonly Part[], more: readonly Part[]): Part[] {
  const all = [...before];
  for (const part of more) {
    const last = all.at(-1);
    if (last?.content?.$case !== 'text' || part.content?.$case !== 'text') all.push(part);
    else if (last.content.value.length < limits.peerAnswerBytes)
      all[all.length - 1] = { ...last, content: { $case: 'text', value: last.content.value + part.content.value } };
  }
  return all.slice(0, limits.a2aParts);
}

function bounded(text: string): { readonly text: string; readonly cut: boolean } {
  if (Buffer.byteLength(text) <= limits.peerAnswerBytes) return { text, cut: false };
  const cut = Buffer.from(text).subarray(0, limits.peerAnswerBytes).toString();
  return { text: cut.replace(/\uFFFD+$/, ''), cut: true };
}

function keptArtifact({ artifactId: id, name, parts }: Artifact): PeerArtifact {
  const [first] = parts;
  const file = parts.length === 1 && first?.content?.$case === 'raw' ? first.content.value : undefined;
  const most = limits.peerNameCharacters;
  const named = {
    id,
    ...present({
      name: (first?.filename || name || undefined)?.slice(0, most),
      mediaType: first?.mediaType.slice(0, most) || undefined,
    }),
  };
  const text = wordsIn(parts);
  const bytes = Buffer.byteLength(text);
  const isCut = bytes > limits.peerArtifactBytes;
  const content = isCut ? bounded(text).text : text;
  return { ...named, bytes: file?.length ?? bytes, content, ...(isCut ? { cut: true } : {}) };
}
