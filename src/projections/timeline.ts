/**
 * One readable line per event, for logs and plain progress. The text is not made safe for a terminal here: whoever prints
 * it does that, because only they know where it goes.
 */

import { unreachable } from '../base/errors.ts';
import type { RunId } from '../base/ids.ts';
import { judgedName } from '../base/visible-text.ts';
import { counted } from '../base/wording.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { textOf, toolCallsOf } from '../events/messages.ts';
import { parentRun, reasonInTree, roleInTree } from '../events/run-origin.ts';
import { succeeded } from '../events/succeeded.ts';
import { endedText } from '../events/verification-text.ts';
import { assistantLine } from './assistant-lines.ts';
import { spendingOf } from './costs.ts';
import { artifactLine, isArtifactEvent } from './lines/artifact-lines.ts';
import { executorLine } from './lines/executor-lines.ts';
import { importedLine, reopenedText, sessionLine, signalLine, termsText } from './lines/fork-lines.ts';
import { isTranscriptEvent, transcriptLine } from './lines/transcript-lines.ts';
import { isWorkspaceEvent, workspaceLine } from './lines/workspace-lines.ts';
import { type OrganisationEvent, organisationLine } from './organisation-lines.ts';
import { isPatternEvent, patternLine, type RecordedByPattern } from './patterns/pattern-lines.ts';
import { peerLine } from './peer-lines.ts';
import { pushLine } from './push-lines.ts';
import {
  firstLine,
  readableBytes,
  readableCount,
  readableDuration,
  readableInAndOut,
  readableMoney,
  shownAgent,
} from './readable.ts';
import { requestLine } from './request-text.ts';
import { questionIn } from './run-tree.ts';

export type Level = 'detail' | 'info' | 'warn' | 'error';

export interface TimelineLine {
  readonly position: number;
  readonly time: string;
  readonly run: RunId;
  readonly agent: string;
  readonly text: string;
  readonly level: Level;
}

export interface Timeline {
  readonly agents: Map<RunId, string>;
  readonly lines: TimelineLine[];
}

const TEXT_CHARACTERS = 160;

export const initialTimeline = (): Timeline => ({ agents: new Map(), lines: [] });

/** Updates and returns the accumulator it was given. */
export function foldTimeline(timeline: Timeline, event: LedgerEvent): Timeline {
  timeline.lines.push(timelineLine(timeline.agents, event));
  return timeline;
}

/** The line of one event. Remembers in `agents` whose run is whose, so that a follower need not keep the lines. */
export function timelineLine(agents: Map<RunId, string>, event: LedgerEvent): TimelineLine {
  if (event.event_type === 'run.started') agents.set(event.run_id, shownAgent(event.payload.agent, roleInTree(event.payload)));
  const [level, text] = event.event_type === 'session.imported' ? importedLine(event.payload) : describe(event);
  return {
    position: event.position,
    time: event.timestamp,
    run: event.run_id,
    agent: agents.get(event.run_id) ?? '-',
    text,
    level,
  };
}

type Description = readonly [level: Level, text: string];

function describe(event: Exclude<LedgerEvent, EventOf<'session.imported'>>): Description {
  if (isPatternEvent(event)) return patternLine(event);
  if (isWorkspaceEvent(event)) return workspaceLine(event);
  if (isArtifactEvent(event)) return artifactLine(event);
  if (isTranscriptEvent(event)) return transcriptLine(event);
  switch (event.event_type) {
    case 'session.started':
    case 'session.config':
    case 'session.brought':
    case 'run.started':
    case 'run.resumed':
    case 'run.paused':
    case 'run.signalled':
    case 'run.parked':
    case 'run.reopened':
    case 'run.withdrawn':
    case 'run.ended':
      return describeRun(event);
    case 'model.request':
    case 'model.response':
    case 'model.failed':
      return describeModel(event);
    case 'tool.call':
    case 'tool.result':
    case 'cli.run':
    case 'cli.stdout':
    case 'cli.stderr':
    case 'file.diff':
    case 'test.report':
    case 'evidence.checked':
      return describeTool(event);
    case 'agent.dismissed':
    case 'task.captured':
    case 'task.clarify':
    case 'task.summary':
    case 'task.error':
    case 'approval.asked':
    case 'approval.answered':
    case 'approval.withdrawn':
    case 'budget.reserved':
    case 'budget.settled':
    case 'step.recorded':
      return describeOther(event);
    case 'message.sent':
    case 'message.included':
    case 'message.read':
    case 'context.noted':
    case 'process.started':
    case 'process.ended':
      return assistantLine(event);
    case 'push.configured':
    case 'push.removed':
    case 'push.told':
      return pushLine(event);
    case 'peer.sent':
    case 'peer.unsent':
    case 'peer.task':
    case 'peer.state':
    case 'peer.artifact':
    case 'peer.cancelled':
      return peerLine(event);
    case 'executor.session':
    case 'executor.prompted':
    case 'executor.call':
    case 'executor.result':
    case 'executor.decided':
    case 'executor.planned':
    case 'executor.ended':
      return executorLine(event);
    default:
      return ['info', organisationLine(event)];
  }
}

type EventNamed<Prefix extends string> = Extract<LedgerEvent, { event_type: `${Prefix}.${string}` }>;

function describeRun(
  event: Exclude<EventNamed<'session' | 'run'>, OrganisationEvent | EventOf<'session.imported'>>,
): Description {
  switch (event.event_type) {
    case 'session.started':
      return sessionLine(event.payload);
    case 'session.config':
      return ['detail', `set up ${event.payload.agent} with ${counted(event.payload.tools.length, 'tool')}`];
    case 'session.brought':
      return ['detail', `brought ${counted(event.payload.agents.length, 'agent')} along for whoever works on it`];
    case 'run.started':
      return ['info', startText(event.payload)];
    case 'run.resumed':
      return ['info', event.payload.takenOver ? 'resumed, taken over from a process that died' : 'resumed'];
    case 'run.paused':
      return ['warn', `paused: ${event.payload.reason}`];
    case 'run.signalled':
      return signalLine(event.payload);
    case 'run.parked':
      return ['warn', `parked: ${event.payload.error.message}`];
    case 'run.reopened':
      return ['info', `${reopenedText(event.payload)}${termsText(event.payload)}`];
    case 'run.withdrawn':
      return ['info', 'taken back: the conversation goes on with what was before it'];
    case 'run.ended': {
      const { status, report, error, finalRun, finalAgent, spoke, verification } = event.payload;
      const ended = `ended ${endedText(status, verification)}`;
      if (status === 'completed' && spoke !== undefined) return ['detail', 'ended its part of the cycle'];
      if (succeeded({ status }) && finalRun !== undefined)
        return [status === 'completed' ? 'info' : 'warn', `${ended} with the answer of ${finalAgent}`];
      if (error !== undefined) return [status === 'cancelled' ? 'warn' : 'error', `${ended}: ${error.message}`];
      const level = status === 'completed' ? 'info' : status === 'failed' ? 'error' : 'warn';
      return [level, `${ended}: ${firstLine(report.body, TEXT_CHARACTERS)}`];
    }
    default:
      return unreachable(event);
  }
}

/** What a run was started with; of what others put together for it only who wanted it, and why. */
function startText(started: Payloads['run.started']): string {
  const { input, origin } = started;
  const prompt = input.role === 'user' ? textOf(input.content) : '';
  if (parentRun(started) === undefined) return `started: ${firstLine(prompt, TEXT_CHARACTERS)}`;
  if (origin.kind === 'clarification') return `is asked again: ${firstLine(questionIn(prompt), TEXT_CHARACTERS)}`;
  const reason = reasonInTree(started);
  const begun = `started as ${roleInTree(started)}${reason === undefined ? '' : ` (${reason})`}`;
  return origin.kind === 'call' ? `${begun}: ${firstLine(prompt, TEXT_CHARACTERS)}` : begun;
}

function describeModel(event: EventNamed<'model'>): Description {
  switch (event.event_type) {
    case 'model.request':
      return describeRequest(event.payload);
    case 'model.response': {
      const { turn, message, cost, durationMs } = event.payload;
      const calls = toolCallsOf(message).map((call) => call.name);
      const said =
        calls.length > 0 ? `calls ${calls.join(', ')}` : `says: ${firstLine(textOf(message.content), TEXT_CHARACTERS)}`;
      const tokens = readableInAndOut(spendingOf(event.payload));
      const price = cost === undefined ? 'price unknown' : readableMoney(cost.nanoUsd);
      return ['info', `turn ${turn}: ${said} [${tokens}, ${price}, ${readableDuration(durationMs)}]`];
    }
    case 'model.failed': {
      const { turn, model, attempt, error, final, nextInMs = 0 } = event.payload;
      if (error.kind === 'cancelled' && !final) return ['warn', `turn ${turn}: ${model} was cut off: it may have been paid for`];
      if (error.kind === 'cancelled')
        return ['error', `turn ${turn}: ${model} was stopped (attempt ${attempt}): ${error.message}`];
      const soon = nextInMs < 1_000 ? '' : ` in ${readableDuration(nextInMs)}`;
      const next = final ? 'gave up' : `trying again${soon}`;
      return [
        final ? 'error' : 'warn',
        `turn ${turn}: ${model.replace(/^executor:/, '')} failed (${kindOf(error)}, attempt ${attempt}), ${next}: ${error.message}`,
      ];
    }
    default:
      return unreachable(event);
  }
}

/** Of an executor its own words: what kind of failure of a model it counts as says nothing to a reader. */
const kindOf = ({ kind, executor }: Payloads['model.failed']['error']): string =>
  executor === undefined ? kind : EXECUTOR_FAILED[executor];

const EXECUTOR_FAILED: Readonly<Record<NonNullable<Payloads['model.failed']['error']['executor']>, string>> = {
  crashed: 'it ended by itself',
  protocol: 'not the protocol',
  auth: 'nobody is logged in',
  unavailable: 'not there',
  timeout: 'no answer in time',
  error: 'it says so',
  refusal: 'it refused',
  limit: 'stopped at a limit',
};

type ToolEvent = EventNamed<'tool' | 'cli' | 'file' | 'test' | 'evidence'>;

/** What was turned away before anything was recorded of it is answered here. */
function describeRequest({ turn, model, added }: Payloads['model.request']): Description {
  const asking = `turn ${turn}: asking ${model}`;
  const answers = added.flatMap((one) => ('message' in one && one.message.role === 'tool' ? one.message.content : []));
  const refused = answers.filter((part) => part.turnedAway === true);
  if (refused.length === 0) return ['detail', asking];
  const why = refused.map(({ name, content }) => {
    const told = textOf(content).replace(/^Not run: /, '');
    return `${name} was not run: ${firstLine(told, TEXT_CHARACTERS)}`;
  });
  return ['warn', [asking, ...why].join('; ')];
}

function describeTool(event: ToolEvent): Description {
  switch (event.event_type) {
    case 'tool.call':
      return ['detail', `calling ${event.payload.name}`];
    case 'tool.result': {
      const { name, isError, inDoubt, gone, durationMs, content, child } = event.payload;
      if (gone === true) return ['warn', `${name} was not run: its exact arguments are gone`];
      const doubt = inDoubt === true ? ', outcome in doubt after a crash' : '';
      const took = readableDuration(durationMs);
      if (isError === true)
        return ['warn', `${name} failed after ${took}${doubt}: ${firstLine(textOf(content), TEXT_CHARACTERS)}`];
      return ['info', child === undefined ? `${name} done in ${took}${doubt}` : `${child.agent} answered in ${took}`];
    }
    case 'cli.run': {
      const { command, exitCode, signal, durationMs, protected: touched = [] } = event.payload;
      const how = exitCode === null ? `ended by ${signal ?? 'a signal'}` : `exit ${exitCode}`;
      const meanwhile = touched.length === 0 ? '' : `; protected files changed meanwhile: ${touched.join(', ')}`;
      return [
        exitCode === 0 && touched.length === 0 ? 'info' : 'warn',
        `$ ${firstLine(command, TEXT_CHARACTERS)} (${how}, ${readableDuration(durationMs)})${meanwhile}`,
      ];
    }
    case 'cli.stdout':
    case 'cli.stderr':
      return ['detail', `${event.event_type === 'cli.stdout' ? 'stdout' : 'stderr'}: ${readableBytes(event.payload.bytes)}`];
    case 'file.diff':
      return ['info', describeChange(event.payload)];
    case 'test.report':
      return [event.payload.passed ? 'info' : 'warn', describeTests(event.payload)];
    case 'evidence.checked': {
      const { claims, verified, demanded = [] } = event.payload;
      const counts = [
        ...(claims.length > 0 || demanded.length === 0 ? [`${part(claims, ({ backed }) => backed)} claims backed`] : []),
        ...(demanded.length > 0 ? [`${part(demanded, ({ passed }) => passed)} demands met`] : []),
      ];
      return [verified ? 'info' : 'warn', `${verified ? 'verified' : 'not verified'}: ${counts.join(', ')}`];
    }
    default:
      return unreachable(event);
  }
}

function describeChange({ path, addedLines, removedLines, by }: Payloads['file.diff']): string {
  return `changed ${judgedName(path)} (+${addedLines} -${removedLines})${by === 'outside' ? ', not by this run' : ''}`;
}

function describeTests({ passed, command, why }: Payloads['test.report']): string {
  if (why !== undefined) return `tests prove nothing (${why}): ${command}`;
  return `tests ${passed ? 'passed' : 'failed'}: ${command}`;
}

function part<Item>(items: readonly Item[], good: (item: Item) => boolean): string {
  return `${items.filter(good).length} of ${items.length}`;
}

function describeOther(
  event: Exclude<EventNamed<'task' | 'approval' | 'budget' | 'step' | 'agent'>, RecordedByPattern>,
): Description {
  switch (event.event_type) {
    case 'agent.dismissed':
      return ['detail', `${event.payload.agent} (${event.payload.id}) is dismissed`];
    case 'task.clarify':
      return ['warn', `asks you: ${firstLine(event.payload.question, TEXT_CHARACTERS)}`];
    case 'task.captured': {
      const { files, undone, failed, patch, missing = [] } = event.payload;
      if (failed !== undefined) return ['warn', `what it changed could not be kept as a patch: ${failed}`];
      const named = (all: typeof undone, what: string): string =>
        all.length === 0 ? '' : `; ${what}, not its task's: ${all.map(({ path }) => judgedName(path)).join(', ')}`;
      const [back, there] = [undone.filter(({ kept }) => kept), undone.filter(({ kept }) => !kept)];
      const how = patch === undefined ? 'changed, where they are' : 'kept as a patch';
      const kept = files.length === 0 ? 'no file of its task is changed' : `${counted(files.length, 'file')} ${how}`;
      const lost = missing.length === 0 ? '' : `; in no patch: ${missing.map(judgedName).join(', ')}`;
      const level = undone.length > 0 || missing.length > 0 ? 'warn' : files.length === 0 ? 'detail' : 'info';
      return [level, `${kept}${named(back, 'taken back')}${named(there, 'still there')}${lost}`];
    }
    case 'task.summary':
      return ['info', 'summarised what was said so far'];
    case 'task.error':
      // The end of the run says it too, unless it is told at the moment when it happens.
      return [event.payload.category === undefined ? 'detail' : 'error', event.payload.message];
    case 'approval.asked':
      return ['warn', `asks to use ${event.payload.tool}: ${requestLine({ ...event.payload, run: event.run_id })}`];
    case 'approval.answered': {
      const { answer } = event.payload;
      const said = answer.kind === 'text' ? `: ${firstLine(answer.text, TEXT_CHARACTERS)}` : '';
      return [answer.kind === 'expired' ? 'warn' : 'info', `${answerLine(event.payload)}${said}`];
    }
    case 'approval.withdrawn': {
      const { rule, by } = event.payload;
      const what = rule === undefined ? 'everything that was remembered' : `"always" for ${firstLine(rule, TEXT_CHARACTERS)}`;
      return ['info', `${what} taken back by ${firstLine(by, TEXT_CHARACTERS)}`];
    }
    case 'budget.reserved':
      return ['detail', `reserved ${readableCount(event.payload.amounts.tokens)} tokens`];
    case 'budget.settled':
      return [
        'detail',
        `settled ${readableCount(event.payload.spent.tokens)} tokens${event.payload.inDoubt === true ? ' in doubt' : ''}`,
      ];
    case 'step.recorded':
      return ['detail', `recorded ${event.step ?? 'a step'}`];
    default:
      return unreachable(event);
  }
}

/** Ways on which a permission may be given that was shown to nobody. */
const UNSEEN: Readonly<Record<string, string>> = {
  flag: ', nothing was shown to a person',
  command: ', nobody said that they saw it',
};

/** How a question was answered, by whom and where, and for how long that holds; not the words of an answer. */
export function answerLine({ answer, by, where, shown, request }: Payloads['approval.answered']): string {
  const place = where === undefined ? '' : ` (${where})`;
  const whose = by === undefined ? '' : ` by ${firstLine(by, TEXT_CHARACTERS)}${place}`;
  switch (answer.kind) {
    case 'expired':
      return 'nobody answered in time';
    case 'text':
      return `answered${whose}`;
    case 'denied':
      return `denied${whose}`;
    case 'approved': {
      const later =
        answer.remember !== true ? '' : answer.scope === 'project' ? ', always in this project' : ', always in this session';
      const input = answer.input === undefined ? '' : ', with another input than was asked for';
      const unseen = request === undefined || shown !== undefined ? undefined : UNSEEN[where ?? ''];
      return `approved${whose}${later}${input}${unseen ?? ''}`;
    }
    default:
      return unreachable(answer);
  }
}
