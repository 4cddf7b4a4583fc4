/** Setting up the agent of a run: from the ledger when it was set up before, from its file otherwise. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { hasOwnModels } from '../../agents/definition/executor.ts';
import { withModel } from '../../agents/definition/references.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure, Payloads } from '../../events/catalogue.ts';
import type { TreeTerms } from '../../events/going-on.ts';
import { spawnerOf, usesTools } from '../../events/run-origin.ts';
import { wantedBy } from '../../patterns/agent-run.ts';
import { type Pattern, stagesOf } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { executorTerms } from '../executors/terms.ts';
import { failureOf } from '../failure-of.ts';
import { nobodyToAsk } from '../models-below.ts';
import type { AgentAccess, ModelAccess, ProjectRules, ToolAccess } from '../options.ts';
import { type AgentSetup, recordedDefinition, setupPayload } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { sealedError } from '../record/read-all.ts';
import { treeTerms } from '../record/standing-events.ts';
import type { Writes } from '../record/writes.ts';
import { SETUP_STEP } from './drive-run.ts';
import { equip, prepareAgent, unknownPrice } from './prepare.ts';

/** Under the terms on which the tree goes on now. */
export async function setupOf(
  ...[tree, node, rootSetup, found]: Parameters<typeof setupAsBefore>
): Promise<Result<AgentSetup, Failure>> {
  const terms = treeTerms(node);
  const setup = await setupAsBefore(withTerms(tree, terms), node, rootSetup, found && agentUnder(found, terms));
  if (!setup.ok || (terms.model === undefined && terms.maxTurns === undefined)) return setup;
  const definition = agentUnder(setup.value.definition, terms);
  const { models } = terms.model === undefined ? setup.value : definition;
  return ok({ ...setup.value, definition, models });
}

/** Every agent as the terms of the whole tree have it. */
export function withTerms<Options extends AgentAccess & ModelAccess>(options: Options, terms: TreeTerms): Options {
  const { model, vars } = terms;
  return {
    ...options,
    agent: async (name, session) => {
      const found = await options.agent(name, session);
      return found && agentUnder(found, terms);
    },
    // Whoever names no model has this one, also where there is no other.
    defaultModels: model === undefined ? options.defaultModels : async () => ok([model]),
    prompt: (agent, workspace, more) => options.prompt(agent, workspace, vars === undefined ? more : { ...more, ...vars }),
  };
}

function agentUnder(agent: AgentDefinition, { model, maxTurns }: TreeTerms): AgentDefinition {
  const asking = model === undefined ? agent : withModel(agent, model);
  return maxTurns === undefined ? asking : { ...asking, maxTurns };
}

/** The recorded setup of a run that is taken up again; a new one otherwise, which is recorded before it is used. */
async function setupAsBefore(
  tree: ModelAccess & AgentAccess & ToolAccess & ProjectRules & Writes & WorksInFolders,
  node: DrivenRun,
  rootSetup: AgentSetup | undefined,
  found: AgentDefinition | undefined,
): Promise<Result<AgentSetup, Failure>> {
  const recorded = node.journal.recorded('session.config', SETUP_STEP);
  if (recorded !== undefined) {
    if (recorded.inexact !== undefined) return fail(failureOf(sealedError('The setup of this run', recorded.inexact)));
    const equipped = await equip(tree, recordedDefinition(recorded.payload), recorded.payload.system);
    return await adapted(tree, equipped, node.started);
  }
  // The root's own setup was written together with its start.
  if (node.parent === undefined && rootSetup !== undefined) return ok(rootSetup);
  const prepared = await prepareAgent(tree, node.started.agent, tree.workspaceOf(node), found);
  const setup = voiced(tree.patterns, await adapted(tree, prepared, node.started), node.started);
  if (!setup.ok) return setup;
  const refused = unknownPrice(tree, setup.value, node.scopes, mostOf(setup.value, node));
  // A model that cannot be asked has no price either, and that is not what is wrong with it.
  if (refused !== undefined) {
    const { definition, models } = setup.value;
    return fail((await nobodyToAsk(tree, definition, models, models[0])) ?? refused);
  }
  tree.writer.enqueue([
    node.journal.event('session.config', setupPayload(setup.value, tree.patterns), { step: SETUP_STEP, actor: 'system' }),
  ]);
  return setup;
}

/** What an executor may cost for its task, or at all. */
const mostOf = ({ definition: { executor } }: AgentSetup, { started }: DrivenRun): number | undefined =>
  executor === undefined ? undefined : executorTerms(executor, started).maxUsd;

/** How it speaks in the place that it was given. Recorded with the rest: one that is taken up again goes on as it began. */
function voiced(
  patterns: readonly Pattern[] = registeredPatterns,
  setup: Result<AgentSetup, Failure>,
  started: Payloads['run.started'],
): Result<AgentSetup, Failure> {
  if (!setup.ok) return setup;
  const { definition, system } = setup.value;
  const voice = stagesOf(patterns, { agent: definition, ...wantedBy(started) }).place?.voice;
  if (voice === undefined) return setup;
  const { temperature, maxOutputTokens } = voice;
  const spoken = { ...definition, ...present({ temperature, maxOutputTokens }) };
  return ok({ ...setup.value, definition: spoken, system: voice.system(system) });
}

type Changes = Pick<Payloads['run.started'], 'model' | 'origin'>;

/**
 * What others change about an agent they use: another model, no tools for somebody who only plans or judges, and those for
 * messages for somebody who was spawned.
 */
export async function adapted(
  options: ToolAccess,
  setup: Result<AgentSetup, Failure>,
  { model, origin }: Changes,
): Promise<Result<AgentSetup, Failure>> {
  const spawner = spawnerOf({ origin });
  // Whoever has models and tools of its own is as it is.
  if (!setup.ok || hasOwnModels(setup.value.definition)) return setup;
  if (model === undefined && usesTools({ origin }) && spawner === undefined) return setup;
  const { tools } = setup.value;
  const messages = spawner === undefined ? [] : ((await options.messageTools?.()) ?? []);
  const names = new Set(tools.map((tool) => tool.name));
  return ok({
    ...setup.value,
    ...(model === undefined ? {} : { models: [model] }),
    tools: usesTools({ origin }) ? [...tools, ...messages.filter((tool) => !names.has(tool.name))] : [],
  });
}
