/**
 * Why a tool, or an agent, was not called in a run and those below it: run by run what there is to say. What was asked for and
 * not made says why in its own words; what nobody asked for was offered, or was not.
 */
import type { EventId, RunId } from '../../base/ids.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';

export const absenceReasons = [
  ...(['called', 'not_in_list', 'not_there', 'never_asked', 'withheld', 'denied_by_rule', 'denied_by_person'] as const),
  ...(['unanswered', 'at_a_limit', 'malformed', 'not_made'] as const),
] as const;
export type AbsenceReason = (typeof absenceReasons)[number];

export interface Absence {
  readonly run: RunId;
  readonly agent: string;
  readonly reason: AbsenceReason;
  readonly text: string;
  /** The event that shows it; `null` where nothing happened. */
  readonly event: EventId | null;
}

interface Refusal {
  readonly reason: AbsenceReason;
  readonly text: string;
  readonly event: EventId;
}

interface OfRun {
  agent: string;
  setUp: EventId | null;
  tools: readonly string[];
  /** The tools that its file lists. */
  listed: readonly string[];
  /** What its file says of the tool under `permissions`. */
  rule: Json | undefined;
  turns: number;
  /** Turns in which it was among the tools that were offered. */
  offered: number;
  calls: number;
  called: EventId | null;
  /** Asked for and without an outcome so far, by step, and where that was. */
  readonly open: Map<string, EventId>;
  refused: readonly Refusal[];
}

export interface AbsenceFold {
  readonly name: string;
  readonly runs: Map<RunId, OfRun>;
  /** Permissions that a person refused, by run and step. */
  readonly denials: Map<string, EventOf<'approval.answered'>>;
}

export const initialAbsence = (name: string): AbsenceFold => ({ name, runs: new Map(), denials: new Map() });

/** Updates and returns the accumulator it was given. */
export function foldAbsence(fold: AbsenceFold, event: LedgerEvent): AbsenceFold {
  const { name } = fold;
  const own = ofRun(fold, event.run_id);
  switch (event.event_type) {
    case 'run.started':
      own.agent = event.payload.agent;
      if (own.agent === name) noteCall(own, event);
      break;
    case 'session.config':
      Object.assign(own, { setUp: event.event_id, tools: event.payload.tools.map((tool) => tool.name) });
      own.listed = listedTools(event.payload.definition);
      own.rule = ruleOf(event.payload.definition, name);
      break;
    case 'model.request':
      own.turns += 1;
      if (event.payload.tools?.includes(name) ?? own.tools.includes(name)) own.offered += 1;
      turnedAway(own, event, name);
      break;
    case 'model.response':
      for (const [index, call] of toolCallsOf(event.payload.message).entries())
        if (call.name === name) own.open.set(`turn/${event.payload.turn}/tool/${index}`, event.event_id);
      break;
    case 'approval.answered':
      if (event.payload.answer.kind !== 'approved')
        fold.denials.set(`${event.run_id} ${event.payload.wait.replace(/\/approval(\/\d+)?$/, '')}`, event);
      break;
    case 'tool.call':
      if (event.payload.name === name) noteCall(own, event);
      break;
    case 'tool.result':
      if (event.payload.name === name) noteResult(fold, own, event);
      break;
    default:
      break;
  }
  return fold;
}

function ofRun({ runs }: AbsenceFold, run: RunId): OfRun {
  const known = runs.get(run);
  if (known !== undefined) return known;
  const made: OfRun = {
    ...{ agent: 'unknown', setUp: null, tools: [], listed: [], rule: undefined, turns: 0, offered: 0, calls: 0, called: null },
    ...{ open: new Map(), refused: [] },
  };
  runs.set(run, made);
  return made;
}

function noteCall(own: OfRun, event: LedgerEvent): void {
  own.calls += 1;
  own.called ??= event.event_id;
  if (event.step !== null) own.open.delete(event.step);
}

/** An error without a call before it is a refusal; without an error it was a question, which is asked and not made. */
function noteResult({ denials }: AbsenceFold, own: OfRun, event: EventOf<'tool.result'>): void {
  if (event.step === null || !own.open.delete(event.step)) return;
  if (event.payload.isError !== true) {
    noteCall(own, event);
    return;
  }
  const text = toldText(event.payload.content);
  const denial = denials.get(`${event.run_id} ${event.step}`);
  own.refused = [...own.refused, denial === undefined ? { ...sorted(text), event: event.event_id } : refusedBy(denial)];
}

function refusedBy({ event_id: event, payload: { answer, by, where } }: EventOf<'approval.answered'>): Refusal {
  if (answer.kind === 'expired') return { reason: 'unanswered', text: 'nobody answered in time', event };
  const who = by === undefined ? 'somebody' : `${by}${where === undefined ? '' : ` (${where})`}`;
  const note = answer.kind === 'denied' && answer.note !== undefined ? `: ${answer.note}` : '';
  return { reason: 'denied_by_person', text: `${who} said no${note}`, event };
}

/** What was turned away before it was made is answered by the next request. */
function turnedAway(own: OfRun, event: EventOf<'model.request'>, name: string): void {
  const answers = event.payload.added.flatMap((one) =>
    'message' in one && one.message.role === 'tool' ? one.message.content : [],
  );
  for (const part of answers) {
    if (part.turnedAway !== true || part.name !== name) continue;
    const [step] = own.open.keys();
    if (step !== undefined) own.open.delete(step);
    own.refused = [...own.refused, { ...sorted(toldText(part.content)), event: event.event_id }];
  }
}

const toldText = (content: readonly { readonly type: string; readonly text?: string }[]): string =>
  textOf(content).replace(/^Not run: /, '');

/** By the words that the runtime itself refuses with. */
function sorted(text: string): Pick<Refusal, 'reason' | 'text'> {
  if (/^this agent may not use |^this session is read-only/.test(text)) return { reason: 'denied_by_rule', text };
  if (/\((?:maxToolCallsPerTurn|maxCliCalls)\)|^at most /.test(text)) return { reason: 'at_a_limit', text };
  if (/^there is no tool named /.test(text)) return { reason: 'not_in_list', text };
  if (/^the arguments are not valid JSON/.test(text)) return { reason: 'malformed', text };
  return { reason: 'not_made', text };
}

function listedTools(definition: Json): readonly string[] {
  const tools = isJsonObject(definition) ? definition['tools'] : undefined;
  return Array.isArray(tools) ? tools.filter((tool) => typeof tool === 'string') : [];
}

function ruleOf(definition: Json, name: string): Json | undefined {
  const rules = isJsonObject(definition) ? definition['permissions'] : undefined;
  return isJsonObject(rules ?? null) ? (rules as Readonly<Record<string, Json>>)[name] : undefined;
}

/** Where to look for the rule: what holds is the strictest of the agent's own and those of the settings. */
function ruleText(name: string, rule: Json | undefined): string {
  return rule === undefined ? `; the rule stands in the settings` : `; its file says ${name}: ${JSON.stringify(rule)}`;
}

/** One line for each run, in the order in which they began. */
export function absences({ name, runs }: AbsenceFold): readonly Absence[] {
  return [...runs]
    .filter(([, own]) => own.agent !== 'unknown')
    .map(([run, own]) => ({ run, agent: own.agent, ...absence(name, own) }));
}

function absence(name: string, own: OfRun): Omit<Absence, 'run' | 'agent'> {
  const times = (count: number): string => (count === 1 ? 'once' : `${count} times`);
  if (own.calls > 0) return { reason: 'called', text: `it was called ${times(own.calls)}`, event: own.called };
  const refusal = own.refused.at(-1);
  if (refusal !== undefined) {
    const asked =
      own.refused.length === 1
        ? 'asked for, and not made'
        : `asked for ${times(own.refused.length)}, and not made; the last time`;
    const rule = refusal.reason === 'denied_by_rule' ? ruleText(name, own.rule) : '';
    return { reason: refusal.reason, text: `${asked}: ${refusal.text.replace(/\.$/, '')}${rule}`, event: refusal.event };
  }
  const [left] = own.open.values();
  if (left !== undefined) return { reason: 'not_made', text: 'asked for, and the run stopped before it was made', event: left };
  if (!own.tools.includes(name)) {
    if (own.listed.includes(name))
      return { reason: 'not_there', text: 'its file lists it, but it was not there when the run was set up', event: own.setUp };
    const has = own.tools.length === 0 ? 'it has no tools' : `it has ${own.tools.join(', ')}`;
    return { reason: 'not_in_list', text: `not among its tools: ${has}`, event: own.setUp };
  }
  if (own.offered === 0 && own.turns > 0)
    return { reason: 'withheld', text: `it has it, but it was offered in none of its ${own.turns} turns`, event: own.setUp };
  return {
    reason: 'never_asked',
    text: `offered in ${own.offered} of ${own.turns} turns, and the model never asked for it`,
    event: own.setUp,
  };
}
