/** Dispatch as the rest of the program has it: a core, and how its own agent chooses. */
import { type AgentRun, resultOf } from '../agent-run.ts';
import type { Pattern } from '../pattern.ts';
import { choiceEnding, choiceSchema } from './choice.ts';
import { runDispatch } from './dispatch.ts';
import { routerSystem } from './prompts.ts';
import { dispatchSettings } from './settings.ts';

export const dispatchPattern = {
  key: 'dispatch',
  core: (run, request) => (run.agent.dispatch === undefined ? undefined : runDispatch(run, run.agent.dispatch, request)),
  place({ loopOnly, agent: { dispatch } }) {
    if (loopOnly !== 'chooser' || dispatch === undefined) return undefined;
    const settings = dispatchSettings(dispatch);
    const { temperature, maxOutputTokens, agents } = settings;
    return {
      applies: 'none',
      voice: { system: (own) => routerSystem(settings, own), temperature, maxOutputTokens },
      loop: async (run: AgentRun, input) => {
        const checked = await run.loop({
          input,
          reports: false,
          plain: choiceEnding(agents),
          answerSchema: choiceSchema(agents),
        });
        return { result: resultOf(run, checked) };
      },
    };
  },
} as const satisfies Pattern;
