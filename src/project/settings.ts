/** What `troupe.yaml` may say. Loaded only for a project that has one. */
import { z } from 'zod';
import { definitionSchema } from '../agents/definition/definition.ts';
import { duration, timeLimit } from '../agents/definition/duration-schema.ts';
import { elsewhereSchema, extensionsSchema } from '../agents/definition/remote.ts';
import { limits } from '../base/limits.ts';
import { parseRestateAddress } from '../engine/restate/address.ts';
import type { EventType } from '../events/catalogue.ts';
import { artifactTypes } from '../events/evidence.ts';
import { agingTypes } from '../ledger/forgetting/aging-types.ts';
import { priceOverride } from '../models/prices.ts';
import { providerConfig } from '../models/provider/providers.ts';
import { sandboxSchema } from '../sandbox/settings.ts';
import { isRedisAddress } from '../tasks/redis/address.ts';
import { conventionNames } from '../telemetry/settings.ts';

const models = z.union([
  z
    .string()
    .min(1)
    .transform((one) => [one]),
  z.array(z.string().min(1)).min(1).max(10),
]);
const count = z.number().int().positive();
const kept = z.union([z.literal('forever'), duration]);
/** Sooner than the session that they are of. */
const keptEvents = z.partialRecord(z.enum(agingTypes as [EventType, ...EventType[]]), kept);

/** One caller of `troupe serve`. Its token is not in a file: a variable holds it, or the file has its hash. */
const caller = z.strictObject({
  tokenEnv: z.string().min(1).optional(),
  tokenSha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/, 'must be 64 hexadecimal digits: printf %s "$TOKEN" | sha256sum')
    .optional(),
  /** What it sees and does beyond what it spawned itself. */
  role: z.enum(['viewer', 'operator', 'owner']).optional(),
  /** The agents that it may spawn; `*` stands for all, as does no list. */
  spawn: z.array(z.string().min(1)).max(limits.callersPerServer).optional(),
  answers: z.boolean().optional(),
  approves: z.boolean().optional(),
  workspace: z.string().min(1).optional(),
});

/** What other programs talk with agents through: nobody does unless it is said. */
const chatBudget = z.strictObject({
  usd: z.number().nonnegative().optional(),
  tokens: z.number().int().nonnegative().optional(),
  calls: z.number().int().nonnegative().optional(),
});
const chatDoor = z.union([
  z.boolean(),
  z.strictObject({
    /** Whom one may talk with; without it every agent that the caller may spawn. */
    agents: z.array(z.string().min(1)).max(limits.a2aAgents).optional(),
    /** What each caller may use in a day, by UTC. */
    budget: chatBudget.optional(),
    /** The same for some of them, by their names. */
    budgets: z.record(z.string().min(1), chatBudget).optional(),
  }),
]);

/** An address that is told what somebody who looks elsewhere has to know. Its secret is not in a file: a variable holds it. */
const webhook = z.strictObject({
  name: z.string().regex(/^[\w.-]{1,50}$/, 'must be letters, digits and . _ -'),
  url: z.url({ protocol: /^https?$/ }),
  secretEnv: z.string().min(1),
  events: z
    .array(z.enum(['needs_you', 'ended', 'failed', 'budget']))
    .min(1)
    .optional(),
  /** It may be in a private network, or on this machine. */
  private: z.boolean().optional(),
  as: z.enum(['json', 'text']).optional(),
  headers: z.record(z.string().regex(/^[\w-]{1,100}$/), z.string().max(500)).optional(),
});

/** What may be said of an agent that lives elsewhere, as in a file of its own. */
const { description, tags, examples, input, output, chat, maxTurns, budget } = definitionSchema.shape;
const remoteAgent = z.strictObject({
  ...{ a2a: elsewhereSchema, description, tags, examples, input, output, chat, maxTurns, budget },
});

const perCaller = z.number().int().min(1).max(limits.a2aPerCallerMax);

export const settingsSchema = z.strictObject({
  model: models.optional(),
  ledger: z
    .string()
    .regex(/^(sqlite:|postgres(ql)?:\/\/).+/, 'must be sqlite: and a path, such as sqlite:.troupe/ledger.db, or postgres://…')
    .optional(),
  /** Who works on runs: this process, or the workers of a cluster. */
  engine: z
    .string()
    .refine((text) => text === 'embedded' || parseRestateAddress(text).ok, {
      error: 'must be embedded, or restate+http:// and the address of the ingress, such as restate+http://127.0.0.1:8080',
    })
    .optional(),
  durability: z.enum(['effects', 'full']).optional(),
  /** What becomes of a call that must not be repeated when a crash leaves open whether it happened. */
  whenInDoubt: z.enum(['tell', 'ask']).optional(),
  budget: z
    .strictObject({
      usd: z.number().nonnegative().optional(),
      tokens: z.number().int().nonnegative().optional(),
      calls: z.number().int().nonnegative().optional(),
      /** Run models without a known price too: `usd` then counts only what is known. */
      allowUnknownPrices: z.boolean().optional(),
    })
    .optional(),
  providers: z.record(z.string(), providerConfig).optional(),
  prices: z.record(z.string(), priceOverride).optional(),
  permissions: definitionSchema.shape.permissions,
  mcp: definitionSchema.shape.mcp,
  /** The least that a result must be worth for exit code 0. */
  require: z.enum(['verified', 'unchecked']).optional(),
  /** How a person is called back who looks elsewhere. */
  notify: z.enum(['none', 'bell', 'desktop']).optional(),
  /** What the runtime runs itself before a run may call itself verified. */
  verify: definitionSchema.shape.verify,
  /** How many assistants there may be, and what the processes that host them may take. */
  assistants: z
    .strictObject({
      active: count.optional(),
      perParent: count.optional(),
      /** Of one client, those that wait for somebody. */
      waiting: count.optional(),
      perSession: count.optional(),
      depth: count.optional(),
      lifetime: timeLimit.optional(),
      /** In MiB, for each process. */
      memory: z.number().int().min(64).optional(),
      /** Processes that are kept ready. */
      warm: z.number().int().min(0).max(64).optional(),
      /** How often a process that crashed is replaced. */
      restarts: z.number().int().min(0).max(100).optional(),
    })
    .optional(),
  /** How long what work left behind is kept: by type, and how much of it together. Collected by `troupe ledger gc`. */
  artifacts: z
    .strictObject({
      keep: z.partialRecord(z.enum(artifactTypes), z.union([z.literal('forever'), duration])).optional(),
      maxBytes: count.optional(),
    })
    .optional(),
  /** How long sessions are kept; for ever, unless it is said. Collected by `troupe ledger gc`. */
  retention: z
    .strictObject({
      sessions: kept.optional(),
      events: keptEvents.optional(),
      /** The first that fits a session holds. */
      rules: z
        .array(
          z
            .strictObject({
              agent: z.string().min(1).optional(),
              tag: z.string().min(1).optional(),
              session: z.string().min(1).optional(),
              sessions: kept.optional(),
              events: keptEvents.optional(),
            })
            .refine(({ agent, tag, session }) => (agent ?? tag ?? session) !== undefined, {
              error: 'must say of which agent, tag or session',
            })
            .refine(({ sessions, events }) => (sessions ?? events) !== undefined, {
              error: 'must say for how long: sessions or events',
            }),
        )
        .max(limits.retentionRules)
        .optional(),
    })
    .optional(),
  /** Where copies of tasks are kept for others; the ledger has every task anyway. */
  tasks: z
    .strictObject({
      redis: z
        .string()
        .refine(isRedisAddress, { error: 'must be redis:// or rediss:// and an address, such as redis://127.0.0.1:6379/0' })
        .optional(),
      key: z
        .string()
        .max(200)
        .refine((name) => name.includes('{id}'), { error: 'must have {id} in it, such as task:{id}' })
        .optional(),
      ttl: duration.refine((ms) => ms >= limits.taskTtlLeastMs, { error: 'must be at least 1s' }).optional(),
    })
    .optional(),
  /** What callers of `troupe serve` may do. */
  serve: z
    .strictObject({
      /** With several callers, agents that run commands are refused: all are allowed, or those that are named. */
      commands: z.union([z.literal('allow'), z.array(z.string().min(1)).max(limits.callersPerServer)]).optional(),
      callers: z.record(z.string().min(1), caller).optional(),
      /** The address under which people reach the server, where that is another: what links begin with. */
      url: z.url({ protocol: /^https?$/ }).optional(),
      /** Agents for clients of OpenAI, at /v1. */
      openai: chatDoor.optional(),
      /** Agents for front-ends that speak AG-UI, at /agui. */
      agui: chatDoor.optional(),
      webhooks: z
        .array(webhook)
        .max(limits.webhooks)
        .refine((all) => new Set(all.map(({ name }) => name)).size === all.length, { error: 'must each have a name of its own' })
        .optional(),
    })
    .optional(),
  /** Agents that live elsewhere, by the names that they have here. */
  agents: z.record(z.string().min(1).max(200).normalize('NFC'), remoteAgent).optional(),
  /** What peers find by A2A: nothing, unless an agent's file or this says so. */
  a2a: z
    .strictObject({
      /** Shown to peers beside those whose own file says `a2a: true`. */
      agents: z.array(z.string().min(1)).max(limits.a2aAgents).optional(),
      /** Who answers at the address of the whole project; the only one that is shown without it. */
      house: z.string().min(1).optional(),
      name: z.string().min(1).max(200).optional(),
      description: z.string().min(1).max(2_000).optional(),
      /** The address that cards name, where peers come through a proxy. */
      url: z.url({ protocol: /^https?$/ }).optional(),
      /** The same for gRPC, which has an address of its own. */
      grpcUrl: z.url({ protocol: /^https?$/ }).optional(),
      /** The file of the private key that signs cards: PEM, or a JWK. */
      key: z.string().min(1).optional(),
      /** Extensions of the protocol that peers must say they speak. */
      demands: extensionsSchema.optional(),
      /** Whether peers may follow tasks as they go on, and leave addresses that are told. Both unless it says `false`. */
      streaming: z.boolean().optional(),
      push: z.boolean().optional(),
      /** Also tell addresses in private networks and on this machine how tasks stand. */
      privatePush: z.boolean().optional(),
      /** How many tasks of one caller may be under way, and how many streams it may have open. */
      tasksPerCaller: perCaller.optional(),
      streamsPerCaller: perCaller.optional(),
    })
    .optional(),
  /** Spans for OpenTelemetry: none, unless there is an address here or in the variables of OpenTelemetry, which win. */
  telemetry: z
    .strictObject({
      enabled: z.boolean().optional(),
      /** Of the collector, over HTTP: `/v1/traces` lies below it. */
      endpoint: z.url({ protocol: /^https?$/ }).optional(),
      /** The variable with headers for it, as `name=value,name=value`: they are not in a file. */
      headersEnv: z.string().min(1).optional(),
      /** Whether spans carry what was said. */
      content: z.boolean().optional(),
      conventions: z.enum(conventionNames).optional(),
      service: z.string().min(1).max(200).optional(),
      attributes: z.record(z.string().min(1).max(200), z.string().max(1_000)).optional(),
      timeout: timeLimit.optional(),
    })
    .optional(),
  /** The walls around commands and proofs. */
  sandbox: sandboxSchema.optional(),
  workspace: z.string().min(1).optional(),
  vars: z.record(z.string(), z.string()).optional(),
});

export type Settings = z.infer<typeof settingsSchema>;
