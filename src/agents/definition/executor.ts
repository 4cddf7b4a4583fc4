/** An agent whose work is done by an executor: a coding agent in a process of its own, which stands where others have a model. */
import { z } from 'zod';
import { timeLimit } from './duration-schema.ts';
import { type RemoteAgent, remoteModel } from './remote.ts';

const name = z.string().min(1).max(100).normalize('NFC');
const count = z.number().int().positive();

/** `2GiB`, `512MB`, or a number of MiB. */
const MEMORY = /^(\d+(?:\.\d+)?)\s*(k|m|g|t)(?:i?b)?$/i;
const MIB_OF: Readonly<Record<string, number>> = { k: 1 / 1_024, m: 1, g: 1_024, t: 1_024 * 1_024 };

const memory = z.union([count, z.string()]).transform((value, context) => {
  const [, amount = '', unit = ''] = (typeof value === 'string' ? MEMORY.exec(value.trim()) : null) ?? [];
  const mib = typeof value === 'number' ? value : Math.round(Number(amount) * (MIB_OF[unit.toLowerCase()] ?? Number.NaN));
  if (Number.isSafeInteger(mib) && mib > 0) return mib;
  context.addIssue({ code: 'custom', message: 'is not an amount of memory; write 512MB or 4GB' });
  return z.NEVER;
});

const useSchema = z.strictObject({
  name,
  /** `read-only`: it may look and change nothing. */
  mode: z.enum(['full', 'read-only']).optional(),
  /** In the executor's own words. */
  model: z.string().min(1).max(200).optional(),
  // what one run of the agent may use up
  maxCliCalls: count.optional(),
  maxDuration: timeLimit.optional(),
  /** In MiB, of all its processes together. */
  maxMemory: memory.optional(),
  /** What counts as spent where it does not say what it cost. */
  maxUsd: z.number().nonnegative().optional(),
});

export const executorSchema = z.union([name.transform((one) => ({ name: one })), useSchema]);

/** Which executor, and on what terms. */
export type ExecutorUse = z.infer<typeof useSchema>;

const PREFIX = 'executor:';

/** What stands in the place of a model, for whoever shows or counts it. */
export const executorModel = ({ name: executor }: Pick<ExecutorUse, 'name'>): string => `${PREFIX}${executor}`;

/** The executor that a name such as `executor:claude-code` stands for, where an agent could be named. */
export function executorNamed(agent: string): string | undefined {
  const executor = agent.startsWith(PREFIX) ? agent.slice(PREFIX.length) : '';
  return executor === '' ? undefined : executor;
}

/** Both have models of their own: an agent that lives elsewhere, and one that an executor works for. */
interface InPlaceOfModel {
  readonly remote?: RemoteAgent | undefined;
  readonly executor?: ExecutorUse | undefined;
}

export const hasOwnModels = ({ remote, executor }: InPlaceOfModel): boolean => remote !== undefined || executor !== undefined;

/** What stands for it where others have the name of a model. */
export function inPlaceOfModel({ remote, executor }: InPlaceOfModel): string | undefined {
  if (remote !== undefined) return remoteModel(remote);
  return executor === undefined ? undefined : executorModel(executor);
}
