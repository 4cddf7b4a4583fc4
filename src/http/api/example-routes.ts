/** Examples that run without a key: for whoever opens the console where nothing has run yet. */
import { z } from 'zod';
import { demos, type Examples } from '../../front/project/examples.ts';
import { example } from '../../front/shapes/files.ts';
import { actOf, replied, value } from './needs.ts';
import { defineRoute, type Route } from './route.ts';
import { started } from './run-routes.ts';

const group = 'Examples';

export function exampleRoutes(examples: Examples): readonly Route[] {
  return [
    defineRoute({
      ...{ method: 'GET', path: '/examples', group, deed: 'survey', answer: z.array(example) },
      summary: 'Teams at work that need no key: their answers come from a script, everything else is real.',
      handle: async () =>
        value(Object.entries(demos).map(([name, { title, agent, prompt }]) => ({ name, title, agent, prompt }))),
    }),
    defineRoute({
      ...{ method: 'POST', path: '/examples/{name}/runs', once: true, group, deed: 'keep', answer: started, status: 201 },
      summary: 'Runs one of them in a temporary folder, recorded in this ledger.',
      handle: async (asked) => replied(await examples.start(asked.param('name'), actOf(asked))),
    }),
  ];
}
