/**
 * Runs one tool call to its end. Whatever the tool does (throws, hangs, ignores its signal), the caller gets an outcome
 * within the timeout plus a grace period. Results are not cut here: the engine bounds what enters the context.
 */
import type { Clock } from '../base/clock.ts';
import { messageOf } from '../base/errors.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import { checkInput } from './input.ts';
import { errorResult, type OrdinaryTool, type ToolContext, type ToolOutcome, type ToolRefusal } from './port.ts';

export interface ToolRunOptions {
  /** The agent's `toolTimeout`; a tool's own `timeoutMs` goes before it. */
  readonly timeoutMs: number;
  readonly clock: Clock;
  /** How long a tool may take to stop after it was told to. */
  readonly graceMs?: number;
}

export async function runTool(
  tool: OrdinaryTool,
  input: Json,
  context: ToolContext,
  options: ToolRunOptions,
): Promise<ToolOutcome> {
  const checked = checkInput(tool.inputSchema, input);
  if (!checked.ok) return errorResult(checked.error);
  if (context.signal.aborted) return errorResult('The call was cancelled before it started.');

  const timeoutMs = tool.timeoutMs ?? options.timeoutMs;
  const stop = new AbortController();
  const onCancel = (): void => stop.abort(context.signal.reason);
  context.signal.addEventListener('abort', onCancel, { once: true });
  const reason = { current: 'The call was cancelled.' };
  const forgetTimeout = options.clock.after(
    timeoutMs,
    () => {
      reason.current = `The tool ran into its time limit of ${inWords(timeoutMs)} (\`toolTimeout\`).`;
      stop.abort(new DOMException('The tool ran into its time limit.', 'TimeoutError'));
    },
    'hold',
  );
  try {
    const abandoned = abandonAfter(stop.signal, options);
    const outcome = await Promise.race([settle(tool, input, { ...context, signal: stop.signal }), abandoned.promise]);
    abandoned.forget();
    return explain(outcome, stop.signal.aborted ? reason.current : undefined, tool.name);
  } finally {
    forgetTimeout();
    context.signal.removeEventListener('abort', onCancel);
  }
}

/** What `runTool` is sure to come to without a change of anything, as things are now; `undefined` when it may well be done. */
export async function sureRefusal(tool: OrdinaryTool, input: Json, context: ToolContext): Promise<ToolRefusal | undefined> {
  const checked = checkInput(tool.inputSchema, input);
  if (!checked.ok) return { kind: 'error', message: checked.error };
  return await tool.refusal?.(input, context);
}

type Settled = { readonly kind: 'outcome'; readonly outcome: ToolOutcome } | { readonly kind: 'threw'; readonly error: unknown };

async function settle(tool: OrdinaryTool, input: Json, context: ToolContext): Promise<Settled> {
  try {
    return { kind: 'outcome', outcome: await tool.run(input, context) };
  } catch (error) {
    return { kind: 'threw', error };
  }
}

/** Resolves when the tool was told to stop and the grace period has passed. */
function abandonAfter(signal: AbortSignal, { clock, graceMs = 3 * limits.stopGraceMs }: ToolRunOptions) {
  let forget = (): void => {};
  const promise = new Promise<{ readonly kind: 'abandoned' }>((resolve) => {
    const onAbort = (): void => {
      forget = clock.after(graceMs, () => resolve({ kind: 'abandoned' }), 'hold');
    };
    signal.addEventListener('abort', onAbort, { once: true });
    forget = () => signal.removeEventListener('abort', onAbort);
  });
  return { promise, forget: () => forget() };
}

/** A tool that ended in spite of being stopped speaks for itself; one that threw or hung is spoken for. */
function explain(settled: Settled | { readonly kind: 'abandoned' }, stopped: string | undefined, name: string): ToolOutcome {
  if (settled.kind === 'abandoned') {
    return errorResult(`${stopped ?? ''} \`${name}\` did not stop and was abandoned; whether it finished is unknown.`.trim());
  }
  if (settled.kind === 'threw') return errorResult(stopped ?? `\`${name}\` failed: ${messageOf(settled.error)}`);
  const { outcome } = settled;
  if (stopped === undefined || outcome.kind === 'ok') return outcome;
  return { ...outcome, message: `${stopped}\n${outcome.message}`.trim() };
}

function inWords(milliseconds: number): string {
  return milliseconds < 1_000 ? `${milliseconds} ms` : `${Math.round(milliseconds / 100) / 10} s`;
}
