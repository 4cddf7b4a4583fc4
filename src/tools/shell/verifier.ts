/**
 * Runs a command that somebody demands as proof. It is the runtime's own run, in a shell that knows nothing of the agent: no
 * start-up files, functions or variables of its making, every failure in the line counts, and nothing can be asked.
 */

import { existsSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { parseCommandLine } from '../../permissions/shell-syntax.ts';
import type { Sandbox } from '../../sandbox/port.ts';
import { tailOf } from '../bounded.ts';
import type { ProtectedPlaces } from '../closed/guard.ts';
import { workspaceRoot } from '../files/workspace.ts';
import type { Evidence, ToolContext } from '../port.ts';
import { runShellCommand } from './command.ts';
import { commandEvidence } from './command-evidence.ts';
import { minimalEnvironment } from './environment.ts';
import { emptyPythonCache } from './python-cache.ts';
import { looksLikeTestRun } from './test-commands.ts';
import { isLoop, STRICT, uselessDemand } from './useless-demand.ts';
import { insideOf } from './walls.ts';

export interface Verified {
  readonly evidence: readonly Evidence[];
  /** Why it does not hold; absent when it does. */
  readonly failure?: string | undefined;
  /** The end of what it printed, redacted before it was cut. */
  readonly output: string;
}

export interface Verifier {
  /** The failure says why it could not be run at all. */
  run(
    command: string,
    at: Pick<ToolContext, 'workspace' | 'signal' | 'redact'> & { readonly timeoutMs: number },
  ): Promise<Result<Verified, string>>;
}

export interface VerifierOptions {
  readonly clock: Clock;
  readonly environment: Environment;
  /** Where a bash may be; the first that is there is used. */
  readonly shells?: readonly string[] | undefined;
  /** What they run in; without it in nothing. */
  readonly sandbox?: Sandbox | undefined;
  readonly places?: ProtectedPlaces | undefined;
}

const BASH = ['/bin/bash', '/usr/bin/bash', '/usr/local/bin/bash', '/opt/homebrew/bin/bash'];
const SHOWN_BYTES = 4_096;

export function createVerifier({ clock, environment, shells = BASH, sandbox, places }: VerifierOptions): Verifier {
  return {
    async run(command, { workspace, signal, redact, timeoutMs }) {
      const root = await workspaceRoot(workspace);
      if (!root.ok) return root;
      const bash = shells.find((path) => existsSync(path));
      if (bash === undefined && hasPipe(command))
        return fail('there is no bash here, and in a plain shell a pipe would hide an exit code');
      using cache = emptyPythonCache();
      const own = { ...minimalEnvironment(environment), ...cache.variables };
      const ran = await runShellCommand({
        shell: bash ?? '/bin/sh',
        shellFlags: bash === undefined ? ['-eu'] : ['--noprofile', '--norc', '-euo', 'pipefail'],
        ...{ command, folder: root.value, environment: own, timeoutMs, signal, clock },
        inside: insideOf(sandbox, root.value, places),
      });
      if (!ran.ok) return ran;
      const streams = { stdout: redact(ran.value.stdout.text()), stderr: redact(ran.value.stderr.text()) };
      const { evidence } = await commandEvidence(command, root.value, ran.value, streams, own, STRICT);
      const output = tailOf([streams.stdout, streams.stderr].filter((text) => text !== '').join('\n'), SHOWN_BYTES);
      return ok({ evidence, output, failure: failureIn(evidence, timeoutMs) });
    },
  };
}

function hasPipe(command: string): boolean {
  const parsed = parseCommandLine(command);
  if (!parsed.ok) return command.includes('|');
  return parsed.value.some(({ first, rest }) =>
    [first, ...rest.map((one) => one.pipeline)].some((one) => one.commands.length > 1),
  );
}

/** Whether it holds, as the evidence has it: the same words for a run of now and one that was recorded. */
export function failureIn(evidence: readonly Pick<Evidence, 'type' | 'payload'>[], timeoutMs: number): string | undefined {
  for (const { type, payload } of evidence as readonly Evidence[]) {
    if (type === 'cli.run') {
      if (payload.stopped === 'timeout') return `it was stopped after ${Math.round(timeoutMs / 1_000)} s (verify.timeout)`;
      if (payload.stopped !== undefined) return 'it was stopped before it ended';
      if (payload.exitCode !== 0) return `it ended with ${payload.exitCode ?? payload.signal ?? 'a signal'}`;
    }
    if (type === 'test.report' && payload.early !== undefined) return payload.early;
    if (type === 'test.report' && payload.tests === 0 && looksLikeTestRun(payload.command)) return 'no test passed in it';
    if (type === 'test.report' && !payload.passed && payload.why !== undefined && !isLoop(payload.command))
      return `it does not show that the tests passed: ${payload.why}`;
  }
  const ran = (evidence as readonly Evidence[]).find((one) => one.type === 'cli.run');
  const useless = ran === undefined ? undefined : uselessDemand(ran.payload.command);
  return useless === undefined ? undefined : `it proves nothing: ${useless}`;
}
