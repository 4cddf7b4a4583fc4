/** Feeds one text to one scanner at a time, in a thread of its own: what takes for ever is ended from outside. */
import { parentPort } from 'node:worker_threads';
import { z } from 'zod';
import { scanners } from './scanners.ts';

const asked = z.object({ name: z.string(), text: z.string() });

parentPort?.on('message', (message: unknown) => {
  const { name, text } = asked.parse(message);
  scanners[name]?.(text);
  parentPort?.postMessage('read');
});
