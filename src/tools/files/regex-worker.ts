/**
 * Runs a regular expression over lines in a thread of its own. A pattern that backtracks for ever blocks only this thread,
 * which its owner ends. Speaks with line-search.ts: in goes the text of a file, out come the indexes of its matching lines.
 */
import { parentPort, workerData } from 'node:worker_threads';
import { z } from 'zod';

const setup = z.object({ source: z.string(), flags: z.string(), maxCharacters: z.number(), maxMatches: z.number() });
const { source, flags, maxCharacters, maxMatches } = setup.parse(workerData);
const expression = new RegExp(source, flags);

parentPort?.on('message', (text: string) => {
  const found: number[] = [];
  const lines = text.split('\n');
  for (let index = 0; index < lines.length && found.length < maxMatches; index += 1) {
    if (expression.test((lines[index] ?? '').slice(0, maxCharacters))) found.push(index);
  }
  parentPort?.postMessage(found);
});
