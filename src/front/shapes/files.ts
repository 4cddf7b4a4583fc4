/** What programs get of files: agents, presets, rules, and what is wrong with any of them. */
import { z } from 'zod';
import { permissionsSchema } from '../../agents/definition/definition.ts';
import { groupModes, presetTiers } from '../../agents/presets/preset.ts';
import { worktreeStrategy } from '../../events/organisation.ts';

const count = z.number().int().nonnegative();
const texts = z.array(z.string());

const written = z.object({
  folder: z.string(),
  template: z.string(),
  files: z.array(z.object({ path: z.string(), done: z.enum(['written', 'kept']) })),
  next: z.string().describe('a command to go on with'),
  withoutKey: z.string().describe('the same, with a script instead of a model'),
});
const templateList = z.object({
  templates: z
    .array(z.object({ name: z.string(), about: z.string(), agent: z.string(), prompt: z.string() }))
    .describe('with --list'),
});
export const initialised = z.union([written, templateList]);

export const newFiles = z.object({ files: texts, next: z.string().describe('a command to go on with') });

export const modelList = z.object({
  models: z.array(
    z.object({
      name: z.string(),
      input: z.number().optional().describe('dollars per million tokens, as output'),
      output: z.number().optional(),
      window: count.optional().describe('how many tokens it reads at most'),
      from: z.enum(['provider', 'table', 'settings']).describe('who named it'),
      used: z.boolean(),
    }),
  ),
  used: z.object({ models: texts, why: z.string() }).optional().describe('absent when there is none'),
  providers: z.array(z.object({ provider: z.string(), answered: z.boolean(), problem: z.string().optional() })),
});

export const edge = z.object({ from: z.string(), to: z.string(), kind: z.string() });

const graph = z.object({ edges: z.array(edge), entries: texts, alone: texts, unreachable: texts, missing: texts });

const diagnostic = z.object({
  file: z.string(),
  line: count,
  column: count,
  severity: z.enum(['error', 'warning']),
  message: z.string(),
  fix: z.string().optional(),
});

export const checked = z.object({
  ok: z.boolean(),
  agents: count.describe('that were looked at, sound or not'),
  errors: count,
  warnings: count,
  diagnostics: z.array(diagnostic),
  graph: graph.optional().describe('with --graph or --from'),
});

export const diagnosis = z.object({
  ok: z.boolean(),
  findings: z.array(
    z.object({ about: z.string(), state: z.enum(['good', 'note', 'broken']), text: z.string(), fix: z.string().optional() }),
  ),
});

const origin = z.string().describe('project, user, claude, opencode, …');

export const agentLine = z.object({
  name: z.string(),
  origin,
  disabled: z.boolean(),
  models: texts,
  remote: z.string().nullable().describe('the address of its card when it lives elsewhere: its models are its own'),
  executor: z.string().nullable().describe('the executor that works for it: its models are its own'),
  source: z.string().describe('its file'),
  description: z.string().nullable(),
});

const serverLine = z.object({
  name: z.string(),
  from: z.enum(['settings', 'agent', 'file']).describe('file: of another tool'),
  source: z.string().describe('the file that declares it'),
  line: count.optional(),
  agent: z.string().optional(),
  state: z.enum(['allowed', 'open', 'refused', 'shadowed']).describe('open: nobody has allowed it yet'),
  reason: z.string().optional(),
  shown: z.string().optional().describe('what is started, whole; variables by name'),
});

export const agentShown = z
  .looseObject({
    name: z.string(),
    models: texts,
    prompt: z.string(),
    source: z.string(),
    origin,
    uses: z.array(edge),
    servers: z.array(serverLine).describe('the MCP servers that it names'),
  })
  .describe('and every setting of the file, as docs/agents.md has them');

export const agentDetail = agentShown.extend({
  sound: z.boolean().describe('whether it can run; what of a broken file could be read is told all the same'),
  text: z.string().nullable().describe('its file; null when it is in none, or cannot be read'),
  diagnostics: z.array(diagnostic).describe('what is wrong with its file'),
  reaches: graph.describe('whom it may call, and whom those may'),
  namedBy: z.array(edge),
});

export const agentGraph = graph.extend({ agents: z.array(agentLine) });

export const agentFound = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  tags: texts,
  origin,
});

export const agentAdded = z.object({
  added: z.string(),
  file: z.string(),
  copy: z.string().nullable().describe('of what was there before'),
  warnings: texts,
});

export const agentAllowed = z.object({
  agent: z.string(),
  allowed: z.array(z.object({ server: z.string(), shown: z.string() })),
});

export const serverList = z.object({ servers: z.array(serverLine) });

export const serversAllowed = z.object({
  allowed: z.array(z.object({ server: z.string(), source: z.string(), shown: z.string(), sha256: z.string() })),
});

export const serverForgotten = z.object({ forgotten: z.string(), count });

export const agentRemoved = z.object({
  removed: z.string(),
  file: z.string(),
  copy: z.string(),
  back: z.string().describe('a command that brings it back'),
  namedBy: texts,
});

const badge = z.string();

export const presetList = z.object({
  presets: z.array(
    z.object({
      name: z.string(),
      reference: z.string().describe('what every command takes, also when it is shadowed'),
      tier: z.enum(presetTiers),
      badge,
      path: z.string().nullable(),
      mode: z.enum(groupModes),
      workers: texts,
      description: z.string(),
      shadowedBy: z.string().nullable(),
    }),
  ),
  warnings: texts,
});

export const presetShown = z.object({
  name: z.string(),
  description: z.string(),
  emoji: z.string().optional(),
  mode: z.enum(groupModes),
  orchestrator: z.object({ model: z.string().optional(), prompt: z.string().optional() }),
  workers: z.array(
    z.object({
      name: z.string(),
      model: z.string().optional(),
      charter: z.string().optional(),
      role: z.string().optional(),
      tools: texts.optional(),
      permissions: permissionsSchema.optional(),
    }),
  ),
  sharedContext: z.string().optional(),
  routingContext: z.string().optional(),
  maxIterations: count.optional(),
  worktrees: worktreeStrategy.optional(),
  source: z.object({ tier: z.enum(presetTiers), path: z.string().optional() }),
  badge,
  warnings: texts.describe('about it, and about one of its name that is passed over'),
});

export const presetsImported = z.object({ imported: texts, file: z.string(), warnings: texts });

const permission = z.enum(['allow', 'ask', 'deny']);

export const example = z.object({
  name: z.string(),
  title: z.string().describe('what there is to see'),
  agent: z.string(),
  prompt: z.string(),
});

export const ruleList = z.object({
  rules: z.array(
    z.object({
      from: z.enum(['agent', 'settings', 'remembered', 'session']),
      agent: z.string().optional().describe('all agents without one'),
      tool: z.string(),
      pattern: z.string().optional(),
      permission,
      file: z.string().optional().describe('the file that it stands in; what is remembered for a session stands in the ledger'),
      session: z.string().optional().describe('the session that it is remembered for'),
    }),
  ),
  sessionsLeftOut: count.describe('sessions that can go on and were not looked at'),
});

export const rulesRemoved = z.object({
  removed: z.array(z.object({ tool: z.string(), pattern: z.string().optional() })),
  session: z.string().optional().describe('the session that they were remembered for, when it is not the project'),
});
