/** What programs get of questions to the ledger. */
import { z } from 'zod';

const count = z.number().int().nonnegative();
const cell = z.union([z.string(), z.number(), z.null()]);

export const queried = z.object({
  columns: z.array(z.string()).describe('in order; a name that comes twice has :2 behind it the second time'),
  rows: z.array(z.record(z.string(), cell)),
  cutBy: z.enum(['queryRows', 'queryBytes']).nullable().describe('there were more rows: the limit that left them out'),
  collected: count.describe('sessions whose payloads were collected: nothing of their events is in the tables'),
});
