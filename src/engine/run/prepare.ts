/**
 * What has to be true before a run starts: the agent exists and uses only what this release can run, its tools exist,
 * there is a model, and a budget in dollars is only promised where prices are known.
 */
import { nameProblem } from '../../agents/definition/agent-name.ts';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import type { ExecutorUse } from '../../agents/definition/executor.ts';
import { LOOKING_TOOLS } from '../../agents/definition/tool-names.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import { looksOnly, notYet } from '../../patterns/pattern.ts';
import { registeredPatterns } from '../../patterns/registered.ts';
import { askTool } from '../../tools/ask.ts';
import type { Tool } from '../../tools/port.ts';
import { agentTools } from '../calls/agent-tools.ts';
import type { AgentAccess, ModelAccess, ProjectRules, ToolAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { BudgetScope } from '../record/driven-run.ts';

/** `found`: the agent, when it was just looked up. */
export async function prepareAgent(
  options: ModelAccess & AgentAccess & ToolAccess,
  name: string,
  workspace: string,
  found?: AgentDefinition,
): Promise<Result<AgentSetup, Failure>> {
  const definition = found ?? (await options.agent(name));
  if (definition === undefined) return fail(noAgent(name));
  const problem = nameProblem(definition.name);
  if (problem !== undefined)
    return fail({
      code: 'bad_name',
      message: `The name ${JSON.stringify(definition.name)} ${problem}.`,
      fix: 'Give the agent another name.',
    });
  const missing = notYet(options.patterns ?? registeredPatterns, definition);
  if (missing.length > 0) {
    const message = `${definition.source}: not yet: this release reads ${missing.join(', ')} but cannot run it.`;
    return fail({ code: 'not_yet', message, fix: 'Remove the key to run the agent alone.' });
  }
  return await equip(options, definition, options.prompt(definition, workspace));
}

export const noAgent = (name: string): Failure => ({
  code: 'no_agent',
  message: `There is no agent named ${name} that could run.`,
  fix: 'If it has a file, `troupe check` says what is wrong with it; `troupe agents list` shows those that there are.',
});

/** Finds tools and models for a definition, be it from its file or from the ledger. */
export async function equip(
  options: ModelAccess & AgentAccess & ToolAccess,
  definition: AgentDefinition,
  system: string,
): Promise<Result<AgentSetup, Failure>> {
  // Its tools and models are elsewhere; what it asks is asked here.
  if (definition.remote !== undefined) return ok({ definition, system: '', models: definition.models, tools: [askTool()] });
  // It has its own tools, too; the prompt is what it is told first.
  if (definition.executor !== undefined) return ok({ definition, system, models: definition.models, tools: [] });
  const patterns = options.patterns ?? registeredPatterns;
  const own = await options.tools(definition);
  if (!own.ok) return fail({ code: 'bad_tools', message: `${definition.source}: ${own.error}` });
  const handless = looksOnly(patterns, definition);
  const tools = handless ? ok(own.value.filter(onlyLooks)) : own;
  const taken = new Set(tools.value.map((tool) => tool.name));
  const agents = handless ? ok([]) : await agentTools(definition, options.agent, taken, patterns);
  if (!agents.ok) return agents;
  const models = definition.models.length > 0 ? ok(definition.models) : await options.defaultModels();
  if (!models.ok) return fail({ code: 'no_model', message: models.error });
  return ok({ definition, system, models: models.value, tools: [...tools.value, ...agents.value] });
}

/** By its name and by what it is: nothing that a server or a program brings along, and nothing that another agent does. */
const onlyLooks = (tool: Tool): boolean =>
  LOOKING_TOOLS.includes(tool.name) &&
  (tool.kind === 'question' || (tool.kind === undefined && tool.readOnly === true && tool.origin === undefined));

const NOT_KEPT = 'is not known, so a budget in dollars cannot be kept.';
const UNKNOWN_PRICE_FIX =
  'Look whether the name is right (`troupe models` lists them). If it is, give its price under `prices` in troupe.yaml, limit ' +
  'budget.tokens instead, or set budget.allowUnknownPrices: true.';

/**
 * An unknown price is unknown, not zero: a limit in dollars that cannot be kept is refused, unless told otherwise. So is one in
 * tokens for whoever says only afterwards how many it took, if at all.
 */
export function unknownPrice(
  options: ModelAccess & ProjectRules,
  setup: AgentSetup,
  scopes: readonly BudgetScope[],
  /** What it may cost at most, where that is said. */
  maxUsd = setup.definition.executor?.maxUsd,
): Failure | undefined {
  if (setup.definition.budget?.allowUnknownPrices === true || options.projectBudget?.allowUnknownPrices === true)
    return undefined;
  const { executor, remote } = setup.definition;
  if ((executor ?? remote) !== undefined && scopes.some((scope) => scope.limit.tokens !== undefined))
    return uncounted(setup.definition);
  if (!scopes.some((scope) => scope.limit.usd !== undefined)) return undefined;
  if (executor !== undefined) return maxUsd === undefined ? unknownOf(setup.definition, executor) : undefined;
  const unknown = setup.models.find((model) => options.prices.cost(model, { inputTokens: 1, outputTokens: 1 }) === undefined);
  if (unknown === undefined) return undefined;
  if (remote !== undefined) return unknownThere(setup.definition);
  return (
    unknownName(options, unknown) ?? {
      code: 'unknown_price',
      message: `The price of ${unknown} ${NOT_KEPT}`,
      fix: UNKNOWN_PRICE_FIX,
    }
  );
}

/** Mostly a slip of the pen: who is told of a price first looks for it there. */
function unknownName({ prices }: ModelAccess, model: string): Failure | undefined {
  const unlisted = prices.unlisted?.(model);
  if (unlisted === undefined) return undefined;
  const message = `The model ${model} is in no list of ${unlisted.provider} that is known here: its price ${NOT_KEPT}`;
  const meant = unlisted.near === undefined ? '' : `Did you mean "${unlisted.near}"? Otherwise: `;
  return { code: 'unknown_price', message, fix: `${meant}${UNKNOWN_PRICE_FIX}` };
}

/** What one does not say counts as its cap: without one nothing could be reserved. */
const unknownOf = ({ name }: AgentDefinition, { name: executor }: ExecutorUse): Failure => ({
  code: 'unknown_price',
  message: `What ${name} costs is not known before ${executor} has worked, so a budget in dollars cannot be kept.`,
  fix: 'Say what it may cost at most: executor.maxUsd in its file. Or set budget.allowUnknownPrices: true.',
});

const uncounted = ({ name, executor }: AgentDefinition): Failure => ({
  code: 'unknown_price',
  message: `How many tokens ${name} takes is not known beforehand, so a budget in tokens cannot be kept.`,
  fix:
    executor === undefined
      ? 'Limit budget.calls instead, or set budget.allowUnknownPrices: true.'
      : 'Limit budget.usd and say executor.maxUsd, or limit budget.calls; or set budget.allowUnknownPrices: true.',
});

const unknownThere = ({ name }: AgentDefinition): Failure => ({
  code: 'unknown_price',
  message: `What ${name} costs is not known, as it lives elsewhere, so a budget in dollars cannot be kept.`,
  fix: 'Limit budget.calls instead, or set budget.allowUnknownPrices: true.',
});
