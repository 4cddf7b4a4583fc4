/** Dispatch as the rest of the program has it: a core, and how its own agent chooses. */
import { present } from '../../base/present.ts';
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
        const plain = choiceEnding(agents);
        let last: string | undefined;
        const checked = await run.loop({
          input,
          reports: false,
          plain: (text) => {
            const ending = plain(text);
            last = ending.ok ? undefined : ending.error;
            return ending;
          },
          answerSchema: choiceSchema(agents),
        });
        const result = resultOf(run, checked);
        const { error } = result;
        return { result: error === undefined ? result : { ...result, error: { ...error, ...present({ last }) } } };
      },
    };
  },
} as const satisfies Pattern;
