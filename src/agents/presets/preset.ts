/**
 * A preset: a whole group in one value, to be kept, shown, shared and run. It comes from one of three tiers, and who reads it
 * is always told which. A preset is data: it names models and says prompts, and can neither read files nor run anything.
 */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { worktreeStrategy } from '../../events/organisation.ts';
import { permissionsSchema } from '../definition/definition.ts';

export const groupModes = ['broadcast', 'sequential', 'orchestrator', 'reflect'] as const;
export const presetTiers = ['repo', 'user', 'built-in'] as const;

/** What holds when a file names a mode that nobody knows: it uses all that a preset has, and ends after one pass. */
export const DEFAULT_MODE = 'orchestrator';

const name = z.string().trim().min(1).max(200).normalize('NFC');
const text = z.string().max(limits.presetTextCharacters);
const model = z.string().min(1).max(200);

export const presetWorkerSchema = z.object({
  name,
  model: model.optional(),
  /** The worker's prompt. */
  charter: text.optional(),
  /** What the worker is for, in a few words: what the orchestrator goes by. */
  role: z.string().max(1_000).optional(),
  /** Built-in tools; without a word those of `WORKER_TOOLS` in preset-agents.ts. */
  tools: z.array(z.string().min(1).max(200)).max(100).optional(),
  /** What of that asks or is denied, as in an agent's file. It narrows what holds without it and never widens it. */
  permissions: permissionsSchema.optional(),
});

/**
 * What a file says of a preset. Unknown fields are left out, unknown words of an enumeration become their default; whoever reads
 * a file says so (rights.ts).
 */
export const presetSchema = z.object({
  name,
  description: text.default(''),
  emoji: z.string().max(16).optional().catch(undefined),
  mode: z.enum(groupModes).catch(DEFAULT_MODE),
  orchestrator: z.object({ model: model.optional(), prompt: text.optional() }).default({}),
  workers: z.array(presetWorkerSchema).min(1).max(limits.groupWorkers),
  sharedContext: text.optional(),
  routingContext: text.optional(),
  maxIterations: z.number().int().positive().max(1_000).optional().catch(undefined),
  worktrees: worktreeStrategy.optional().catch(undefined),
});

export type PresetTier = (typeof presetTiers)[number];
export type GroupMode = (typeof groupModes)[number];
export type PresetWorker = z.infer<typeof presetWorkerSchema>;
/** A preset as files hold it: where it came from is not its own business. */
export type PresetContent = z.infer<typeof presetSchema>;

export interface GroupPreset extends PresetContent {
  readonly source: { readonly tier: PresetTier; readonly path?: string | undefined };
}

/** What a worker is for: what the preset says, else the first sentence of the charter without its "You are a". */
export function roleOf({ role, charter }: Pick<PresetWorker, 'role' | 'charter'>): string | undefined {
  if (role !== undefined && role.trim() !== '') return role.trim();
  const prose = (charter ?? '').split(/\r?\n/).find((line) => /^\s*[\p{L}\p{N}"'*_]/u.test(line));
  const sentence = prose?.trim().split(/(?<=[.!?])\s/, 1)[0];
  const bare = sentence?.replace(/^you are (?:an?|the|our)?\s*/i, '').replace(/[.!?]+$/, '');
  return bare === undefined || bare === '' ? undefined : Array.from(bare).slice(0, ROLE_CHARACTERS).join('');
}

const ROLE_CHARACTERS = 120;

/** A name as files, addresses and shells take it: lower case, letters and digits of any script, single hyphens. */
export function plainName(wanted: string): string {
  return wanted
    .normalize('NFC')
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replaceAll(/^-+|-+$/g, '')
    .normalize('NFC');
}
