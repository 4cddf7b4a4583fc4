/** Which executors the agents here would have work done by, and where each is named. */
import { executorNamed } from '../../agents/definition/executor.ts';
import { edgeOf, referencesOf } from '../../agents/definition/references.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import type { Path } from '../../agents/text/yaml-map.ts';

export interface UsedExecutor {
  readonly name: string;
  readonly agent: LoadedAgent;
  readonly path: Path;
  /** Others stand beside it and may do the work in its place. */
  readonly others: readonly string[];
}

/** A name for which there is an agent stands for that agent. */
export function usedExecutors(agents: readonly LoadedAgent[]): readonly UsedExecutor[] {
  const files = new Set(agents.map(({ definition }) => definition.name));
  return agents
    .filter(({ disabled }) => !disabled)
    .flatMap((agent) => {
      const { executor } = agent.definition;
      const own = executor === undefined ? [] : [{ name: executor.name, agent, path: ['executor'], others: [] }];
      const references = referencesOf(agent.definition);
      const list = references.filter(({ kind }) => edgeOf(kind).orExecutor === true).map(({ target }) => target);
      const named = references.flatMap(({ kind, target, path }): readonly UsedExecutor[] => {
        const either = edgeOf(kind).orExecutor === true;
        const name = executorNamed(target) ?? (either && !files.has(target) ? target : undefined);
        const others = either ? list.filter((one) => one !== target).map((one) => executorNamed(one) ?? one) : [];
        return name === undefined ? [] : [{ name, agent, path, others }];
      });
      return [...own, ...named];
    });
}
