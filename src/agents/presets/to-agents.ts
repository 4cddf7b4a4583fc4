/** From a preset to agents that the engine runs: one that leads the group, and one for each worker. Nothing is written. */

import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { AgentDefinition } from '../definition/definition.ts';
import { literalPrompt } from '../definition/variables.ts';
import { type GroupPreset, type PresetWorker, plainName, roleOf } from './preset.ts';

/**
 * What workers may use when the preset does not say. Commands need somebody's leave, and the network is not there: the
 * charter may come from a stranger's repository.
 */
export const WORKER_TOOLS: readonly string[] = ['read', 'list', 'search', 'write', 'edit', 'shell', 'plan'];

/** The leader is the first; it has the plain name of the preset. */
export function presetAgents(preset: GroupPreset): AgentDefinition[] {
  const group = plainName(preset.name) || 'preset';
  const taken = new Set([group]);
  const workers = preset.workers.map((worker) => ({
    worker,
    agent: unique(`${group}.${plainName(worker.name) || 'worker'}`, taken),
  }));
  const source = `${preset.source.tier}:${preset.name}`;
  return [
    leader(preset, group, source, workers),
    ...workers.map(({ worker, agent }) => workerAgent(preset, worker, agent, source)),
  ];
}

interface Named {
  readonly worker: PresetWorker;
  readonly agent: string;
}

function leader(preset: GroupPreset, name: string, source: string, workers: readonly Named[]): AgentDefinition {
  const { mode, maxIterations, sharedContext, routingContext, orchestrator, description } = preset;
  return {
    name,
    source,
    models: orchestrator.model === undefined ? [] : [orchestrator.model],
    prompt: literalPrompt(orchestrator.prompt ?? leaderPrompt(preset)),
    ...(description === '' ? {} : { description: description.slice(0, DESCRIPTION_CHARACTERS) }),
    group: {
      mode,
      workers: uniqueNames(workers).map(([member, { worker, agent }]) => ({
        agent,
        name: member,
        ...present({ model: worker.model }),
        ...introduction(worker),
      })),
      ...present({ maxIterations }),
      ...(sharedContext === undefined ? {} : { sharedContext: { text: sharedContext } }),
      ...(routingContext === undefined ? {} : { routingContext: { text: routingContext } }),
    },
  };
}

const DESCRIPTION_CHARACTERS = 4_000;

/** What a leader is told when the preset does not say. */
export const leaderPrompt = ({ name, description }: Pick<GroupPreset, 'name' | 'description'>): string =>
  [
    `You lead the group "${name}".${description === '' ? '' : ` ${description}`}`,
    'Give each task to whom it suits best, with all that this worker needs to know to do it without asking back. When results ' +
      'are in, check them against each other and against the request before you put them together. The answer stands on its ' +
      'own: it says what was done or found, what it rests on, and what remains open.',
  ].join('\n\n');

/** The orchestrator sees the first sentence, the worker all of it, in front of each task; its charter is its prompt. */
function introduction(worker: PresetWorker): { readonly charter?: string } {
  const role = roleOf(worker);
  if (role === undefined) return {};
  return { charter: `${role.replace(/[.!?]*$/, '')}.${INTRODUCTION_END}` };
}

const INTRODUCTION_END = '\n\nDo the task below as your charter says, thoroughly.';

/** Whether somebody's charter is nothing but what was made here to introduce them. */
export const isIntroduction = (charter: string): boolean => charter.endsWith(INTRODUCTION_END);

function workerAgent(preset: GroupPreset, worker: PresetWorker, name: string, source: string): AgentDefinition {
  const role = roleOf(worker);
  return {
    name,
    source,
    models: worker.model === undefined ? [] : [worker.model],
    prompt: literalPrompt(worker.charter ?? plainCharter(preset.name, worker.name, role)),
    tools: [...(worker.tools ?? WORKER_TOOLS)],
    maxTurns: limits.presetWorkerTurns,
    ...present({ description: role, permissions: worker.permissions }),
  };
}

/** What a worker is told when the preset does not say. */
export const plainCharter = (group: string, name: string, role: string | undefined): string =>
  `You are ${name}${role === undefined ? '' : `, ${role}`}, of the group "${group}".`;

function unique(wanted: string, taken: Set<string>): string {
  let name = wanted;
  for (let count = 2; taken.has(name.toLowerCase()); count += 1) name = `${wanted}-${count}`;
  taken.add(name.toLowerCase());
  return name;
}

/** Assignments go by name, in any case, so two workers never share one. */
function uniqueNames(workers: readonly Named[]): readonly (readonly [string, Named])[] {
  const taken = new Set<string>();
  return workers.map((one) => [unique(one.worker.name, taken), one] as const);
}
