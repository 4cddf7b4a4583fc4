/**
 * `troupe worker`: works on runs of the cluster until it is told to stop. Then it takes no new work, finishes what is under way
 * or leaves it after a while, and others go on with that.
 *
 * Whoever reaches its port could hand it runs that do not exist or replay those that do, so beyond this machine it wants to know
 * Restate's identity key, or to be told that the network is private.
 */

import { findAdmin } from '../../cluster/find-admin.ts';
import { registerPatiently } from '../../cluster/register.ts';
import { watchForStalls } from '../../cluster/stall-watchdog.ts';
import { serveWorker } from '../../cluster/worker-server.ts';
import { bracketed, isLoopback } from '../../http/names.ts';
import type { Project } from '../../project/project.ts';
import { readableDuration } from '../../projections/readable.ts';
import { type CommandContext, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface WorkerCommandOptions {
  readonly concurrency?: number | undefined;
  readonly host: string;
  readonly port: number;
  readonly url?: string | undefined;
  readonly admin?: string | undefined;
  readonly engine?: string | undefined;
  readonly identityKey?: readonly string[] | undefined;
  readonly privateNetwork?: boolean | undefined;
  /** With other workers of the same project. */
  readonly sharePort?: boolean | undefined;
  /** `--no-register`: somebody else tells Restate. */
  readonly register: boolean;
}

export async function workerCommand(context: CommandContext, options: WorkerCommandOptions): Promise<ExitCode> {
  requirePrivacy(options);
  const url = options.register ? urlOf(options) : undefined;
  return await withProject(context, { flags: { engine: options.engine } }, async (project) => {
    const { terminal, clock } = context;
    const say = (text: string): void => terminal.progress.line(`worker ${process.pid}: ${safeLine(text)}`);
    const worker = await project.worker({ concurrency: options.concurrency, identityKeys: options.identityKey });
    const stop = stopSignals(context, say);
    const watchdog = watchForStalls({
      clock,
      stalled: (gap) => {
        say(`stood still for ${readableDuration(gap)}, longer than a lease lasts; others have its runs now, so it ends`);
        terminal.exitNow(exitCodes.failed);
      },
    });
    const { host, port, sharePort } = options;
    const served = await serveWorker({ worker, host, port, alone: sharePort !== true, onRequest: watchdog.look });
    try {
      say(`answers on ${host}:${served.port}, ledger ${project.config.ledger}`);
      const registered = url === undefined || (await register(context, project, url(served.port), options, stop.signal, say));
      if (registered) say('ready');
      await stop.asked;
      served.stopListening();
      say(`takes no new work; ${worker.working()} under way`);
      await worker.drain();
      say('stopped');
    } finally {
      watchdog.stop();
      await served.close();
    }
    return exitCodes.completed;
  });
}

function requirePrivacy({ host, identityKey = [], privateNetwork = false }: WorkerCommandOptions): void {
  const bad = identityKey.find((key) => !/^publickeyv1_[A-Za-z0-9]{20,100}$/.test(key));
  if (bad !== undefined) throw usageError(`"${bad}" is not an identity key`, 'Restate prints it at its start: publickeyv1_…');
  if (isLoopback(host) || identityKey.length > 0 || privateNetwork) return;
  throw usageError(
    `Everybody who can reach ${host} could make this worker work: its port must be private to Restate`,
    'have Restate sign its calls and name its key: --identity-key publickeyv1_…; or, where only Restate reaches it: --private-network',
  );
}

/** Where Restate reaches the worker, once its port is known. */
function urlOf({ host, url }: WorkerCommandOptions): (port: number) => string {
  if (url !== undefined) {
    if (!/^https?:\/\//.test(url) || !URL.canParse(url))
      throw usageError(`${url} is not an address`, 'write --url http://host:9080');
    return () => url;
  }
  if (host === '0.0.0.0' || host === '::')
    throw usageError(
      `${host} is no address that Restate could call`,
      'say where it reaches the workers: --url http://workers:9080',
    );
  return (port) => `http://${bracketed(host)}:${port}`;
}

async function register(
  { terminal, clock }: CommandContext,
  { config }: Project,
  url: string,
  options: WorkerCommandOptions,
  signal: AbortSignal,
  say: (text: string) => void,
): Promise<boolean> {
  if (config.cluster === undefined) return false;
  const admin = await findAdmin(config.cluster, options.admin, terminal.env, config.home);
  const onWait = (problem: string): void => say(`cannot register at ${admin} yet, tries again: ${problem}`);
  const registered = await registerPatiently(admin, url, { clock, signal, onWait });
  if (registered) say(`registered ${url} at ${admin}`);
  return registered;
}

/** The first signal stops in good order; the second leaves at once. */
function stopSignals({ terminal }: CommandContext, say: (text: string) => void) {
  const stopped = new AbortController();
  const asked = new Promise<void>((resolve) => stopped.signal.addEventListener('abort', () => resolve(), { once: true }));
  terminal.onStop((signal) => {
    if (stopped.signal.aborted) return terminal.exitNow(exitCodes.interrupted);
    say(`stops after what is under way (${signal}); once more leaves at once`);
    stopped.abort();
  });
  return { asked, signal: stopped.signal };
}
