/** What an executor that is here can do, found out by starting it; and what is missing, with how to get it. */
import type { Environment } from '../base/environment.ts';
import { present } from '../base/present.ts';
import { openAcp } from './acp/open.ts';
import type { ExecutorEntry } from './entry.ts';
import type { ExecutorAbout } from './port.ts';
import type { AcpClientNeeds } from './start/reach.ts';

export interface Missing {
  readonly what: string;
  readonly fix?: string | undefined;
}

export interface ExecutorProbe {
  readonly entry: ExecutorEntry;
  /** Undefined when it could not be spoken to. */
  readonly about: ExecutorAbout | undefined;
  readonly missing: readonly Missing[];
}

/** Starts it in `folder`, opens a session, sets its mode for work, and ends it. Nothing is asked of its model. */
export async function probeExecutor(
  entry: ExecutorEntry,
  folder: string,
  needs: AcpClientNeeds,
  signal: AbortSignal,
): Promise<ExecutorProbe> {
  const missing = missingKeys(entry, needs.environment);
  const asked = { executor: entry.name, key: 'probe', cwd: folder, mode: 'full' as const, mcp: [] };
  const opened = await openAcp(entry, asked, needs, signal);
  if (!opened.ok) {
    const { message, fix } = opened.error;
    return { entry, about: undefined, missing: [{ what: message, ...present({ fix }) }, ...missing] };
  }
  const { about } = opened.value.live.as('new');
  const { survivors } = await opened.value.live.end();
  const left = survivors.map((one) => ({ what: `It left a process behind, which was looked for: ${one}` }));
  return { entry, about, missing: [...missing, ...about.without.map((what) => ({ what })), ...left] };
}

/** Keys of which none is set. */
export function missingKeys({ needs = [], title }: ExecutorEntry, environment: Environment): readonly Missing[] {
  if (needs.length === 0 || needs.some((name) => (environment[name] ?? '') !== '')) return [];
  const what = `${needs.join(', ')}: ${needs.length === 1 ? 'it is not set' : 'none of them is set'}`;
  return [{ what, fix: `Set ${needs.join(' or ')}, or log in with ${title} itself.` }];
}
