/**
 * Takes what we were started with out of the sight of other processes. Keys and tokens come in variables, and on Linux every
 * process of the same user can read the block they came in, `/proc/<pid>/environ`, for as long as we live: so could every
 * command that an agent runs. Deleting a variable does not change that block.
 *
 * The variables are set anew, which puts them into memory of our own, and the block is overwritten where it lies; so is what
 * follows `--token` on the command line. We stay the same process: signals, the terminal and whoever waits for us see nothing of
 * it. What every command may know anyway stays readable.
 *
 * This is no wall against a process that may read our memory (`ptrace`); nor does it reach whoever started us.
 */
import { closeSync, openSync, readFileSync, readSync, writeSync } from 'node:fs';

type Environment = Record<string, string | undefined>;

/** Nothing of value, and some of it is read by libraries that keep where it lies. */
const STAYS = /^(PATH|HOME|LANG|LC_\w+|TMPDIR|USER|LOGNAME|SHELL|TZ|TERM|PWD|LD_LIBRARY_PATH)$/;
const SECRET_OPTION = '--token';
/** Where `/proc/self/stat` says that the command line and the environment lie, counted from its third field. */
const ARGUMENTS_FIELD = 48 - 3;
const ENVIRONMENT_FIELD = 50 - 3;

/** Does nothing where there is no such block, or where the system does not let us. */
export function concealEnvironment(environment: Environment): void {
  try {
    const fields = statFields();
    const memory = openSync('/proc/self/mem', 'r+');
    try {
      overwrite(memory, fields, ENVIRONMENT_FIELD, (block) => withoutVariables(block, environment));
      overwrite(memory, fields, ARGUMENTS_FIELD, withoutToken);
    } finally {
      closeSync(memory);
    }
  } catch {
    // Not Linux, or closed to us: `exposedVariables` tells whoever has to know.
  }
}

/** The names of variables that others can still read in our block. */
export function exposedVariables(): readonly string[] {
  try {
    const entries = readFileSync('/proc/self/environ', 'latin1').split('\0');
    return entries.map(nameOf).filter((name) => name !== '' && !STAYS.test(name));
  } catch {
    return [];
  }
}

function statFields(): readonly number[] {
  const text = readFileSync('/proc/self/stat', 'latin1');
  // The name of the program is in brackets and may hold anything, brackets too.
  return text
    .slice(text.lastIndexOf(')') + 2)
    .split(' ')
    .map(Number);
}

function overwrite(memory: number, fields: readonly number[], field: number, change: (block: Buffer) => void): void {
  const [start = 0, end = 0] = fields.slice(field, field + 2);
  if (!(start > 0 && end > start)) return;
  const block = Buffer.alloc(end - start);
  if (readSync(memory, block, 0, block.length, start) !== block.length) return;
  change(block);
  writeSync(memory, block, 0, block.length, start);
}

function withoutVariables(block: Buffer, environment: Environment): void {
  for (const { start, end } of entriesOf(block)) {
    const name = nameOf(block.toString('utf8', start, end));
    if (STAYS.test(name)) continue;
    // Set anew it lies elsewhere: from here on nobody reads the block but strangers.
    const value = environment[name];
    if (value !== undefined) environment[name] = value;
    block.fill(0, start, end);
  }
}

function withoutToken(block: Buffer): void {
  let isNext = false;
  for (const { start, end } of entriesOf(block)) {
    const word = block.toString('utf8', start, end);
    if (isNext) block.fill('*', start, end);
    else if (word.startsWith(`${SECRET_OPTION}=`)) block.fill('*', start + SECRET_OPTION.length + 1, end);
    isNext = word === SECRET_OPTION;
  }
}

/** Texts that each end with a zero byte. */
function* entriesOf(block: Buffer): Generator<{ readonly start: number; readonly end: number }> {
  for (let start = 0; start < block.length; ) {
    const zero = block.indexOf(0, start);
    const end = zero === -1 ? block.length : zero;
    if (end > start) yield { start, end };
    start = end + 1;
  }
}

function nameOf(entry: string): string {
  return entry.slice(0, Math.max(0, entry.indexOf('=')));
}
