/** What patterns ask of the runtime beside steps: the files that give context, and who the others are. */

import type { AgentDefinition, GivenContext } from '../../agents/definition/definition.ts';
import { newestEntries } from '../../agents/text/newest-entries.ts';
import { TroupeError } from '../../base/errors.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { sentence } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { PatternEventType } from '../../events/pattern-events.ts';
import type { About, AgentRun, Skills } from '../../patterns/agent-run.ts';
import type { Steps } from '../../patterns/steps.ts';
import { asksNobody } from '../models-below.ts';
import type { AgentAccess, LedgerAccess, ModelAccess, ReplayAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { treeTerms } from '../record/standing-events.ts';

/** A context file is read once per run and recorded: a resumed run sees what it saw before. */
export function contextReader(
  tree: AgentAccess,
  agent: AgentDefinition,
  steps: Steps,
): (kind: 'shared' | 'routing', source: GivenContext | undefined) => Promise<string | undefined> {
  const read = new Map<string, Promise<string>>();
  return async (kind, source) => {
    if (source === undefined) return undefined;
    const load = (): Promise<string> => contextText(tree, agent, source);
    const known = read.get(kind) ?? steps.step(`context/${kind}`, load);
    read.set(kind, known);
    return newestEntries(await known, limits.contextCharacters, kind === 'routing' ? 'top' : 'end');
  };
}

/** What agents are told to know, they know: without the file their work would rest on something else than its author wrote. */
async function contextText(options: AgentAccess, { source: where }: AgentDefinition, source: GivenContext): Promise<string> {
  if (typeof source !== 'string') return source.text;
  const read = await options.contextFile?.(source);
  if (read?.ok === true) return read.value;
  const why = read === undefined ? 'cannot be read here' : read.error.message;
  throw new TroupeError('no_context', `${where}: the file ${source}, which the group gives as context, ${sentence(why)}`, {
    fix: '`troupe check` says where it is named.',
  });
}

export async function aboutAgents(tree: AgentAccess, agents: readonly string[]): Promise<About[]> {
  const found: About[] = [];
  for (const name of agents) {
    found.push(about(await tree.agent(name)));
  }
  return found;
}

export function about(agent: AgentDefinition | undefined): About {
  const { description, models, maxTurns } = agent ?? {};
  const [model] = models ?? [];
  return {
    ...present({ description, model, maxTurns }),
  };
}

export async function skillsOf(tree: AgentAccess, agents: readonly string[]): Promise<Skills[]> {
  const found: Skills[] = [];
  for (const name of agents) found.push(skills(await tree.agent(name)));
  return found;
}

export function skills(agent: AgentDefinition | undefined): Skills {
  const { description, tags, examples } = agent ?? {};
  return { ...present({ description, tags, examples }) };
}

/** Only that somebody cannot be asked is recorded: where all can, nothing is said of it. */
export function looksForModels(
  tree: AgentAccess & ModelAccess & ReplayAccess,
  node: DrivenRun,
  steps: Steps,
): AgentRun['asksNobody'] {
  const known = new Map<string, Promise<string | undefined>>();
  const look = async (key: string, agent: string, begun: PatternEventType): Promise<string | undefined> => {
    let why = '';
    if (node.journal.recorded('step.recorded', key) === undefined) {
      // With a model for the whole tree everybody asks that one, and the run itself does.
      const isSettled = tree.replay !== undefined || node.journal.latest(begun) !== undefined;
      const found = isSettled || treeTerms(node).model !== undefined ? undefined : await tree.agent(agent);
      const closed = found && (await asksNobody(tree, found));
      if (closed === undefined) return undefined;
      why = closed.message;
    }
    return await steps.step(key, async () => why);
  };
  return (key, agent, begun) => {
    const looked = known.get(key) ?? look(key, agent, begun);
    known.set(key, looked);
    return looked;
  };
}

/** Looks at the newest runs only, however long the ledger is. What cannot be read is not remembered. */
export async function recalled<Type extends PatternEventType>(
  { ledger }: LedgerAccess,
  { run: own, started: { agent } }: Pick<DrivenRun, 'run' | 'started'>,
  type: Type,
  accepts: (payload: Payloads[Type]) => boolean,
): Promise<Payloads[Type] | undefined> {
  try {
    const rows = await ledger.runs({ limit: limits.runsRecalled });
    const others = rows.filter((row) => row.agent === agent && row.run !== own).slice(0, limits.choicesRecalled);
    for (const { run, session } of others) {
      const events = await ledger.read({ session, run, types: [type], exact: true, newest: true, limit: limits.choicesRecalled });
      const found = events.map((event) => payloadOf(event, type)).find((payload) => payload !== undefined && accepts(payload));
      if (found !== undefined) return found;
    }
  } catch {
    // A store that does not answer now will say so where it matters.
  }
  return undefined;
}

function payloadOf<Type extends PatternEventType>(event: LedgerEvent, type: Type): Payloads[Type] | undefined {
  if (event.event_type !== type || event.inexact !== undefined) return undefined;
  // The type of the event is the type of its payload; the compiler cannot see that through a generic function.
  return event.payload as Payloads[Type];
}
