/** The executors of a project. */
import { suggest } from '../base/did-you-mean.ts';
import { present } from '../base/present.ts';
import { fail } from '../base/result.ts';
import { builtinExecutor, knownExecutors } from './known/entries.ts';
import type { ExecutorFailure, Executors } from './port.ts';
import { type ExecutorLayer, type ResolvedExecutors, resolveExecutors } from './resolve.ts';

export interface ExecutorOptions {
  /** How this command line is started, for the executor that is built in. */
  readonly program: readonly string[];
  /** What files say, the user's before the project's. */
  layers(): Promise<readonly ExecutorLayer[]>;
}

export function createExecutors(options: ExecutorOptions): Executors {
  const known: ExecutorLayer = {
    source: 'known',
    fields: { ...knownExecutors, builtin: builtinExecutor(options.program) },
  };
  const resolved = async (): Promise<ResolvedExecutors> => resolveExecutors([known, ...(await options.layers())]);
  return {
    entries: async () => (await resolved()).entries,
    async open(asked) {
      const { entries, problems } = await resolved();
      const entry = entries.find(({ name }) => name === asked.executor);
      if (entry === undefined)
        return fail(
          unknown(
            asked.executor,
            entries.map(({ name }) => name),
            problems.find(({ name }) => name === asked.executor)?.message,
          ),
        );
      return fail({ why: 'unavailable', message: `The executor ${entry.name} cannot be started yet.` });
    },
    async close() {},
  };
}

const unknown = (name: string, others: readonly string[], problem: string | undefined): ExecutorFailure =>
  problem === undefined
    ? {
        why: 'unavailable',
        message: `There is no executor "${name}".`,
        ...present({ fix: suggest(name, others, 'executors') }),
      }
    : { why: 'unavailable', message: `The executor ${name} ${problem}`, fix: 'Correct its entry in executors.yaml.' };
