/**
 * Troupe inside a program: a tool of its own, an agent of its own, one run, and what it left in the ledger. Run it with
 * Node 24: `node examples/02-embed/run.ts`. An installed package is imported as 'troupe'.
 */
import { z } from 'zod';
import { createTroupe, defineAgent, defineTool, errorResult } from '../../src/index.ts';

const shelf = new Map([['lamp', 7]]);

const stock = defineTool({
  name: 'stock',
  description: 'How many of an article are left.',
  input: z.object({ article: z.string().describe('Its name, in the singular.') }),
  readOnly: true,
  run: ({ article }) => {
    const count = shelf.get(article);
    return count === undefined ? errorResult(`There is no ${article}.`) : `${count} of ${article}`;
  },
});

const clerk = defineAgent({ name: 'clerk', prompt: 'You know the shop.', tools: ['stock'] });

await using troupe = await createTroupe({
  root: import.meta.dirname,
  model: 'scripted:replies.yaml',
  tools: [stock],
  agents: [clerk],
});

const result = await troupe.run('clerk', 'How many lamps are left?');
process.stdout.write(`${result.status}: ${'report' in result ? result.report.body : 'no report yet'}\n`);

const events = await troupe.ledger.read({ session: result.session });
process.stdout.write(`${events.map((event) => event.event_type).join(' ')}\n`);
