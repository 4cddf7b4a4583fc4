/** What programs get of tasks: the JSON of A2A's data model. */
import { z } from 'zod';
import { jsonValue } from '../../events/message-schemas.ts';
import { mergeConflict } from '../../events/tasks/workspace-events.ts';
import { taskStates } from '../../projections/tasks/task-states.ts';

const state = z.enum(taskStates);
const position = z.number().int().positive().describe('in the ledger of its session: the larger is the newer');

export const taskList = z.object({
  tasks: z.array(
    z.object({
      id: z.string().describe('that of the root run; `<run>.2` when it went on after its end'),
      sessionId: z.string(),
      agent: z.string(),
      state,
      message: z.string().nullable().describe('a question, the answer, what went wrong'),
      timestamp: z.string().describe('since when it stands so'),
      position,
    }),
  ),
  next: z.string().nullable().describe('what --after takes for the next page; null on the last'),
  cutBy: z
    .enum(['redisScanKeys', 'runLookup'])
    .optional()
    .describe('there are more than are looked at, by this limit: some may be missing'),
});

const message = z.object({ role: z.string(), content: z.string(), timestamp: z.string().optional() });
const free = z.record(z.string(), jsonValue.optional());

export const taskShown = z.object({
  id: z.string(),
  sessionId: z.string(),
  status: z.object({ state, message: message.optional(), timestamp: z.string().optional() }),
  history: z.array(message).optional(),
  artifacts: z
    .array(
      z.object({
        artifactId: z.string().optional(),
        name: z.string().optional(),
        description: z.string().optional(),
        parts: z.array(free).optional(),
        metadata: free.optional(),
      }),
    )
    .optional(),
  metadata: free.optional().describe('`agentSelections`, `routingConfidence`, `ledgerPosition` and others'),
});

export const taskCanceled = z.object({
  id: z.string(),
  outcome: z.enum(['accepted', 'ended']).describe('ended: it came too late'),
  live: z.boolean().describe('a process drives the run, and will hear of it'),
});

const lines = z.number().int().nonnegative();

export const applied = z.object({
  run: z.string(),
  kind: z
    .enum(['applied', 'planned', 'refused', 'nothing', 'undone'])
    .describe('`planned` with --dry-run; `refused`: nothing was changed, exit code 1; `nothing`: it is there already'),
  apply: z.string().optional().describe('its id'),
  branch: z.object({ name: z.string(), commit: z.string() }).optional().describe('with --branch'),
  files: z.array(
    z.object({
      path: z.string(),
      from: z.string().optional(),
      change: z.enum(['added', 'changed', 'deleted', 'renamed']),
      addedLines: lines,
      removedLines: lines,
      binary: z.boolean().optional(),
    }),
  ),
  undone: z.array(z.string()).optional().describe('files that were taken back, with --undo'),
  inTheWay: z
    .array(z.object({ path: z.string(), why: z.string(), fix: z.string().optional() }))
    .describe('files of yours that would be touched'),
  conflicts: z.array(mergeConflict).describe('where the work does not go together with what you have'),
  left: z
    .array(z.object({ task: z.string(), path: z.string(), why: z.string() }))
    .describe('work of tasks that is not in it: it stands against that of others, or nobody accepted it'),
  finished: z.string().optional().describe('an earlier one that had been cut off, and was finished first'),
});
