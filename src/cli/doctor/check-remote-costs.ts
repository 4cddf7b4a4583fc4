/**
 * Agents elsewhere and executors that stand under a budget in dollars or tokens: nobody knows beforehand what they cost, so a run
 * refuses them, at its start or when they are to be asked, unless their own file or the project says that they may.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, warningAt } from '../../agents/text/diagnostics.ts';
import type { ProjectConfig } from '../../project/config.ts';

export function checkRemoteCosts(
  agents: readonly LoadedAgent[],
  { budget: project }: Pick<ProjectConfig, 'budget'>,
): readonly Diagnostic[] {
  if (project.allowUnknownPrices === true) return [];
  const byName = new Map(agents.map(({ definition }) => [definition.name, definition]));
  return agents.flatMap(({ definition, placeOf }) =>
    UNITS.flatMap((unit) => {
      const own = definition.budget?.[unit] !== undefined;
      const place = placeOf(own ? ['budget', unit] : [definition.executor === undefined ? 'a2a' : 'executor']);
      const kept = `under ${own ? 'this budget' : "the project's budget"} in ${WORDS[unit]}`;
      const far = own ? remoteBelow(definition, unit, byName) : [];
      return [
        ...(isRefused(definition, unit) && (own || project[unit] !== undefined)
          ? [warningAt(place, `${unknown(definition)}: ${kept} it does not start`, fixOf(definition, unit))]
          : []),
        ...far.map((one) => warningAt(place, `${unknown(one)}: ${kept} it is not asked`, fixOf(one, unit))),
      ];
    }),
  );
}

type Unit = 'usd' | 'tokens';

const UNITS: readonly Unit[] = ['usd', 'tokens'];
const WORDS: Readonly<Record<Unit, string>> = { usd: 'dollars', tokens: 'tokens' };

function unknown({ name, executor }: AgentDefinition): string {
  if (executor === undefined) return `what ${name} costs is not known, as it lives elsewhere`;
  return `what ${name} costs is not known before ${executor.name} has worked`;
}

function fixOf({ executor }: AgentDefinition, unit: Unit): string {
  const otherwise = 'or set budget.allowUnknownPrices: true in its file.';
  if (executor === undefined) return `Limit budget.calls instead, ${otherwise}`;
  return unit === 'usd' ? `Say executor.maxUsd, ${otherwise}` : `Limit budget.usd and say executor.maxUsd, ${otherwise}`;
}

function isRefused({ remote, executor, budget }: AgentDefinition, unit: Unit): boolean {
  const isUnknown = remote !== undefined || (executor !== undefined && (unit === 'tokens' || executor.maxUsd === undefined));
  return isUnknown && budget?.allowUnknownPrices !== true;
}

/** Everybody elsewhere that it leads to and that would be refused. */
function remoteBelow(
  first: AgentDefinition,
  unit: Unit,
  byName: ReadonlyMap<string, AgentDefinition>,
): readonly AgentDefinition[] {
  const seen = new Set([first]);
  // A set visits what is added while it is walked.
  for (const here of seen)
    for (const { target } of referencesOf(here)) {
      const next = byName.get(target);
      if (next !== undefined) seen.add(next);
    }
  return [...seen].filter((one) => one !== first && isRefused(one, unit));
}
