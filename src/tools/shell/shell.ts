/**
 * `shell`: a command line in the workspace. The exit code is part of the answer; the evidence (what ran, what it printed,
 * whether tests passed) is what the runtime saw, not what anybody says about it.
 */

import { z } from 'zod';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import { boundResult, groupDigits } from '../bounded.ts';
import type { Guard, ProtectedPlaces } from '../closed/guard.ts';
import { defineBuiltIn } from '../define-built-in.ts';
import { workspaceRoot } from '../files/workspace.ts';
import { errorResult, type OrdinaryTool, type ToolContext, type ToolOutcome } from '../port.ts';
import type { Capture } from './capture.ts';
import { type CommandOutcome, runShellCommand } from './command.ts';
import { commandEvidence } from './command-evidence.ts';
import { minimalEnvironment } from './environment.ts';
import { emptyPythonCache } from './python-cache.ts';
import { looksLikeTestRun } from './test-commands.ts';
import { insideOf } from './walls.ts';

export interface ShellOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  /** Names of variables to pass on beside the basics. */
  readonly allowedVariables?: readonly string[] | undefined;
  readonly shell?: string | undefined;
  readonly guard: Guard;
  /** What commands run in; without it in nothing. */
  readonly sandbox?: Sandbox | undefined;
  readonly places?: ProtectedPlaces | undefined;
}

const input = z.strictObject({
  command: z.string().min(1).max(100_000).describe('The command line, run by /bin/sh in the workspace.'),
  timeoutSeconds: z.number().int().min(1).max(86_400).optional().describe('Stop the command after this many seconds.'),
});

export function shellTool(options: ShellOptions): OrdinaryTool {
  return defineBuiltIn({
    name: 'shell',
    description:
      'Runs a shell command in the workspace and returns its output and exit code. It cannot read input, and anything it leaves ' +
      'running in the background is stopped when it ends. To prove that something passes, run it by itself: a pipe, `;` or `||` ' +
      'behind it hides its exit code.',
    input,
    replay: 'never',
    run: async ({ command, timeoutSeconds }, { workspace, signal, processes, redact }) => {
      const root = await workspaceRoot(workspace);
      if (!root.ok) return errorResult(root.error);
      using cache = looksLikeTestRun(command) ? emptyPythonCache() : undefined;
      const environment = { ...minimalEnvironment(options.environment, options.allowedVariables), ...cache?.variables };
      const touched = await options.guard.watch();
      const ran = await runShellCommand({
        shell: options.shell ?? '/bin/sh',
        command,
        folder: root.value,
        environment,
        timeoutMs: timeoutSeconds === undefined ? undefined : timeoutSeconds * 1_000,
        signal,
        clock: options.clock,
        processes,
        inside: insideOf(options.sandbox, root.value, options.places),
      });
      if (!ran.ok) return errorResult(ran.error);
      const outcome = await outcomeOf(command, root.value, ran.value, timeoutSeconds, environment, redact);
      const { refused, survivors } = ran.value;
      const noted = withNote(
        withRefused(outcome, refused.map(redact)),
        'It left running, and that was ended',
        survivors.map(redact),
      );
      return withTouched(noted, await touched());
    },
  });
}

async function outcomeOf(
  command: string,
  cwd: string,
  ran: CommandOutcome,
  timeoutSeconds: number | undefined,
  environment: Environment,
  redact: ToolContext['redact'],
): Promise<ToolOutcome> {
  const { stdout, stderr, exitCode, stopped } = ran;
  const streams = { stdout: redact(stdout.text()), stderr: redact(stderr.text()) };
  const { evidence, hidden } = await commandEvidence(command, cwd, ran, streams, environment);
  const ending = endingOf(ran, timeoutSeconds);
  const text = [section('', stdout, streams.stdout), section('stderr:\n', stderr, streams.stderr), ending, hidden]
    .filter((part) => part !== '')
    .join('\n');
  if (stopped !== undefined || exitCode !== 0) return { kind: 'error', message: text, evidence };
  return { kind: 'ok', content: [{ type: 'text', text }], evidence };
}

function endingOf({ exitCode, signal, stopped }: CommandOutcome, timeoutSeconds: number | undefined): string {
  if (stopped === 'timeout') return `(stopped after ${timeoutSeconds} s)`;
  if (stopped === 'cancelled') return '(stopped before it ended)';
  return exitCode === null ? `(ended by ${signal})` : `(exit code ${exitCode})`;
}

/** A model that does not know of the walls would look for another cause. */
function withRefused(outcome: ToolOutcome, refused: readonly string[]): ToolOutcome {
  const open = 'The owner can open more: `sandbox` in troupe.yaml.';
  return withNote(outcome, 'The sandbox refused', refused.length === 0 ? [] : [...refused, open]);
}

function withNote(outcome: ToolOutcome, what: string, lines: readonly string[]): ToolOutcome {
  if (lines.length === 0) return outcome;
  const note = `(${what}:\n${lines.join('\n')})`;
  if (outcome.kind === 'error') return { ...outcome, message: `${outcome.message}\n${note}` };
  return { ...outcome, content: [...outcome.content, { type: 'text', text: note }] };
}

const TOUCHED_SHOWN = 20;

/** A command can write what the other tools may not. It cannot be kept from it, but it does not go unseen. */
function withTouched(outcome: ToolOutcome, touched: readonly string[]): ToolOutcome {
  if (touched.length === 0) return outcome;
  const shown = touched.slice(0, TOUCHED_SHOWN);
  const more = touched.length > shown.length ? ` and ${counted(touched.length - shown.length, 'more file')}` : '';
  const which = `${shown.join(', ')}${more}`;
  const note = `(While this ran, files changed that are closed to agents: ${which}. It is on record for the owner.)`;
  const evidence = (outcome.evidence ?? []).map((one) =>
    one.type === 'cli.run' ? { ...one, payload: { ...one.payload, protected: shown } } : one,
  );
  return outcome.kind === 'ok'
    ? { ...outcome, content: [...outcome.content, { type: 'text', text: note }], evidence }
    : { ...outcome, message: `${outcome.message}\n${note}`, evidence };
}

function section(title: string, capture: Capture, text: string): string {
  if (capture.total() === 0) return '';
  return title + boundResult(text, limits.shellTextBytes, `of ${groupDigits(capture.total())}`).text.trimEnd();
}
