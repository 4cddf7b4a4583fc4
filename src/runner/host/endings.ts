/** Why a loop ends when its runner could not bring it to its end, and what to do. */
import { sentence } from '../../base/wording.ts';
import type { LoopResult } from '../../loop/port.ts';
import type { RunnerSettings } from './pool.ts';
import type { RunnerExit } from './process.ts';

export type LoopError = NonNullable<LoopResult['error']>;

export interface Crash {
  readonly attempts: number;
  readonly exit: RunnerExit;
  /** The end of what it printed. */
  readonly lastWords: string;
  /** Why it was ended or never began, if that is known. */
  readonly problem: string | undefined;
}

/** What Node prints before it gives up. */
const OUT_OF_MEMORY = /heap out of memory|Array buffer allocation failed/;
/** Addresses inside Node tell nobody anything. */
const NATIVE_FRAME = /^\s*\d+: 0x[0-9a-f]+|^-+ \w+ stack trace -+$/;
const SHOWN_LINES = 12;

export function crashed(crash: Crash, settings: RunnerSettings): LoopError {
  const { attempts, exit, lastWords } = crash;
  const how = crash.problem ?? (exit.signal === null ? `exit code ${exit.exitCode}` : `ended by ${exit.signal}`);
  const times = attempts === 1 ? 'once' : `${attempts} times`;
  const lines = lastWords.split('\n').filter((line) => line.trim() !== '' && !NATIVE_FRAME.test(line));
  const words = lines.slice(-SHOWN_LINES).join('\n');
  const printed = words === '' ? '' : `\nIt last printed:\n${words}`;
  const message = `The runner of this agent died ${times}, the last time: ${how}.${printed}`;
  if (OUT_OF_MEMORY.test(lastWords))
    return {
      code: 'runner_crashed',
      message,
      fix: `Raise assistants.memory in troupe.yaml (now ${settings.memoryMiB} MiB), or give the agent less at once.`,
    };
  return {
    code: 'runner_crashed',
    message,
    fix: 'Start the run again. If it happens again, `isolation: inline` in the agent file runs it without a process of its own.',
  };
}

export function tooOld(lifetimeMs: number): LoopError {
  return {
    code: 'runner_too_old',
    message: `The agent was still in its runner after ${Math.round(lifetimeMs / 1_000)} s and was ended.`,
    fix: 'Raise assistants.lifetime in troupe.yaml, or give the agent a smaller task.',
  };
}

export function tooLong(problem: string): LoopError {
  return {
    code: 'runner_line_too_long',
    message: `The agent could not go on in its runner: ${sentence(problem)}`,
    fix: 'Give the agent less at once, or run it with `isolation: inline` in the agent file.',
  };
}
