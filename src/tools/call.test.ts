import { describe, expect, it } from 'vitest';
import { unseen } from '../../test/support/tool-workspace.ts';
import type { RunId } from '../base/ids.ts';
import { createVirtualClock } from '../testing/virtual-clock.ts';
import { runTool } from './call.ts';
import { type OrdinaryTool, type ToolOutcome, textResult } from './port.ts';

const context = (signal: AbortSignal = new AbortController().signal) => ({
  workspace: '/',
  signal,
  run: 'run_test' as RunId,
  idempotencyKey: 'k',
  seen: unseen,
  redact: (text: string) => text,
});
const clock = createVirtualClock(0);
const options = { clock, timeoutMs: 5_000, graceMs: 30 };
/** The time limit is there when the call has begun; it rings, and then whatever is set next. */
async function late<Outcome>(running: Promise<Outcome>): Promise<Outcome> {
  while (clock.advance()) await new Promise((resolve) => setImmediate(resolve));
  return await running;
}
const tool = (run: OrdinaryTool['run'], more: Partial<OrdinaryTool> = {}): OrdinaryTool => ({
  name: 'probe',
  description: '',
  inputSchema: { type: 'object', properties: { n: { type: 'number' } }, additionalProperties: false },
  replay: 'safe',
  run,
  ...more,
});
const message = (outcome: ToolOutcome): string => (outcome.kind === 'error' ? outcome.message : '');

describe('runTool', () => {
  it('runs a tool with the input that fits its schema', async () => {
    expect(
      await runTool(
        tool(async () => textResult('fine')),
        { n: 1 },
        context(),
        options,
      ),
    ).toEqual(textResult('fine'));
  });

  it('refuses arguments that do not fit, without running', async () => {
    let ran = false;
    const outcome = await runTool(
      tool(async () => {
        ran = true;
        return textResult('');
      }),
      { n: 'one' },
      context(),
      options,
    );
    expect(message(outcome)).toContain('`n` must be a number');
    expect(ran).toBe(false);
  });

  it('turns an exception into an error result', async () => {
    const throwing = tool(() => {
      throw new Error('boom');
    });
    expect(message(await runTool(throwing, {}, context(), options))).toBe('`probe` failed: boom');
  });

  it('stops a tool that takes too long and says so', async () => {
    const patient = tool(
      (_input, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
      { timeoutMs: 20 },
    );
    expect(message(await late(runTool(patient, {}, context(), options)))).toBe(
      'The tool ran into its time limit of 20 ms (`toolTimeout`).',
    );
  });

  it('keeps what a stopped tool has to say', async () => {
    const partial = tool((_input, { signal }) => {
      return new Promise((resolve) => signal.addEventListener('abort', () => resolve({ kind: 'error', message: 'half done' })));
    });
    expect(message(await late(runTool(partial, {}, context(), { ...options, timeoutMs: 20 })))).toContain(
      'time limit of 20 ms (`toolTimeout`).\nhalf done',
    );
  });

  it('abandons a tool that does not listen', async () => {
    const deaf = tool(() => new Promise(() => {}), { timeoutMs: 10 });
    expect(message(await late(runTool(deaf, {}, context(), options)))).toContain('did not stop and was abandoned');
  });

  it('passes cancellation on, and does not start what is cancelled already', async () => {
    const cancel = new AbortController();
    const waiting = tool(
      (_input, { signal }) => new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
    );
    const running = runTool(waiting, {}, context(cancel.signal), options);
    cancel.abort();
    expect(message(await running)).toBe('The call was cancelled.');
    expect(message(await runTool(waiting, {}, context(cancel.signal), options))).toBe(
      'The call was cancelled before it started.',
    );
  });
});
