/** Architect as the rest of the program has it: a core, how its own agent speaks, and that it has no hands. */
import { type AgentRun, resultOf } from '../agent-run.ts';
import type { Pattern } from '../pattern.ts';
import { runArchitect } from './architect.ts';
import { architectExits, CLARIFY, DELEGATE, JUDGE } from './exits.ts';
import { architectSystem } from './prompts.ts';
import { architectSettings, convergenceConfig } from './settings.ts';

export const architectPattern = {
  key: 'architect',
  tools: [CLARIFY, DELEGATE, JUDGE],
  looksOnly: true,
  wantsPlaces: ({ architect }) => architect?.workspace === 'worktree',
  convergence: ({ architect }) => (architect === undefined ? undefined : convergenceConfig(architectSettings(architect))),
  core: (run, request) => (run.agent.architect === undefined ? undefined : runArchitect(run, run.agent.architect, request)),
  place({ loopOnly, agent: { architect } }) {
    if (loopOnly !== 'architect' || architect === undefined) return undefined;
    const settings = architectSettings(architect);
    return {
      applies: 'none',
      voice: { system: (own) => architectSystem(settings, own) },
      loop: async (run: AgentRun, input) => {
        const checked = await run.loop({
          ...{ input, reports: true, turnsBefore: run.turnsBefore },
          exits: architectExits(settings, run.closed),
        });
        return { result: { ...resultOf(run, checked), exit: checked.exit } };
      },
    };
  },
} as const satisfies Pattern;
