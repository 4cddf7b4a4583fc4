/** `troupe cluster up`: Postgres, Restate and workers on this machine, in the foreground, until Ctrl-C. To try it. */

import { extname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseDocument } from 'yaml';
import { formatDiagnostic } from '../../agents/text/diagnostics.ts';
import { readText } from '../../agents/text/read-text.ts';
import { writeText } from '../../agents/text/write-text.ts';
import { TroupeError } from '../../base/errors.ts';
import { systemRandom } from '../../base/random.ts';
import { counted } from '../../base/wording.ts';
import { type LocalCluster, startLocalCluster } from '../../cluster/local-cluster.ts';
import { CONFIG_FILE, loadConfig, type ProjectConfig } from '../../project/config.ts';
import { type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface ClusterUpOptions {
  readonly workers: number;
  readonly nodes: '1' | '3';
  readonly concurrency?: number | undefined;
  readonly data?: string | undefined;
  readonly postgres?: string | undefined;
  readonly write?: boolean | undefined;
}

export interface ClusterStatusOptions {
  readonly admin?: string | undefined;
  readonly json?: boolean | undefined;
}

/** A checkout brings its servers along here. */
const OWN_SERVERS = fileURLToPath(new URL('../../../tools/cluster', import.meta.url));
const PROGRAM = fileURLToPath(new URL(`../main${extname(import.meta.url)}`, import.meta.url));

export async function clusterUpCommand(context: CommandContext, options: ClusterUpOptions): Promise<ExitCode> {
  const { terminal, clock } = context;
  const config = await configOf(context);
  const say = (text: string): void => terminal.progress.line(safeLine(text));
  const folder = dataFolder(context, config, options.data);
  say(
    `starting ${options.nodes === '1' ? 'Restate' : '3 Restate servers'} and ${counted(options.workers, 'worker')}; data in ${folder}`,
  );
  let code: ExitCode = exitCodes.completed;
  const stopped = new AbortController();
  const asked = stopSignal(context, stopped);
  const cluster = await startLocalCluster({
    root: config.root,
    folder,
    nodes: Number(options.nodes),
    workers: options.workers,
    concurrency: options.concurrency,
    postgres: options.postgres,
    env: terminal.env,
    packages: [config.root, OWN_SERVERS],
    program: PROGRAM,
    clock,
    random: systemRandom,
    say,
    gaveUp: () => {
      code = exitCodes.failed;
      stopped.abort();
    },
  });
  try {
    if (!stopped.signal.aborted) {
      if (options.write === true) await writeSettings(config.root, cluster);
      announce(context, cluster, options.write === true);
    }
    await asked;
  } finally {
    await cluster.stop();
    say('everything is stopped');
  }
  return code;
}

export function dataFolder({ cwd }: CommandContext, { home }: ProjectConfig, named: string | undefined): string {
  return named === undefined ? join(home, 'cluster') : resolve(cwd, named);
}

async function configOf({ cwd, terminal }: CommandContext): Promise<ProjectConfig> {
  const config = await loadConfig({ cwd, env: terminal.env });
  if (config.ok) return config.value;
  throw new TroupeError('config', config.error.map(formatDiagnostic).join('\n'), { fix: 'Correct the settings and try again.' });
}

/** The settings for a program on stdout; what to do with them for a person on stderr. */
function announce(context: CommandContext, { settings, admin }: LocalCluster, written: boolean): void {
  const { out, progress } = context.terminal;
  const call = callOf(context);
  progress.prose(
    written
      ? `ready; ${CONFIG_FILE} says so now (the password is good on this machine only, and is not for others to see)`
      : `ready; put these into ${CONFIG_FILE}, or run ${call} cluster up --write:`,
  );
  out.line(`ledger: ${settings.ledger}`);
  out.line(`engine: ${settings.engine}`);
  progress.prose(
    `then, in another terminal: ${call} run <agent> "…", ${call} cluster status; the servers' own page is ${admin}/ui`,
  );
  progress.line('Ctrl-C stops everything; the next start goes on with it');
}

/** Other settings and comments stay as they are. */
async function writeSettings(root: string, { settings }: LocalCluster): Promise<void> {
  const path = join(root, CONFIG_FILE);
  const before = await readText(path);
  const document = parseDocument(before.ok ? before.value : '');
  for (const [key, value] of Object.entries(settings)) document.set(key, value);
  const written = await writeText(root, path, document.toString());
  if (!written.ok) throw usageError(`${CONFIG_FILE} ${written.error.message}`, written.error.fix);
}

/** The first signal resolves; the second, while servers are being stopped, leaves at once, and they end with this process. */
function stopSignal({ terminal }: CommandContext, stopped: AbortController): Promise<void> {
  terminal.onStop(() => {
    if (stopped.signal.aborted) return terminal.exitNow(exitCodes.interrupted);
    terminal.progress.line('stopping; once more leaves at once');
    stopped.abort();
  });
  return new Promise((resolve) => stopped.signal.addEventListener('abort', () => resolve(), { once: true }));
}
