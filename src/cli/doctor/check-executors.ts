/**
 * `executors.yaml` and the executors that agents name. What is wrong in a file is an error; what is only not here, a program or
 * a variable, may be elsewhere, so it is a warning. Nothing is started: `doctor` does that.
 */
import type { LoadedAgent } from '../../agents/file/load.ts';
import { type Diagnostic, quote, warningAt } from '../../agents/text/diagnostics.ts';
import type { Environment } from '../../base/environment.ts';
import type { ExecutorEntry } from '../../executors/entry.ts';
import type { ExecutorFailure } from '../../executors/port.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { ExecutorsFile } from '../../project/executors/executors-file.ts';
import { peerEnvironment } from '../../project/lazy-peers.ts';
import { type UsedExecutor, usedExecutors } from './used-executors.ts';

export async function checkExecutors(
  agents: readonly LoadedAgent[],
  config: ProjectConfig,
  env: Environment,
): Promise<readonly Diagnostic[]> {
  const { readExecutorFiles } = await import('../../project/executors/executors-file.ts');
  const files = await readExecutorFiles(config.root, env);
  const used = usedExecutors(agents);
  const own = [...files.flatMap(({ problems }) => problems)];
  if (used.length === 0 && files.length === 0) return own;
  const { knownExecutors } = await import('../../executors/known/entries.ts');
  const { resolveExecutors } = await import('../../executors/resolve.ts');
  const { isInstalled, notInstalled } = await import('../../executors/installed.ts');
  const known = { source: 'known' as const, fields: knownExecutors };
  const { entries } = resolveExecutors([known, ...files.map(({ layer }) => layer)]);
  const environment = peerEnvironment(config);
  return [
    ...own,
    ...files.flatMap((file) => unsetIn(file, entries, environment)),
    ...used.flatMap((use) => {
      const entry = entries.find(({ name }) => name === use.name);
      if (entry === undefined) return [];
      const problem = isInstalled(entry, config.root, environment) === false ? notInstalled(entry) : undefined;
      return [...notHere(use, problem), ...cannotChoose(use, entry)];
    }),
  ];
}

/** Variables that an entry of this file names and that nobody has set. */
function unsetIn(
  { layer, placeOf, refused }: ExecutorsFile,
  entries: readonly ExecutorEntry[],
  environment: Environment,
): readonly Diagnostic[] {
  const isSet = (name: string): boolean => (environment[name] ?? '') !== '';
  return Object.entries(layer.fields).flatMap(([name, { env = {}, keys = [] }]) => {
    if (refused.has(name)) return [];
    const filled = Object.entries(env).flatMap(([variable, text]) =>
      variablesIn(text)
        .filter((one) => environment[one] === undefined)
        .map((one) =>
          warningAt(
            placeOf(['executors', name, 'env', variable]),
            `the executor ${name} needs the variable ${one}, which is set neither here nor in .env: it would not be started`,
            `Set ${one}, or take it out.`,
          ),
        ),
    );
    const whole = entries.find((entry) => entry.name === name)?.keys ?? keys;
    if (keys.length === 0 || whole.some(isSet)) return filled;
    const them = keys.length === 1 ? 'which is not set' : 'none of which is set';
    const message = `the executor ${name} gets ${keys.join(', ')} from your environment, ${them} here or in .env`;
    return [
      ...filled,
      warningAt(placeOf(['executors', name, 'keys']), message, 'Set what it needs, unless it has a login of its own.'),
    ];
  });
}

const variablesIn = (text: string): readonly string[] =>
  [...text.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g)].map(([, name = '']) => name);

/** Where a list names others it is still said: whoever stands first was meant to do the work. */
function notHere({ agent, path, others, name }: UsedExecutor, problem: ExecutorFailure | undefined): readonly Diagnostic[] {
  if (problem === undefined) return [];
  const rest = others.length === 0 ? '' : ` Left are ${others.join(', ')}.`;
  const { message, fix = `See: troupe executors probe ${name}` } = problem;
  return [warningAt(agent.placeOf(path), `${message}${rest}`.replace(/\.$/, ''), fix)];
}

function cannotChoose({ agent, path }: UsedExecutor, { title, model }: ExecutorEntry): readonly Diagnostic[] {
  const wanted = path[0] === 'executor' ? agent.definition.executor?.model : undefined;
  if (wanted === undefined || model !== 'none') return [];
  const fix = 'Leave the key out, and choose the model where the executor itself is set up.';
  return [warningAt(agent.placeOf(['executor', 'model']), `${title} cannot be told its model (${quote(wanted)})`, fix)];
}
