/** Budgets in calls, kept by hand: whoever has none left, or is below somebody who has none, may not ask. */
import type { AgentDefinition } from '../../src/agents/definition/definition.ts';

interface Kin {
  readonly run: string;
  readonly parent: Kin | undefined;
  readonly started: { readonly agent: string };
}

export interface CallBudget {
  /** The run, here or above, whose budget has no call left; otherwise the call is counted. */
  spend(node: Kin): string | undefined;
}

export function createCallBudget(agents: readonly AgentDefinition[]): CallBudget {
  const made = new Map<string, number>();
  return {
    spend(node) {
      const line = upwards(node);
      const out = line.find(({ run, started }) => {
        const calls = agents.find(({ name }) => name === started.agent)?.budget?.calls;
        return calls !== undefined && (made.get(run) ?? 0) >= calls;
      });
      if (out === undefined) for (const { run } of line) made.set(run, (made.get(run) ?? 0) + 1);
      return out?.run;
    },
  };
}

/** From the first run down to this one. */
export const upwards = (node: Kin): readonly Kin[] => [...(node.parent === undefined ? [] : upwards(node.parent)), node];
