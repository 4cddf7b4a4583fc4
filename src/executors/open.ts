/**
 * The executors of a project, and the sessions that are open with them: each by the key of whoever it works for, so that one
 * that was left is found again while it lives.
 */
import { suggest } from '../base/did-you-mean.ts';
import { oneAtATime } from '../base/one-at-a-time.ts';
import { present } from '../base/present.ts';
import { fail, ok, type Result } from '../base/result.ts';
import type { LiveSession } from './acp/session.ts';
import type { ExecutorEntry } from './entry.ts';
import { type BuiltinNeeds, builtinExecutor, knownExecutors } from './known/entries.ts';
import type { ExecutorFailure, Executors } from './port.ts';
import { type ExecutorLayer, type ResolvedExecutors, resolveExecutors } from './resolve.ts';
import type { AcpClientNeeds } from './start/reach.ts';

export interface ExecutorOptions extends AcpClientNeeds {
  readonly builtin: BuiltinNeeds;
  /** What files say, the user's before the project's; or what is wrong with them. */
  layers(): Promise<Result<readonly ExecutorLayer[], string>>;
  /** Before one is started; what comes back is called when it has ended. */
  watching?(): Promise<() => Promise<void>>;
}

export function createExecutors(options: ExecutorOptions): Executors {
  const resolved = () => resolvedExecutors(options);
  const live = new Map<string, LiveSession>();
  const inTurn = oneAtATime();
  let isClosed = false;
  return {
    entries: async () => (await resolved()).entries,
    missing: async (name, folder) => {
      const entry = entryNamed(name, await resolved());
      if (!entry.ok) return entry.error;
      const { isInstalled, notInstalled } = await import('./installed.ts');
      return isInstalled(entry.value, folder, options.environment) === false ? notInstalled(entry.value) : undefined;
    },
    open: (asked, signal) =>
      inTurn(asked.key, async () => {
        const left = live.get(asked.key);
        if (left?.isAlive() === true) return ok(left.as('live'));
        live.delete(asked.key);
        if (isClosed) return fail({ why: 'unavailable', message: 'The project was closed.' });
        const found = await resolved();
        const entry = entryNamed(asked.executor, found);
        if (!entry.ok) return entry;
        const { openAcp } = await import('./acp/open.ts');
        const ended = await options.watching?.();
        const opened = await openAcp(entry.value, asked, { ...options, others: found.entries }, signal);
        if (!opened.ok) {
          await ended?.();
          return opened;
        }
        const { live: session, restored } = opened.value;
        live.set(asked.key, session);
        void session.gone.then(async () => {
          await ended?.();
          if (live.get(asked.key) === session) live.delete(asked.key);
        });
        if (isClosed) await session.end();
        return ok(session.as(restored));
      }),
    drop: async (key) => {
      await live.get(key)?.end();
    },
    async close() {
      isClosed = true;
      await Promise.all([...live.values()].map((session) => session.end()));
      live.clear();
    },
  };
}

export interface FoundExecutors extends ResolvedExecutors {
  /** What is wrong with the files: none of them counts then, and none that is known is started. */
  readonly broken?: string | undefined;
}

export async function resolvedExecutors({
  builtin,
  layers,
}: Pick<ExecutorOptions, 'builtin' | 'layers'>): Promise<FoundExecutors> {
  const known: ExecutorLayer = { source: 'known', fields: { ...knownExecutors, builtin: builtinExecutor(builtin) } };
  const read = await layers();
  return {
    ...resolveExecutors([known, ...(read.ok ? read.value : [])]),
    ...present({ broken: read.ok ? undefined : read.error }),
  };
}

export function entryNamed(name: string, { entries, problems, broken }: FoundExecutors): Result<ExecutorEntry, ExecutorFailure> {
  if (broken !== undefined) return fail({ why: 'unavailable', message: broken, fix: 'Correct executors.yaml.' });
  const entry = entries.find((one) => one.name === name);
  if (entry !== undefined) return ok(entry);
  const problem = problems.find((one) => one.name === name);
  if (problem !== undefined)
    return fail({
      ...{ why: 'unavailable', message: `The executor ${name} ${problem.message}.` },
      fix: 'Correct its entry in executors.yaml.',
    });
  const names = entries.map((one) => one.name);
  return fail({
    ...{ why: 'unavailable', message: `There is no executor "${name}".` },
    ...present({ fix: suggest(name, names, 'executors') }),
  });
}
