/** Models that nobody could ask from this shell. Elsewhere there may be a key, so it is a warning; `run` refuses to start. */

import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, warningAt } from '../../agents/text/diagnostics.ts';
import type { ProviderSources } from '../../models/provider/providers.ts';
import { modelProblem } from '../../models/reach.ts';

export function checkModels(agents: readonly LoadedAgent[], sources: ProviderSources): readonly Diagnostic[] {
  return agents.flatMap(({ definition, placeOf }) => {
    const workers = (definition.group?.workers ?? []).flatMap((worker, index) =>
      typeof worker === 'string' || worker.model === undefined
        ? []
        : [{ models: [worker.model], path: ['group', 'workers', index, 'model'] }],
    );
    return [{ models: definition.models, path: ['model'] }, ...workers].flatMap(({ models, path }) => {
      const problems = models.map((model) => modelProblem(model, sources));
      const [first] = problems;
      if (first === undefined || problems.includes(undefined)) return [];
      return [warningAt(placeOf(path), `no model of ${definition.name} can be asked from this shell: ${first}`)];
    });
  });
}
