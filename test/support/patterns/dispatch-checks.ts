/** What must hold of every dispatch in every story: who may work, how often, and what becomes of what they say. */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { limits } from '../../../src/base/limits.ts';
import { standing } from '../../../src/engine/record/standing-events.ts';
import type { LedgerEvent } from '../../../src/events/envelope.ts';
import { parentRun, roleInTree } from '../../../src/events/run-origin.ts';
import { dispatchSettings } from '../../../src/patterns/dispatch/settings.ts';

type EventOf<Type extends LedgerEvent['event_type']> = Extract<LedgerEvent, { event_type: Type }>;
type Settings = ReturnType<typeof dispatchSettings>;
type Chosen = EventOf<'dispatch.chose'>['payload'];
type Responded = EventOf<'dispatch.responded'>['payload'];

function must(holds: boolean, message: string): void {
  if (!holds) throw new Error(message);
}

/** One run that dispatched, and all that it did, in order. */
interface Story {
  readonly run: string;
  readonly settings: Settings;
  /** Its answer goes to whoever asked as it is: nobody else has the last word. */
  readonly isLast: boolean;
  readonly choices: Chosen[];
  readonly responses: Responded[];
  readonly started: { readonly agent: string; readonly afterChoices: number }[];
  end?: EventOf<'run.ended'>['payload'];
}

export function dispatchesKeepTheirWord(agents: readonly AgentDefinition[], all: readonly LedgerEvent[]): void {
  for (const story of storiesIn(agents, standing(all))) {
    for (const [index, choice] of story.choices.entries()) checkChoice(story, choice, index + 1);
    for (const one of story.started) checkStart(story, one);
    for (const response of story.responses) checkResponse(story, response);
    checkEnd(story);
  }
}

function storiesIn(agents: readonly AgentDefinition[], events: readonly LedgerEvent[]): readonly Story[] {
  const stories = new Map<string, Story>();
  const names = new Map<string, string>();
  for (const event of events) {
    const { run_id: run } = event;
    if (event.event_type === 'run.started') {
      names.set(run, event.payload.agent);
      const above = stories.get(parentRun(event.payload) ?? '');
      if (roleInTree(event.payload) === 'dispatched' && above !== undefined)
        above.started.push({ agent: event.payload.agent, afterChoices: above.choices.length });
    }
    if (event.event_type === 'dispatch.chose') {
      const definition = agents.find(({ name }) => name === names.get(run));
      must(definition?.dispatch !== undefined, `${run} chooses although its file says nothing of it`);
      if (definition?.dispatch === undefined) continue;
      const { dispatch, handoff } = definition;
      const fresh = { settings: dispatchSettings(dispatch), isLast: handoff === undefined };
      const story = stories.get(run) ?? { run, ...fresh, choices: [], responses: [], started: [] };
      stories.set(run, story);
      story.choices.push(event.payload);
    }
    if (event.event_type === 'dispatch.responded') stories.get(run)?.responses.push(event.payload);
    const over = stories.get(run);
    if (event.event_type === 'run.ended' && over !== undefined) over.end = event.payload;
  }
  return [...stories.values()];
}

function checkChoice({ run, settings }: Story, choice: Chosen, round: number): void {
  const { agentId, additionalAgents = [], agentInstructions = [], confidence, decision, leftOut = [], attempts } = choice;
  must(
    choice.round === round && round <= limits.dispatchClarifications + 1,
    `${run}: choice ${round} is counted as ${choice.round}`,
  );
  must(attempts <= settings.maxAttempts, `${run}: the router was asked ${attempts} times`);
  if (decision === 'fallback') {
    must(confidence === 0 && agentId === settings.fallbackId, `${run} falls back on ${agentId} with confidence ${confidence}`);
    return;
  }
  if (decision === 'clarification') {
    must(confidence < settings.confidenceThreshold, `${run} asks although it is sure`);
    must(agentId === settings.clarificationId, `${run}: ${agentId} is to ask`);
    must(settings.agents.includes(choice.proposed ?? ''), `${run} would have chosen ${choice.proposed}, whom there is not`);
    return;
  }
  const named = [agentId, ...additionalAgents];
  must(confidence >= settings.confidenceThreshold, `${run} routes although it is not sure`);
  must(new Set(named).size === named.length, `${run}: somebody is chosen twice`);
  for (const id of named) must(settings.agents.includes(id), `${run}: ${id} is chosen and is not there`);
  for (const id of leftOut) must(!settings.agents.includes(id), `${run}: ${id} is there and was left out`);
  const told = new Set(agentInstructions.map((one) => one.agentId));
  for (const id of additionalAgents) must(told.size === 0 || told.has(id), `${run}: ${id} is to work and was not told what`);
}

/** Whom the last choice names, and nobody before there is one. */
function checkStart({ run, settings, choices }: Story, { agent, afterChoices }: Story['started'][number]): void {
  const choice = choices[afterChoices - 1];
  must(settings.dryRun !== true, `${run} only chooses, and ${agent} works`);
  const named = choice === undefined ? [] : [choice.agentId, ...(choice.additionalAgents ?? [])];
  must(named.includes(agent), `${run}: ${agent} works and was not chosen`);
}

function checkResponse({ run, settings }: Story, response: Responded): void {
  const { agentId, success, errorMessage, content, attempts, needsInput } = response;
  must(success === (errorMessage === null), `${run}: ${agentId} succeeded ${success} and says ${errorMessage}`);
  must(success || content === '', `${run}: ${agentId} failed and has answered`);
  must(attempts <= settings.retries + 1, `${run}: ${agentId} was tried ${attempts} times`);
  must(needsInput !== true || settings.needsInput, `${run}: ${agentId} asks although questions are answers`);
}

/** Everybody who was chosen has responded, and is in the answer. */
function checkEnd({ run, settings, choices, responses, end, isLast }: Story): void {
  const choice = choices.at(-1);
  if (choice === undefined || end?.status !== 'completed' || settings.dryRun === true || !isLast) return;
  const latest = new Map(responses.map((one) => [one.agentId, one]));
  const { body } = end.report;
  const named = [choice.agentId, ...(choice.additionalAgents ?? [])];
  for (const id of named) {
    const response = latest.get(id);
    must(response !== undefined, `${run} is done, and ${id} has not responded`);
    const said =
      response?.success === true ? response.content.trim() : (response?.errorMessage ?? '').trim().replace(/[.!…]+$/, '');
    must(body.includes(said), `${run}: what ${id} said is not in the answer: ${said}`);
  }
  must(
    named.some((id) => latest.get(id)?.success === true),
    `${run} is done although all have failed`,
  );
  const asked = responses.filter(({ needsInput }) => needsInput === true);
  for (const id of named) {
    const count = asked.filter(({ agentId }) => agentId === id).length;
    must(count <= limits.dispatchQuestions + 1, `${run}: ${id} asks ${count} times`);
  }
}
