/** A pattern that is nothing but what it does with the steps port: the core of one agent. */
import type { EngineOptions } from '../../../src/engine/options.ts';
import type { Steps } from '../../../src/patterns/steps.ts';
import { UNCHECKED } from '../../../src/patterns/verification.ts';

/** What `body` gives is the answer of the agent; the others are as they are. */
export function ofSteps(body: (steps: Steps) => Promise<string>, agent = 'root'): Pick<EngineOptions, 'patterns'> {
  return {
    patterns: [
      {
        // Every agent declares it.
        key: 'name',
        core: ({ agent: { name }, run, steps }) =>
          name !== agent
            ? undefined
            : body(steps).then((text) => ({
                status: 'completed',
                report: { format: 'text', body: text },
                finalAgent: agent,
                finalRun: run,
                turns: 0,
                verification: UNCHECKED,
              })),
      },
    ],
  };
}
