/** A duration as it stands in a file: `90s`, `10m`, or milliseconds. */
import { z } from 'zod';
import { parseDuration } from './duration.ts';

export const duration = z.union([z.string(), z.number()]).transform((value, context) => {
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) {
    context.addIssue({ code: 'custom', message: 'is not a duration; write 90s, 10m or 1.5h' });
    return z.NEVER;
  }
  return milliseconds;
});

/** How long something may take: with no time at all nobody could ever be done. */
export const timeLimit = duration.refine((milliseconds) => milliseconds > 0, { error: 'must be more than 0' });
