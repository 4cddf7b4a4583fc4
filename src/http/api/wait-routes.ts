/** What waits for a person, at any depth of any run, and the answers to it. */
import { z } from 'zod';
import { fail } from '../../base/result.ts';
import { answer } from '../../events/catalogue.ts';
import { answerWait, readAnswer } from '../../front/acts.ts';
import { inboxValue, readInbox } from '../../front/inbox.ts';
import { answerGiven, inbox } from '../../front/shapes/runs.ts';
import { findVisibleRun } from '../../front/sight.ts';
import { actingNeeds, actOf, type RouteNeeds, replied, runIn, value } from './needs.ts';
import { notFound } from './refusals.ts';
import { defineRoute, type Route } from './route.ts';

const group = 'Waits';

export function waitRoutes(needs: RouteNeeds): readonly Route[] {
  const { project, clock } = needs;
  return [
    defineRoute({
      ...{ method: 'GET', path: '/inbox', group, deed: 'look', answer: inbox },
      summary: 'Everything that waits for a person, oldest first, with the whole request and the hash of it (`shown`).',
      handle: async ({ caller }) => {
        const items = await readInbox(project, clock.now());
        const seen = await Promise.all(items.map(({ wait }) => findVisibleRun(project.ledger, caller, wait.run)));
        return value(items.filter((_item, index) => seen[index] !== undefined).map(inboxValue));
      },
    }),
    defineRoute({
      ...{ method: 'GET', path: '/runs/{run}/answers', group, deed: 'look', answer: answerGiven },
      summary: 'The answer that counts, to something that waited: what it was, whose, from where and when.',
      query: z.strictObject({ wait: z.string().min(1).max(1_000) }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const given = await readAnswer(project.ledger, row.value.run, asked.query.wait);
        return given === undefined ? fail(notFound('answer to this')) : value(given);
      },
    }),
    defineRoute({
      ...{ method: 'POST', path: '/runs/{run}/answers', once: true, group, deed: 'work' },
      summary:
        'Answers a question, or approves or denies a call, as it is or with another input. An approval gives `shown`, the hash of what was seen. Of several answers the first counts, and the others are told whose it was (409).',
      body: z.strictObject({ wait: z.string().min(1).max(1_000), answer, shown: z.string().length(64).optional() }),
      answer: z.object({ run: z.string(), wait: z.string(), answer, live: z.boolean() }),
      handle: async (asked) => {
        const row = await runIn(needs, asked);
        if (!row.ok) return row;
        const { wait, shown, answer: given } = asked.body;
        // Whoever names the whole hash has had all of it: the inbox leaves nothing out.
        const said = given.kind === 'approved' && shown !== undefined ? { ...given, whole: true as const } : given;
        return replied(await answerWait(actingNeeds(needs), actOf(asked), { run: row.value.run, wait, answer: said, shown }));
      },
    }),
  ];
}
