/** What goes with a run to machines that have nothing of its project but the ledger. */
import { z } from 'zod';
import { jsonValue } from './message-schemas.ts';

export const broughtEvents = {
  'session.brought': z.object({
    /** Every agent that the run can come to, as it was when the run started, with what the command changed about it. */
    agents: z.array(jsonValue),
    /** Texts of files that these agents name, by their paths. */
    files: z.record(z.string(), z.string()).optional(),
    vars: z.record(z.string(), z.string()).optional(),
    /** Models for agents that name none. */
    models: z.array(z.string()).optional(),
    /** What the settings allow, ask for and deny; whoever works on the run is not less strict. */
    permissions: z.array(jsonValue).optional(),
    /** What the settings demand of every root run. */
    verify: jsonValue.optional(),
  }),
} as const;
