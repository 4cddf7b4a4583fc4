/** What the runtime saw of one command: that it ran, how it ended, what that proves, and what it printed. */

import type { Environment } from '../../base/environment.ts';
import { present } from '../../base/present.ts';
import { exitMeaning } from '../../permissions/exit-code.ts';
import type { Evidence } from '../port.ts';
import type { Capture } from './capture.ts';
import type { CommandOutcome } from './command.ts';
import { endedEarly } from './ended-early.ts';
import { folderNamed } from './folder-named.ts';
import { type Proof, proofOf } from './proved-commands.ts';
import { looksLikeTestRun } from './test-commands.ts';
import { passedTests } from './test-output.ts';

const HEAD_CHARACTERS = 400;

export interface CommandEvidence {
  readonly evidence: readonly Evidence[];
  /** For whoever ran tests whose outcome cannot be seen: how to run them so that it can. Empty otherwise. */
  readonly hidden: string;
}

export async function commandEvidence(
  command: string,
  cwd: string,
  ran: CommandOutcome,
  streams: { readonly stdout: string; readonly stderr: string },
  /** What the command was given. */
  environment: Environment,
  /** What the shell was told before the line. */
  before = '',
): Promise<CommandEvidence> {
  const { exitCode, signal, stopped, sandbox } = ran;
  const isTest = looksLikeTestRun(command);
  const output = `${streams.stdout}\n${streams.stderr}`;
  const tests = isTest ? passedTests(output) : undefined;
  const ended = exitCode === 0 && stopped === undefined;
  const early = ended ? endedEarly(command, output, foldersOf(command, cwd)) : undefined;
  const proof = ended ? await proofOf(before + command, cwd, environment, { tests, early, output }) : undefined;
  const evidence: Evidence[] = [
    {
      type: 'cli.run',
      payload: {
        command,
        cwd,
        exitCode,
        signal,
        durationMs: Math.round(ran.durationMs),
        ...present({ stopped, sandbox }),
        ...(proof === undefined || proof.proves.length === 0 ? {} : { proves: proof.proves }),
        ...(proof === undefined || proof.unproved.length === 0 ? {} : { unproved: proof.unproved }),
      },
    },
    ...outputEvidence('cli.stdout', ran.stdout, streams.stdout),
    ...outputEvidence('cli.stderr', ran.stderr, streams.stderr),
  ];
  if (!isTest) return { evidence, hidden: '' };
  const why = stopped === undefined ? hiddenTests(proof) : 'it was stopped before it ended';
  const passed = ended && why === undefined;
  evidence.push({
    type: 'test.report',
    payload: {
      command,
      exitCode,
      passed,
      ...present({ tests, early, why: exitCode === 0 ? why : undefined }),
    },
  });
  if (!ended || why === undefined) return { evidence, hidden: '' };
  return { evidence, hidden: `(This does not show that the tests passed: ${why}. Run them by themselves to prove it.)` };
}

/** Where the commands of the line ran. */
function foldersOf(command: string, cwd: string): readonly string[] {
  const meaning = exitMeaning(command);
  return meaning.ok ? [cwd, ...meaning.value.proved.map(({ folder }) => folderNamed(cwd, folder))] : [cwd];
}

/** Why an exit code of 0 says nothing about the tests of the line. */
function hiddenTests(proof: Proof | undefined): string | undefined {
  if (proof === undefined || proof.proves.some(({ command }) => looksLikeTestRun(command))) return undefined;
  return proof.unproved.find(({ command }) => looksLikeTestRun(command))?.why ?? proof.unproved[0]?.why;
}

function outputEvidence(type: 'cli.stdout' | 'cli.stderr', capture: Capture, text: string): Evidence[] {
  if (capture.total() === 0) return [];
  const head = text.slice(0, HEAD_CHARACTERS).replace(/[\uD800-\uDBFF]$/, '');
  return [{ type, payload: { bytes: capture.total(), head }, ...(head.length < text.length ? { attachment: text } : {}) }];
}
