/**
 * The fold that makes acts of the events of a run and of all runs below it. What a run that went on after its end has undone does
 * not count, and a step that was done anew counts as it was done last.
 */
import type { EventId, RunId } from '../../base/ids.ts';
import { canonicalJson, type Json } from '../../base/json.ts';
import type { Failure, Payloads, RunState, Verification } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import type { ForkSource } from '../../events/going-on.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';
import { parentRun, roleInTree } from '../../events/run-origin.ts';
import { addSpending, type CallCosts, noSpending, spendingIn, spendingOf } from '../costs.ts';
import { decisionIn, isDecision } from '../patterns/pattern-decisions.ts';
import { type ActKind, createKeeping, type DoneAct, type KeptText, type TextKeeping } from './acts.ts';

export interface PlayedRun {
  readonly run: RunId;
  readonly agent: string;
  readonly role: string | null;
  /** Down to it from the root, such as `turn/3/tool/0/reviewer`; empty for the root. */
  path: string;
  readonly prompt: KeptText & { readonly event: EventId };
  setup: { readonly system: KeptText; readonly tools: KeptText; readonly definition: KeptText; readonly event: EventId } | null;
  readonly models: Set<string>;
  readonly acts: Map<string, DoneAct>;
}

interface ChangedFile {
  readonly before: string | null;
  readonly after: string | null;
  readonly addedLines: number;
  readonly removedLines: number;
}

/** What the comparison knows of one side. */
export interface Played {
  readonly root: RunId;
  readonly runs: Map<RunId, PlayedRun>;
  readonly files: Map<string, ChangedFile>;
  state: RunState;
  verification: Verification | null;
  error: Failure | null;
  forked: ForkSource | null;
  turns: number;
  events: number;
  /** All calls, with those that a fork took over from its source. */
  spent: CallCosts;
  /** Those of them that it took over, and that cost nothing here. */
  taken: CallCosts;
  /** When it began, or as a fork went on, and when the last thing happened. */
  from: number;
  until: number;
}

export interface PlayedFold {
  readonly played: Played;
  fold(event: LedgerEvent): void;
}

export function createPlayed(root: RunId, digest: (text: string) => string, workspace?: string): PlayedFold {
  const folders = new Set(workspace === undefined || workspace === '.' ? [] : [workspace]);
  const keeping = createKeeping(digest, () => [...folders].toSorted((one, other) => other.length - one.length));
  const played = emptyPlayed(root);
  const places: Places = { acts: new Map(), results: new Map(), paths: new Map() };
  return {
    played,
    fold(event) {
      if (event.event_type === 'run.started' && isBelow(played, event)) {
        const { workspace: own } = event.payload;
        if (own !== undefined && own.length > 1) folders.add(own);
        begin(played, keeping, places, event);
      }
      const run = played.runs.get(event.run_id);
      if (run === undefined) return;
      played.events += 1;
      played.until = Date.parse(event.timestamp);
      count(played, event);
      foldRun({ played, run, keeping, places }, event);
    },
  };
}

/** Calls that came to something; a question to a person is one too. */
export function callsMade({ runs }: Played): number {
  let made = 0;
  for (const { acts } of runs.values())
    for (const { kind, result } of acts.values()) if (kind === 'call' && result !== null) made += 1;
  return made;
}

const emptyPlayed = (root: RunId): Played => ({
  ...{ root, runs: new Map(), files: new Map(), state: 'running', verification: null, error: null, forked: null },
  ...{ turns: 0, events: 0, spent: noSpending(), taken: noSpending(), from: 0, until: 0 },
});

/** Which act an event belongs to, by its position. */
interface Places {
  readonly acts: Map<number, { readonly run: PlayedRun; readonly key: string }>;
  readonly results: Map<number, DoneAct>;
  /** How often a path was given. */
  readonly paths: Map<string, number>;
}

interface Folding {
  readonly played: Played;
  readonly run: PlayedRun;
  readonly keeping: TextKeeping;
  readonly places: Places;
}

const isBelow = ({ root, runs }: Played, { run_id: run, payload }: EventOf<'run.started'>): boolean =>
  run === root || runs.has((parentRun(payload) ?? '') as RunId);

function begin(played: Played, keeping: TextKeeping, places: Places, event: EventOf<'run.started'>): void {
  const { run_id: run, payload } = event;
  if (played.runs.has(run)) return;
  const { agent, input } = payload;
  const said = keeping.keep(input.role === 'user' ? textOf(input.content) : (input as unknown as Json));
  const prompt = { ...said, event: event.event_id };
  const begun: PlayedRun = {
    ...{ run, agent, role: roleInTree(payload) ?? null, path: '', prompt, setup: null },
    ...{ models: new Set<string>(), acts: new Map<string, DoneAct>() },
  };
  played.runs.set(run, begun);
  if (run === played.root) played.from = Date.parse(event.timestamp);
  const parent = played.runs.get((parentRun(payload) ?? '') as RunId);
  if (parent !== undefined && run !== played.root) startedBy(parent, begun, { keeping, places, played }, event);
}

/** By a call that an agent has made, or by its pattern. */
function startedBy(
  parent: PlayedRun,
  begun: PlayedRun,
  { keeping, places, played }: Omit<Folding, 'run'>,
  event: EventOf<'run.started'>,
): void {
  const cause = Number((event.parent_event_id ?? '').split('.').at(-1));
  const { acts } = parent;
  const asked = places.acts.get(cause);
  const call = asked?.run === parent ? acts.get(asked.key) : undefined;
  const name = `${begun.role ?? ''} ${begun.agent}`.trim();
  const act =
    call?.kind === 'call'
      ? call
      : add({ played, run: parent, keeping, places }, event, ['start', name, `start ${begun.run}`], '');
  act.began.push(begun.run);
  const place = [parent.path, call?.kind === 'call' ? act.step : '', begun.agent].filter((part) => part !== '').join('/');
  const before = places.paths.get(place) ?? 0;
  places.paths.set(place, before + 1);
  begun.path = before === 0 ? place : `${place}#${before + 1}`;
}

function add(
  { run, keeping, places }: Folding,
  event: LedgerEvent,
  [kind, name, key]: readonly [ActKind, string, string],
  given: Json | undefined,
  turn = 0,
): DoneAct {
  const { event_id: id, position } = event;
  const act: DoneAct = {
    ...{ run: run.run, kind, name, step: kind === 'start' ? '' : key, turn, event: id, position },
    ...{ given: keeping.keep(given), result: null, answers: new Map(), began: [] },
  };
  // What is done anew stands where it was done last.
  run.acts.delete(key);
  run.acts.set(key, act);
  places.acts.set(position, { run, key });
  return act;
}

function count(played: Played, event: LedgerEvent): void {
  const spent = spendingIn(event);
  if (spent !== undefined) played.spent = addSpending(played.spent, spent);
  else if ('forked' in event.payload && event.payload.forked === true && event.event_type === 'model.response') {
    const taken = spendingOf(event.payload);
    played.spent = addSpending(played.spent, taken);
    played.taken = addSpending(played.taken, taken);
  }
  if (event.event_type === 'model.response') played.turns += 1;
}

function foldRun(folding: Folding, event: LedgerEvent): void {
  const { run } = folding;
  if (event.event_type === 'session.config') run.setup = setupOf(folding, event);
  else if (event.event_type === 'model.request') run.models.add(event.payload.model);
  else if (event.event_type === 'model.response') answered(folding, event);
  else if (event.event_type === 'model.failed') failed(folding, event);
  else if (event.event_type === 'tool.call') called(folding, event);
  else if (event.event_type === 'tool.result') cameTo(folding, event);
  else if (event.event_type === 'approval.answered') said(folding, event);
  else if (event.event_type === 'file.diff') changed(folding, event);
  else if (event.event_type === 'run.ended') ended(folding, event);
  else if (event.event_type === 'run.reopened') reopened(folding, event);
  else if (isDecision(event.event_type)) {
    const { event_type: type, step, position, payload } = event;
    add(
      folding,
      event,
      ['decision', type, `${type} ${step ?? position}`],
      decisionIn(event.event_type, payload as unknown as Json),
    );
  }
}

function failed(folding: Folding, event: EventOf<'model.failed'>): void {
  const { final, error, turn } = event.payload;
  if (final) add(folding, event, ['failure', 'model', `${event.step ?? ''} failed`], error.kind, turn);
}

function changed({ played: { files } }: Folding, { payload }: EventOf<'file.diff'>): void {
  const { path, before, after, addedLines, removedLines } = payload;
  const known = files.get(path);
  const lines = { addedLines: addedLines + (known?.addedLines ?? 0), removedLines: removedLines + (known?.removedLines ?? 0) };
  files.set(path, { before: known === undefined ? before : known.before, after, ...lines });
}

function setupOf({ keeping }: Folding, { payload, event_id: event }: EventOf<'session.config'>): PlayedRun['setup'] {
  const tools = payload.tools.map(({ name }) => name).toSorted();
  return {
    ...{ system: keeping.keep(payload.system), tools: keeping.keep(tools.join(', ')), event },
    definition: keeping.keep(payload.definition),
  };
}

function answered(folding: Folding, event: EventOf<'model.response'>): void {
  const { message, turn } = event.payload;
  const words = textOf(message.content);
  if (words.trim() !== '') add(folding, event, ['words', 'words', `turn/${turn}/words`], words, turn);
  toolCallsOf(message).forEach(({ name, input, malformed }, index) => {
    add(folding, event, ['call', name, `turn/${turn}/tool/${index}`], malformed ?? input, turn);
  });
}

/** It is made: with other arguments, where whoever approved it has changed them. */
function called({ run, keeping, places }: Folding, event: EventOf<'tool.call'>): void {
  const key = event.step ?? '';
  const act = run.acts.get(key);
  if (act === undefined) return;
  places.acts.set(event.position, { run, key });
  if (event.payload.input !== undefined) act.given = keeping.keep(event.payload.input);
}

function cameTo({ run, keeping, places }: Folding, event: EventOf<'tool.result'>): void {
  const act = run.acts.get(event.step ?? '');
  if (act === undefined) return;
  const { content, isError } = event.payload;
  const texts = content.map((part) => (part.type === 'text' ? part.text : part.data)).join('\n');
  act.result = { ...keeping.keep(texts), event: event.event_id, failed: isError === true };
  places.results.set(event.position, act);
}

function said(folding: Folding, event: EventOf<'approval.answered'>): void {
  const { wait, answer } = event.payload;
  const asking = /^turn\/\d+\/tool\/\d+/.exec(wait)?.[0];
  const act = asking === undefined ? undefined : folding.run.acts.get(asking);
  const text = answerWords(answer);
  if (act === undefined) add(folding, event, ['answer', 'answer', wait], text);
  else act.answers.set(wait, { ...folding.keeping.keep(text), event: event.event_id });
}

/** What was said, and not for how long it holds. */
function answerWords(answer: Payloads['approval.answered']['answer']): string {
  switch (answer.kind) {
    case 'text':
      return answer.text;
    case 'denied':
      return answer.note === undefined ? 'no' : `no: ${answer.note}`;
    case 'approved':
      return answer.input === undefined ? 'yes' : `yes, with ${canonicalJson(answer.input)}`;
    default:
      return 'nothing: its time was over';
  }
}

function ended(folding: Folding, event: EventOf<'run.ended'>): void {
  const { status, error, report, exit, verification } = event.payload;
  const { played, run } = folding;
  const how = [status, error?.code, exit?.tool].filter((word) => word !== undefined).join(' ');
  add(folding, event, ['words', 'report', 'report'], report.body);
  add(folding, event, ['end', how, 'end'], how);
  if (run.run !== played.root) return;
  Object.assign(played, { state: status, error: error ?? null, verification });
}

function reopened({ played, run, places }: Folding, event: EventOf<'run.reopened'>): void {
  if (run.run === played.root && event.payload.forked !== undefined) {
    played.forked = event.payload.forked;
    played.from = Date.parse(event.timestamp);
  }
  for (const position of event.payload.undone) {
    const place = places.acts.get(position);
    const act = place?.run.acts.get(place.key);
    if (act?.position === position) place?.run.acts.delete(place.key);
    const result = places.results.get(position);
    if (result !== undefined) result.result = null;
  }
  if (run.run === played.root) Object.assign(played, { state: 'running', error: null, verification: null });
  for (const key of ['end', 'report']) run.acts.delete(key);
}
