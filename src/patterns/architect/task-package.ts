/** The task package: what an executor is handed, in one form and in one order, as YAML. */
import { createHash } from 'node:crypto';

export interface TaskPackage {
  readonly session_id: string;
  readonly task_id: string;
  readonly context_ref: string;
  readonly instruction: {
    readonly goal: string;
    readonly scope: { readonly include_paths: readonly string[]; readonly exclude_paths: readonly string[] };
    readonly acceptance: readonly string[];
    readonly constraints: {
      readonly max_cli_calls: number;
      readonly max_duration_seconds: number;
      readonly no_touch: readonly string[];
    };
  };
  readonly runtime: {
    readonly cwd: string;
    readonly tool_mode: 'full' | 'read-only';
    readonly environment_fingerprint: string;
  };
}

export function packageYaml(given: TaskPackage): string {
  const { instruction, runtime } = given;
  const { scope, constraints } = instruction;
  return [
    `session_id: ${plain(given.session_id)}`,
    `task_id: ${plain(given.task_id)}`,
    `context_ref: ${plain(given.context_ref)}`,
    'instruction:',
    `  goal: ${JSON.stringify(instruction.goal)}`,
    '  scope:',
    ...list('    include_paths', scope.include_paths, plain),
    ...list('    exclude_paths', scope.exclude_paths, plain),
    ...list('  acceptance', instruction.acceptance, (line) => JSON.stringify(line)),
    '  constraints:',
    `    max_cli_calls: ${constraints.max_cli_calls}`,
    `    max_duration_seconds: ${constraints.max_duration_seconds}`,
    ...list('    no_touch', constraints.no_touch, plain),
    'runtime:',
    `  cwd: ${plain(runtime.cwd)}`,
    `  tool_mode: ${runtime.tool_mode}`,
    `  environment_fingerprint: ${plain(runtime.environment_fingerprint)}`,
    '',
  ].join('\n');
}

function list(key: string, items: readonly string[], shown: (item: string) => string): string[] {
  const indent = ' '.repeat(key.length - key.trimStart().length + 2);
  return items.length === 0 ? [`${key}: []`] : [`${key}:`, ...items.map((item) => `${indent}- ${shown(item)}`)];
}

/** Without quotes where YAML reads the same without them. */
const PLAIN = /^(?:[A-Za-z_./]|~\/)[\w./@+~-]*(?::\/\/[\w./@+~-]+)?$/;
/** Words that would not be read as text. */
const TAKEN = /^(?:true|false|yes|no|on|off|null|y|n|~|\.inf|\.nan|\.+\d*)$/i;

const plain = (text: string): string => (PLAIN.test(text) && !TAKEN.test(text) ? text : JSON.stringify(text));

const digest = (text: string): string => createHash('sha256').update(text).digest('hex');

/** The same for ever: it follows from the run and the step. */
export const taskId = (run: string, key: string): string => `task-${digest(`${run} ${key}`).slice(0, 10)}`;

const REF_CHARACTERS = 12;

export const snapshotRef = (hash: string): string => `event://session/task.snapshot/${hash.slice(0, REF_CHARACTERS)}`;
