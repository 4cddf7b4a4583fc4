/** The coding agents that can work for agents here, and what one of them can do. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { TroupeError } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import type { ExecutorEntry } from '../../executors/entry.ts';
import { isInstalled } from '../../executors/installed.ts';
import { type KeptHere, keptHere } from '../../executors/kept-in.ts';
import { type FoundExecutors, resolvedExecutors } from '../../executors/open.ts';
import { type ExecutorProbe, probeExecutor } from '../../executors/probe.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { type ExecutorsOfProject, executorsOfProject } from '../../project/executors/lazy-executors.ts';
import type { executorList, executorProbed } from '../shapes/executors.ts';
import type { GivenOut } from '../shapes/given.ts';

export type ListedExecutor = GivenOut<z.input<typeof executorList>>['executors'][number];
export type ProbedExecutor = GivenOut<z.input<typeof executorProbed>>;

export interface ExecutorsHere {
  readonly made: ExecutorsOfProject;
  readonly resolved: FoundExecutors;
}

/** Whoever has them closes what is made for them. */
export async function readExecutors(config: ProjectConfig, env: Environment, clock: Clock): Promise<ExecutorsHere> {
  const made = await executorsOfProject(config, env, clock);
  const resolved = await resolvedExecutors(made.options);
  if (resolved.broken === undefined) return { made, resolved };
  await made.close();
  throw new TroupeError('config', resolved.broken, { fix: 'correct executors.yaml and try again' });
}

export async function listExecutors({ made, resolved }: ExecutorsHere): Promise<readonly ListedExecutor[]> {
  const found: ListedExecutor[] = [];
  for (const entry of resolved.entries)
    found.push(listed(entry, isInstalled(entry, made.root, made.options.environment), await keptHere(entry, made.keeping)));
  return found;
}

function listed(entry: ExecutorEntry, installed: boolean | undefined, walls: KeptHere): ListedExecutor {
  const { name, title, source, reach, install, notes } = entry;
  const starts = reach.kind === 'tcp' ? { address: `${reach.host}:${reach.port}` } : { command: [reach.program, ...reach.args] };
  return { name, title, source, ...starts, ...present({ installed, install, notes }), walls: present(walls) };
}

/** Starts it in an empty folder, and asks it what it can. */
export async function probeHere(
  { made, resolved }: ExecutorsHere,
  entry: ExecutorEntry,
  signal: AbortSignal,
): Promise<ProbedExecutor> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-probe-'));
  try {
    const probe = await probeExecutor(entry, folder, { ...made.options, others: resolved.entries }, signal);
    return probed(probe, await keptHere(entry, made.keeping));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

function probed({ entry, about, missing }: ExecutorProbe, kept: KeptHere): ProbedExecutor {
  const { name, title } = entry;
  const walls = present(kept);
  if (about === undefined) return { name, title, works: false, walls, missing };
  const { version, protocol, modes, mode, model, canLoad, mcp, asks, images, sandbox } = about;
  const known = { ...present({ version, mode, model, images, sandbox }), protocol, modes, loads: canLoad, asks, mcp };
  return { name, title, works: true, ...known, walls, missing };
}
