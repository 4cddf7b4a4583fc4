/**
 * One loop in runners: the one it was started in, and those that take its place when it dies. Whatever happens, it ends once,
 * with a result or with what a port threw, and no runner of its own is left then.
 */

import type { Clock } from '../../base/clock.ts';
import { TroupeError } from '../../base/errors.ts';
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { LoopInput, LoopPorts, LoopResult } from '../../loop/port.ts';
import { CANCELLED } from '../../loop/port.ts';
import { withoutReport } from '../../loop/without-report.ts';
import type { Hosted, ProcessNews } from '../port.ts';
import { loopResult } from '../wire/frames.ts';
import type { Method } from '../wire/rpc.ts';
import { createCancelling } from './cancelling.ts';
import { crashed, type LoopError, tooLong, tooOld } from './endings.ts';
import type { RunnerPool, RunnerSettings } from './pool.ts';
import { createPortCalls, type PortCalls } from './port-calls.ts';
import { type RunnerExit, type RunnerProcess, within } from './process.ts';
import { type ServedPorts, servePorts } from './served-ports.ts';

export interface HostNeeds {
  readonly clock: Clock;
  readonly settings: RunnerSettings;
  readonly pool: RunnerPool;
  /** Aborts when the host is closed. */
  readonly closed: AbortSignal;
}

/** Why a runner's part in a loop is over. */
type Verdict =
  | { readonly kind: 'result'; readonly result: LoopResult }
  | { readonly kind: 'threw'; readonly error: unknown }
  | { readonly kind: 'died'; readonly problem?: string }
  | { readonly kind: 'cancelled' | 'too_old' | 'closed' }
  | { readonly kind: 'too_long'; readonly problem: string };

interface HostedLoop {
  readonly needs: HostNeeds;
  readonly ports: LoopPorts;
  readonly hosted: Hosted;
  readonly calls: PortCalls;
  readonly served: ServedPorts;
  /** What happens to the loop whichever runner it is in. */
  readonly overall: Promise<Verdict>;
  /** What it resolved with. */
  over: Verdict | undefined;
  /** To be told when no call is under way any more. */
  onQuiet: () => void;
}

export async function hostLoop(needs: HostNeeds, input: LoopInput, ports: LoopPorts, hosted: Hosted): Promise<LoopResult> {
  const calls = createPortCalls(() => loop.onQuiet());
  const overall = Promise.withResolvers<Verdict>();
  const decide = (verdict: Verdict): void => {
    loop.over ??= verdict;
    overall.resolve(verdict);
  };
  const loop: HostedLoop = {
    ...{ needs, ports, hosted, calls },
    served: servePorts(input, ports, calls),
    overall: overall.promise,
    over: undefined,
    onQuiet: () => {},
  };
  const onClosed = (): void => decide({ kind: 'closed' });
  const forget = needs.clock.after(needs.settings.lifetimeMs, () => decide({ kind: 'too_old' }), 'hold');
  void calls.threw.then(({ error }) => decide({ kind: 'threw', error }));
  if (needs.closed.aborted) onClosed();
  needs.closed.addEventListener('abort', onClosed, { once: true });
  try {
    return await playInRunners(loop);
  } finally {
    forget();
    needs.closed.removeEventListener('abort', onClosed);
  }
}

async function playInRunners(loop: HostedLoop): Promise<LoopResult> {
  const { settings } = loop.needs;
  for (let attempt = 1; ; attempt += 1) {
    const { verdict, exit, lastWords } = await playInOne(loop, attempt);
    if (verdict.kind === 'died' && attempt <= settings.restarts) continue;
    await quiet(loop, verdict);
    const end = (status: 'failed' | 'cancelled', error: LoopError) => withoutReport({ status, error, ...loop.served.progress() });
    switch (verdict.kind) {
      case 'result':
        return verdict.result;
      case 'threw':
        throw verdict.error;
      case 'closed':
        throw new TroupeError('runner_closed', 'The runners were closed while the loop was under way.');
      case 'cancelled':
        return end('cancelled', { code: 'cancelled', message: CANCELLED });
      case 'too_old':
        return end('failed', tooOld(settings.lifetimeMs));
      case 'too_long':
        return end('failed', tooLong(verdict.problem));
      case 'died':
        return end('failed', crashed({ attempts: attempt, exit, lastWords, problem: verdict.problem }, settings));
    }
  }
}

/** Nothing may go on behind the caller's back. A call that waits for a person may take days: only a failure waits that long. */
async function quiet({ calls, needs }: HostedLoop, { kind }: Verdict): Promise<void> {
  if (calls.underWay() === 0) return;
  if (kind === 'threw') await calls.settled();
  else await within(calls.settled(), needs.clock, limits.stopGraceMs);
}

interface Stint {
  readonly verdict: Verdict;
  readonly exit: RunnerExit;
  readonly lastWords: string;
}

async function playInOne(loop: HostedLoop, attempt: number): Promise<Stint> {
  const { needs, hosted } = loop;
  if (loop.over !== undefined) return { verdict: loop.over, exit: { exitCode: null, signal: null }, lastWords: '' };
  const runner = needs.pool.take();
  if (runner.pid !== undefined) hosted.onProcess({ kind: 'started', pid: runner.pid, attempt });
  const verdict = await firstVerdict(loop, runner);
  // One that has given its result is leaving; the others have nothing to tidy up.
  const exit = await runner.stop(verdict.kind === 'result' ? limits.runnerGraceMs : 0);
  if (runner.pid !== undefined)
    hosted.onProcess({ kind: 'ended', pid: runner.pid, exitCode: exit.exitCode, signal: exit.signal, why: why(verdict) });
  return { verdict, exit, lastWords: runner.lastWords() };
}

function why({ kind }: Verdict): Extract<ProcessNews, { kind: 'ended' }>['why'] {
  if (kind === 'result') return 'done';
  if (kind === 'died') return 'crashed';
  return kind === 'too_old' ? 'too_old' : 'stopped';
}

async function firstVerdict(loop: HostedLoop, runner: RunnerProcess): Promise<Verdict> {
  const { needs, ports, hosted, served } = loop;
  const verdict = Promise.withResolvers<Verdict>();
  void loop.overall.then(verdict.resolve);
  void runner.tooLong.then((problem) => verdict.resolve({ kind: 'too_long', problem }));
  void runner.gone.then((exit) => verdict.resolve({ kind: 'died', ...present({ problem: exit.problem }) }));
  const late = `it was not ready within ${needs.settings.startMs} ms (the limit runnerStartMs)`;
  const slow = needs.clock.after(needs.settings.startMs, () => verdict.resolve({ kind: 'died', problem: late }), 'hold');
  void runner.ready.then(slow);
  const cancelling = createCancelling(
    needs.clock,
    runner,
    () => loop.calls.underWay() > 0,
    () => verdict.resolve({ kind: 'cancelled' }),
  );
  loop.onQuiet = cancelling.heard;
  try {
    runner.serve(
      heeding(
        served.methods((turn) => hosted.onProgress?.({ turn })),
        cancelling.heard,
      ),
    );
    void start(runner, needs.clock, served.start(hosted.thread)).then(verdict.resolve);
    ports.signal.addEventListener('abort', cancelling.cancel, { once: true });
    if (ports.signal.aborted) cancelling.cancel();
    return await verdict.promise;
  } catch (error) {
    return { kind: 'threw', error };
  } finally {
    // What is still in its pipe is no longer asked for.
    runner.serve({});
    slow();
    cancelling.end();
    ports.signal.removeEventListener('abort', cancelling.cancel);
  }
}

/** The methods, with somebody told of each call. */
function heeding(methods: Readonly<Record<string, Method>>, heard: () => void): Readonly<Record<string, Method>> {
  const heeded = Object.entries(methods).map(([name, method]): [string, Method] => [
    name,
    (params) => {
      heard();
      return method(params);
    },
  ]);
  return Object.fromEntries(heeded);
}

/** What comes of the loop as far as the runner knows. One that has no result to give is about to die, which tells more. */
async function start(runner: RunnerProcess, clock: Clock, params: Json): Promise<Verdict> {
  const reply = await runner.peer.request('start', params);
  const parsed = reply.ok ? loopResult.safeParse(reply.value) : undefined;
  if (parsed?.success === true) return { kind: 'result', result: parsed.data };
  await within(runner.gone, clock, limits.runnerGraceMs);
  return { kind: 'died', problem: reply.ok ? 'it gave something that is no result' : reply.error.message };
}
