/** Agents that the settings name themselves: those that live elsewhere and need no file of their own. */
import { checkDefinition } from '../agents/definition/check-definition.ts';
import { checkName, toDefinition } from '../agents/definition/to-definition.ts';
import type { LoadedAgent, Origin } from '../agents/file/load.ts';
import { type Diagnostic, isError } from '../agents/text/diagnostics.ts';
import type { PlaceOf } from '../agents/text/yaml-map.ts';
import type { Settings } from './settings.ts';

export interface AgentsInSettings {
  readonly agents: readonly LoadedAgent[];
  readonly problems: readonly Diagnostic[];
}

export function agentsInSettings(
  named: NonNullable<Settings['agents']>,
  settingsPlace: PlaceOf,
  origin: Origin,
): AgentsInSettings {
  const agents: LoadedAgent[] = [];
  const problems: Diagnostic[] = [];
  for (const [name, entry] of Object.entries(named)) {
    const key = settingsPlace(['agents', name], 'key');
    const placeOf: PlaceOf = (path, part) =>
      path.length === 0 || path[0] === 'name' ? key : settingsPlace(['agents', name, ...path], part);
    const definition = toDefinition({ ...entry, name }, name, '', key.file);
    const found = [...checkName(definition, placeOf), ...checkDefinition(definition, placeOf)];
    problems.push(...found);
    if (!found.some(isError)) agents.push({ definition, origin, disabled: false, diagnostics: [], placeOf });
  }
  return { agents, problems };
}
