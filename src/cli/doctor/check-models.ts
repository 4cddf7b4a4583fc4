/** Models that nobody could ask from this shell. Elsewhere there may be a key, so it is a warning; `run` refuses to start. */

import { referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, warningAt } from '../../agents/text/diagnostics.ts';
import type { ProviderSources } from '../../models/provider/providers.ts';
import { modelProblem } from '../../models/reach.ts';

export function checkModels(agents: readonly LoadedAgent[], sources: ProviderSources): readonly Diagnostic[] {
  return agents.flatMap(({ definition, placeOf }) => {
    const given = referencesOf(definition).flatMap(({ model }) =>
      model === undefined ? [] : [{ models: [model.name], path: model.path }],
    );
    return [{ models: definition.models, path: ['model'] }, ...given].flatMap(({ models, path }) => {
      const problems = models.map((model) => modelProblem(model, sources));
      const [first] = problems;
      if (first === undefined || problems.includes(undefined)) return [];
      return [warningAt(placeOf(path), `no model of ${definition.name} can be asked from this shell: ${first}`)];
    });
  });
}
