/** Whether the executors that agents name can be spoken to: each is started in an empty folder, and its model is not asked. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, isError } from '../../agents/text/diagnostics.ts';
import { atMost } from '../../base/at-most.ts';
import type { Clock } from '../../base/clock.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import type { ExecutorEntry } from '../../executors/entry.ts';
import { isInstalled, notInstalled } from '../../executors/installed.ts';
import { keptHere } from '../../executors/kept-in.ts';
import { type ExecutorOptions, entryNamed, resolvedExecutors } from '../../executors/open.ts';
import { type ExecutorProbe, type Missing, missingKeys, probeExecutor } from '../../executors/probe.ts';
import type { Finding } from '../../front/project/finding.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { EXECUTORS_FILE } from '../../project/executors/executors-file.ts';
import { type ExecutorsOfProject, executorsOfProject } from '../../project/executors/lazy-executors.ts';
import type { CommandContext } from '../terminal/command.ts';
import { type UsedExecutor, usedExecutors } from './used-executors.ts';

export interface ExecutorFindingOptions {
  readonly config: ProjectConfig;
  readonly agents: readonly LoadedAgent[];
  /** What `check` found. */
  readonly diagnostics: readonly Diagnostic[];
  /** None is started: most of them look for their own server first. */
  readonly offline: boolean;
}

export async function executorFindings(context: CommandContext, options: ExecutorFindingOptions): Promise<readonly Finding[]> {
  const wrong = options.diagnostics.filter((one) => isError(one) && one.file.endsWith(EXECUTORS_FILE));
  // With a broken file none is started, so each would only say so again.
  if (wrong.length > 0) return wrong.map(brokenFile);
  const used = Map.groupBy(usedExecutors(options.agents), ({ name }) => name);
  if (used.size === 0) return [];
  const made = await executorsOfProject(options.config, context.terminal.env, context.clock);
  try {
    const tried = await tryAll([...used.keys()], { made, clock: context.clock, offline: options.offline });
    const results = new Map(tried);
    return tried.map(([name, one]) => findingOf(name, one, used.get(name) ?? [], results));
  } finally {
    await made.close();
  }
}

async function tryAll(names: readonly string[], needs: TryNeeds): Promise<readonly (readonly [string, Tried])[]> {
  const resolved = await resolvedExecutors(needs.made.options);
  const place = atMost(limits.doctorExecutors);
  return await Promise.all(
    names.map((name) =>
      place(async (): Promise<readonly [string, Tried]> => {
        const entry = entryNamed(name, resolved);
        if (!entry.ok) return [name, { works: false, text: entry.error.message, fix: entry.error.fix }];
        return [name, await tryExecutor(entry.value, needs)];
      }),
    ),
  );
}

const brokenFile = ({ file, line, column, message, fix }: Diagnostic): Finding => ({
  ...{ about: `executors (${file}:${line}:${column})`, state: 'broken' },
  text: `${message}; no executor is started until this is put right`,
  fix: fix ?? 'correct the file',
});

interface Tried {
  readonly works: boolean;
  readonly text: string;
  readonly fix?: string | undefined;
  /** It works, and something about it should be known. */
  readonly lacks?: Missing | undefined;
}

interface TryNeeds {
  readonly made: ExecutorsOfProject;
  readonly clock: Clock;
  readonly offline: boolean;
}

async function tryExecutor(entry: ExecutorEntry, { made, clock, offline }: TryNeeds): Promise<Tried> {
  const { root, options: needs, keeping } = made;
  const { reach, title } = entry;
  const walls = await keptHere(entry, keeping);
  if (walls.how === 'refused') {
    const text = `${title} is not started: walls are demanded (sandbox: on), and ${walls.why}`;
    return { works: false, text, fix: walls.fix };
  }
  const kept = walls.how === 'outside' ? `, runs without walls: ${walls.why}` : ', runs inside walls';
  if (isInstalled(entry, root, needs.environment) === false) {
    const { message, fix } = notInstalled(entry);
    return { works: false, text: message, fix };
  }
  const [lacks] = missingKeys(entry, needs.environment);
  if (offline) {
    const where = reach.kind === 'tcp' ? `is at ${reach.host}:${reach.port}` : 'is installed';
    return { works: true, text: `${title} ${where}, not started because of --offline${kept}`, ...present({ lacks }) };
  }
  const probe = await probed(entry, needs, clock);
  if (probe === undefined) {
    const text = `${title} did not answer within ${limits.doctorExecutorMs / 1_000} seconds (doctorExecutorMs)`;
    return { works: false, text, fix: `see what it does: troupe executors probe ${entry.name}` };
  }
  const [first] = probe.missing;
  if (probe.about === undefined) return { works: false, text: first?.what ?? `${title} does not work here`, fix: first?.fix };
  const { version, asks } = probe.about;
  const never = asks ? '' : '; it never asks before it acts';
  const text = `${title}${version === undefined ? '' : ` ${version}`} starts and answers${never}${kept}`;
  return { works: true, text, ...present({ lacks: first }) };
}

/** `undefined` when it took too long. */
async function probed(entry: ExecutorEntry, needs: ExecutorOptions, clock: Clock): Promise<ExecutorProbe | undefined> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-doctor-'));
  const late = new AbortController();
  const stop = clock.after(limits.doctorExecutorMs, () => late.abort());
  try {
    const probe = await probeExecutor(entry, folder, needs, late.signal);
    return late.signal.aborted && probe.about === undefined ? undefined : probe;
  } finally {
    stop();
    await rm(folder, { recursive: true, force: true });
  }
}

/** One that does not work is no harm where somebody beside it does. */
function findingOf(name: string, tried: Tried, uses: readonly UsedExecutor[], all: ReadonlyMap<string, Tried>): Finding {
  const about = `executor ${name}`;
  const [first, ...rest] = [...new Set(uses.map(({ agent }) => agent.definition.name))];
  const by = ` (for the agent ${first}${rest.length === 0 ? '' : ` and ${counted(rest.length, 'other')}`})`;
  if (tried.works) {
    if (tried.lacks === undefined) return { about, state: 'good', text: `${tried.text}${by}` };
    return { about, state: 'note', text: `${tried.text}; ${tried.lacks.what}${by}`, fix: tried.lacks.fix };
  }
  const stuck = uses.find(({ others }) => !others.some((other) => all.get(other)?.works !== false));
  const state = stuck === undefined ? 'note' : 'broken';
  const instead = stuck === undefined ? '; others in the list can do its work' : '';
  return { about, state, text: `${tried.text.replace(/\.$/, '')}${instead}${by}`, fix: tried.fix };
}
