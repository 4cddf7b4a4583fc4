/** What programs read of `troupe executors`. */
import { z } from 'zod';

const texts = z.array(z.string());

const walls = z
  .object({
    how: z.enum(['inside', 'own', 'outside', 'refused']).describe('own: its commands run inside walls that it builds itself'),
    sandbox: z.string().optional().describe('what they are made of'),
    why: z.string().optional().describe('why there are none around it'),
    fix: z.string().optional(),
  })
  .describe('whether it runs inside a sandbox here');

export const executorList = z.object({
  executors: z.array(
    z.object({
      name: z.string(),
      title: z.string(),
      source: z.enum(['known', 'user', 'project']).describe('who said something of it last'),
      command: texts.optional().describe('the program and its arguments'),
      address: z.string().optional().describe('where it listens, in place of a command'),
      installed: z.boolean().optional().describe('whether its program is there; not said of one at an address'),
      install: z.string().optional().describe('how to get it'),
      notes: z.string().optional(),
      walls,
    }),
  ),
});

export const executorProbed = z.object({
  name: z.string(),
  title: z.string(),
  works: z.boolean(),
  version: z.string().optional().describe('as it says'),
  protocol: z.number().optional(),
  modes: texts.optional().describe('in its own words'),
  mode: z.string().optional().describe('the one for work'),
  model: z.string().optional(),
  loads: z.boolean().optional().describe('an earlier session can be taken up'),
  asks: z.boolean().optional().describe('it asks before it does something'),
  mcp: z
    .array(z.enum(['stdio', 'http']))
    .optional()
    .describe('how it takes MCP servers'),
  images: z.boolean().optional(),
  sandbox: z.string().optional(),
  walls,
  missing: z.array(z.object({ what: z.string(), fix: z.string().optional() })),
});

export const executorAdded = z.object({ added: z.string(), file: z.string() });
