/** How a run has ended. */
import { z } from 'zod';

export const runStatus = z.enum(['completed', 'completed_unverified', 'failed', 'budget_exhausted', 'cancelled']);
