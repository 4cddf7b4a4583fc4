/** One call that opens the project, runs one of its agents and closes it again: `node examples/15-one-line/run.ts`. */
import { run } from '../../src/index.ts';

const result = await run('greeter', 'A word for the visitors, please.', { root: import.meta.dirname, budget: { usd: 0.1 } });

process.stdout.write(`${result.status}, $${result.cost.usd}\n`);
if (result.status === 'completed') process.stdout.write(`${result.report.body}\n`);
