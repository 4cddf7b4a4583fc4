/** Commands under `verify`, of agents and of the project, that show nothing whatever they end with. */
import { placeOfDemand } from '../agents/definition/check-verify.ts';
import type { LoadedAgent } from '../agents/file/load.ts';
import { type Diagnostic, type SourcePlace, warningAt } from '../agents/text/diagnostics.ts';
import { uselessDemand } from '../tools/shell/useless-demand.ts';
import type { ProjectConfig } from './config.ts';

const FIX =
  'Write the command by itself. It runs under `bash -euo pipefail`, so that pipes and `;` hide nothing, and how it ends decides.';

export function uselessDemands(
  agents: readonly LoadedAgent[],
  { verify, verifyPlaces }: Pick<ProjectConfig, 'verify' | 'verifyPlaces'>,
): readonly Diagnostic[] {
  const own = agents.flatMap(({ definition, placeOf }) =>
    (definition.verify?.commands ?? []).flatMap((command, index) => warning(command, placeOfDemand(placeOf, index))),
  );
  const project = (verify?.commands ?? []).flatMap((command, index) => warning(command, verifyPlaces[index]));
  return [...project, ...own];
}

function warning(command: string, place: SourcePlace | undefined): readonly Diagnostic[] {
  const why = uselessDemand(command);
  if (why === undefined || place === undefined) return [];
  return [warningAt(place, `this command under "verify" proves nothing: ${why}`, FIX)];
}
