/**
 * Troupe inside a program: a tool of its own, an agent of its own, one run, and what it left in the ledger. Run it with
 * Node 24: `node examples/02-embed/run.ts`. An installed package is imported as 'troupe'.
 */
import { createTroupe, errorResult, type Tool, textResult, userText } from '../../src/index.ts';

const shelf = new Map([['lamp', 7]]);

const stock: Tool = {
  name: 'stock',
  description: 'How many of an article are left.',
  inputSchema: { type: 'object', properties: { article: { type: 'string' } }, required: ['article'] },
  replay: 'safe',
  async run(input) {
    const { article } = input as { article: string };
    const count = shelf.get(article);
    return count === undefined ? errorResult(`There is no ${article}.`) : textResult(`${count} of ${article}`);
  },
};

const folder = import.meta.dirname;
const troupe = await createTroupe({
  root: folder,
  model: 'scripted:replies.yaml',
  tools: [stock],
  agents: [{ name: 'clerk', models: [], prompt: 'You know the shop.', tools: ['stock'], source: 'run.ts' }],
});

const started = await troupe.engine.start({ agent: 'clerk', input: userText('How many lamps are left?'), workspace: folder });
if (started.kind === 'refused') throw new Error(started.error.message);
const { session, done } = started.handle;

const end = await done;
if (end.kind === 'ended') process.stdout.write(`${end.result.status}: ${end.result.report.body}\n`);
if (end.kind === 'waiting') process.stdout.write(`somebody must answer: ${end.waits.map((wait) => wait.question).join(' ')}\n`);

const events = await troupe.ledger.read({ session });
process.stdout.write(`${events.map((event) => event.event_type).join(' ')}\n`);
await troupe.close();
