/** Whether the commands under `verify` may be run at all. */

import { wholeOf } from '../../permissions/rule-map.ts';
import { type Diagnostic, errorAt, type SourcePlace } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';

/** The commands of an agent's file are run as its own would be: where it may run none, they could never be. */
export function checkVerify(
  agent: AgentDefinition,
  placeOf: PlaceOf,
  settings: readonly NonNullable<AgentDefinition['permissions']>[] = [],
): readonly Diagnostic[] {
  if (agent.verify === undefined) return [];
  const isDenied = (map: NonNullable<AgentDefinition['permissions']>): boolean =>
    wholeOf(map['shell'] ?? map['*'] ?? 'ask') === 'deny';
  const where = isDenied(agent.permissions ?? {}) ? 'this file' : settings.some(isDenied) ? 'troupe.yaml' : undefined;
  if (where === undefined) return [];
  const message = `"verify" runs commands, and \`permissions\` in ${where} deny the shell`;
  return [
    errorAt(placeOf(['verify'], 'key'), message, 'Allow the shell (`shell: ask` or `allow`), or put `verify` into troupe.yaml.'),
  ];
}

/** Where the command stands: `verify` is a list, or a map with one. */
export function placeOfDemand(placeOf: PlaceOf, index: number): SourcePlace {
  const [whole, inMap] = [placeOf(['verify']), placeOf(['verify', 'commands', index])];
  return inMap.line === whole.line && inMap.column === whole.column ? placeOf(['verify', index]) : inMap;
}
