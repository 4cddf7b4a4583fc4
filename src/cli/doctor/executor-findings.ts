/** Whether the executors that agents' files name are there. None is started: `troupe executors probe` does that. */
import type { LoadedAgent } from '../../agents/file/load.ts';
import { present } from '../../base/present.ts';
import { keptHere } from '../../executors/kept-in.ts';
import { entryNamed, resolvedExecutors } from '../../executors/open.ts';
import { isInstalled, missingKeys } from '../../executors/probe.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { type ExecutorsOfProject, executorsOfProject } from '../../project/executors/lazy-executors.ts';
import type { CommandContext } from '../terminal/command.ts';
import type { Finding } from './finding.ts';

export async function executorFindings(
  { clock, terminal }: CommandContext,
  config: ProjectConfig,
  agents: readonly LoadedAgent[],
): Promise<readonly Finding[]> {
  const made = await executorsOfProject(config, terminal.env, clock);
  try {
    return await found(made, agents);
  } finally {
    await made.close();
  }
}

async function found(
  { root, options, keeping }: ExecutorsOfProject,
  agents: readonly LoadedAgent[],
): Promise<readonly Finding[]> {
  const resolved = await resolvedExecutors(options);
  const named = new Map<string, string>();
  for (const { definition, disabled } of agents)
    if (!disabled && definition.executor !== undefined) named.set(definition.executor.name, definition.name);
  const look = async ([name, agent]: readonly [string, string]): Promise<Finding> => {
    const about = `executor ${name}`;
    const by = ` (for the agent ${agent})`;
    const entry = entryNamed(name, resolved);
    if (!entry.ok) return { about, state: 'broken', text: `${entry.error.message}${by}`, fix: entry.error.fix };
    const { reach, install, title } = entry.value;
    const walls = await keptHere(entry.value, keeping);
    if (walls.how === 'refused') {
      const text = `${title} is not started${by}: walls are demanded (sandbox: on), and ${walls.why}`;
      return { about, state: 'broken', text, ...present({ fix: walls.fix }) };
    }
    const kept = walls.how === 'outside' ? `, runs without walls: ${walls.why}` : ', runs inside walls';
    if (reach.kind === 'tcp')
      return { about, state: 'good', text: `${title} at ${reach.host}:${reach.port}, not asked${by}${kept}` };
    if (isInstalled(entry.value, root, options.environment) !== true && entry.value.image !== undefined)
      return { about, state: 'broken', text: `${title} runs in an image${by}, and there is no docker or podman`, fix: install };
    if (isInstalled(entry.value, root, options.environment) !== true)
      return { about, state: 'broken', text: `${title} is not installed: there is no ${reach.program}${by}`, fix: install };
    const [missing] = missingKeys(entry.value, options.environment);
    if (missing !== undefined) {
      const { what, fix } = missing;
      return { about, state: 'note', text: `${title} is installed; ${what}${by}`, fix };
    }
    return { about, state: 'good', text: `${title} is installed${by}${kept}; troupe executors probe ${name} tries it` };
  };
  return await Promise.all([...named].map(look));
}
