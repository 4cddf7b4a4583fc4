/**
 * What a pattern is to the rest of the program: one entry in the table of `registered.ts`. Whoever runs an agent, gives it tools
 * or shows its answer asks the entries; nobody outside of a pattern's own room knows it by name.
 *
 * A run of an agent goes through the patterns that its file declares, in the order of the table: those that prepare the request,
 * then the core, which is the agent's own loop unless a pattern takes its place, then those that follow the answer.
 */
import { type AgentDefinition, patternKeys } from '../agents/definition/definition.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { UserMessage } from '../events/messages.ts';
import { loopOnlyAs, roleInTree } from '../events/run-origin.ts';
import type { Convergence } from '../events/tasks/convergence.ts';
import type { Exit } from '../loop/port.ts';
import type { AgentRun, Answered } from './agent-run.ts';
import type { RunResult } from './steps.ts';
import type { NamedResult } from './verification.ts';

export interface Pattern {
  /** Its key in the agent's file. */
  readonly key: string;
  /** Tools that it gives to agents beside their own: a sub-agent of such a name is called differently. */
  readonly tools?: readonly string[];
  /** Roles of its children whose answer becomes the answer of the run, unless something follows. */
  readonly answeredBy?: readonly string[];
  /** Before the core: the request as the agent gets it, or the end. The same request when there is nothing to add. */
  prepare?(run: AgentRun, request: UserMessage): Promise<Prepared>;
  /** In place of the agent's own loop. */
  core?(run: AgentRun, request: UserMessage): Promise<RunResult> | undefined;
  /** Whoever declares it has no hands: of its tools only those that look, plan or ask are offered, whatever its file says. */
  readonly looksOnly?: boolean;
  /** Whether its tasks want places of their own to work in, which only a repository has. */
  wantsPlaces?(agent: AgentDefinition): boolean;
  /** What of its settings is recorded with the setup of a run. */
  convergence?(agent: AgentDefinition): Convergence | undefined;
  /** Of a core: nobody speaks in the name of the run itself, so nobody would hear what is said to it. */
  deaf?(agent: AgentDefinition): boolean;
  /** Tools that end the agent's own loop; `follow` finds in `answered.exit` which one did. */
  exits?(run: AgentRun): readonly Exit[];
  /** After the core. The same object when it changes nothing; the last one stands for the run in what it is part of. */
  follow?(run: AgentRun, answered: Answered, isLast: boolean): Promise<Answered>;
  /** How a run is played that this pattern started in a place of its own; `undefined` for all others. */
  place?(wanted: Wanted): Place | undefined;
}

export type Prepared = { readonly request: UserMessage; readonly from: readonly NamedResult[] } | { readonly ended: RunResult };

/** What is wanted of the agent. */
export type Wanted = Pick<AgentRun, 'agent' | 'seat' | 'loopOnly' | 'goesOn'>;

/** A run that is not simply the whole agent. */
export interface Place {
  /** Which of the patterns that the agent declares apply here. */
  readonly applies: 'all' | 'following' | 'none';
  /** The agent's own loop, as it is played here; where all patterns apply, only if none of them follows. */
  loop(run: AgentRun, request: UserMessage): Promise<Answered>;
  /** How the agent speaks here, where that is not what its own file says. */
  readonly voice?: Voice;
  /** What becomes of an answer that the run gave itself. */
  said?(run: AgentRun, result: RunResult): Promise<RunResult>;
}

export interface Voice {
  /** The system prompt, made of the agent's own. */
  system(own: string): string;
  /** Its file's own without it. */
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
}

/** What a run goes through. */
export interface Stages {
  readonly place: Place | undefined;
  readonly preparing: readonly Pattern[];
  readonly cores: readonly Pattern[];
  readonly following: readonly Pattern[];
}

export function stagesOf(patterns: readonly Pattern[], wanted: Wanted): Stages {
  const place = placeOf(patterns, wanted);
  // Whoever answered last time is asked again. Its patterns were for the first request: now it is only its conversation.
  const applies = place?.applies ?? (wanted.goesOn ? 'none' : 'all');
  const whole = applies === 'all';
  const declared = applies === 'none' ? [] : patterns.filter(({ key }) => declares(wanted.agent, key));
  return {
    place,
    preparing: declared.filter(({ prepare }) => whole && prepare !== undefined),
    cores: declared.filter(({ core }) => whole && core !== undefined),
    // What the agent has to choose is offered in the plain loop only.
    following: declared.filter(({ follow, exits }) => follow !== undefined && (whole || exits === undefined)),
  };
}

function placeOf(patterns: readonly Pattern[], wanted: Wanted): Place | undefined {
  for (const pattern of patterns) {
    const place = pattern.place?.(wanted);
    if (place !== undefined) return place;
  }
  return undefined;
}

const declares = (agent: AgentDefinition, key: string): boolean => Reflect.get(agent, key) !== undefined;

/** Whether the agent may only look, plan and ask, by what it declares. */
export function looksOnly(patterns: readonly Pattern[], agent: AgentDefinition): boolean {
  return patterns.some((pattern) => pattern.looksOnly === true && declares(agent, pattern.key));
}

/** Whether tasks of the agent want places of their own, by what it declares. */
export function wantsPlaces(patterns: readonly Pattern[], agent: AgentDefinition): boolean {
  return patterns.some((pattern) => declares(agent, pattern.key) && pattern.wantsPlaces?.(agent) === true);
}

/** What is recorded of the limits that the agent's tasks have, if it hands any over. */
export function convergenceOf(patterns: readonly Pattern[], agent: AgentDefinition): Convergence | undefined {
  for (const pattern of patterns) {
    const found = declares(agent, pattern.key) ? pattern.convergence?.(agent) : undefined;
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Keys that the agent declares and that cannot be run yet. */
export function notYet(patterns: readonly Pattern[], agent: AgentDefinition): string[] {
  return patternKeys.filter((key) => declares(agent, key) && !patterns.some((pattern) => pattern.key === key));
}

/** Whether the agent's own words are the answer of its run: nothing takes the place of its loop, and nothing follows. */
export function answersItself(patterns: readonly Pattern[], wanted: Wanted): boolean {
  const { cores, following } = stagesOf(patterns, wanted);
  return cores.length === 0 && following.length === 0;
}

/** Whether what is said to such a run reaches nobody: others work for it, and none of them speaks in its name. */
export function hearsNothing(patterns: readonly Pattern[], wanted: Wanted): boolean {
  const { cores, following } = stagesOf(patterns, wanted);
  return following.length === 0 && cores.some(({ deaf }) => deaf?.(wanted.agent) === true);
}

/** Whether a run speaks for the one above it: its words are that one's own, or its answer becomes that one's. */
export function answersAbove(patterns: readonly Pattern[], started: Pick<Payloads['run.started'], 'origin'>): boolean {
  const as = loopOnlyAs(started);
  if (as !== undefined) return as !== 'evaluator';
  const role = roleInTree(started);
  return role !== undefined && patterns.some(({ answeredBy }) => answeredBy?.includes(role) === true);
}

/** Whether the answer of a child in this role becomes that of the run above it; as far as is known of that one. */
export function passesOn(patterns: readonly Pattern[], above: Wanted | undefined, role: string | undefined): boolean {
  const by = patterns.findIndex(({ answeredBy }) => role !== undefined && answeredBy?.includes(role) === true);
  const following = above === undefined ? [] : stagesOf(patterns, above).following;
  return by !== -1 && following.every((pattern) => patterns.indexOf(pattern) <= by);
}
