/** `troupe init`: a first agent, the settings, and state kept out of git. Never overwrites anything. */
import { appendFile, mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { codeOf, TroupeError } from '../../base/errors.ts';
import { CONFIG_FILE } from '../../project/config.ts';
import { type CommandContext, type JsonOption, printJson } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';

const AGENT = `---
name: hello
description: Answers questions about the files in this folder.
tools: [read, list, search]
maxTurns: 8
---
You are a helpful colleague. You can read the files of this folder.

Look before you answer: list the files, read what matters, and say which files your answer rests on.
Answer in a few plain sentences.
`;

const SETTINGS = `# Settings of this project. Every key is optional; docs/cli.md lists them.

# The model for agents that name none, or a list to try in order. Without it: a key in the environment, then Ollama.
# model: anthropic/claude-sonnet-5

# No run of this project may spend more than this, all runs together.
# budget: { usd: 5 }
`;

const IGNORED = '.troupe/';

interface Written {
  readonly path: string;
  readonly done: 'written' | 'kept';
}

export async function initCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const { cwd, terminal } = context;
  const files = [
    await writeNew(cwd, 'agents/hello.md', AGENT),
    await writeNew(cwd, CONFIG_FILE, SETTINGS),
    await ignoreState(join(cwd, '.gitignore')),
  ];
  const next = 'troupe run agents/hello.md "What is in this folder?"';
  if (options.json) printJson(context, { folder: cwd, files, next });
  else {
    for (const { path, done } of files) terminal.out.line(`${done === 'written' ? 'wrote' : 'kept '}  ${path}`);
    terminal.out.line(`next   ${next}`);
  }
  return exitCodes.completed;
}

async function writeNew(folder: string, name: string, text: string): Promise<Written> {
  const path = join(folder, name);
  try {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, text, { flag: 'wx' });
    return { path: name, done: 'written' };
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return { path: name, done: 'kept' };
    throw new TroupeError('io', `${name} cannot be written`, { fix: 'check the permissions of the folder', cause: error });
  }
}

async function ignoreState(path: string): Promise<Written> {
  const text = await readFile(path, 'utf8').catch(() => '');
  const there = text.split('\n').some((line) => ['.troupe', IGNORED, `/${IGNORED}`].includes(line.trim()));
  if (there) return { path: '.gitignore', done: 'kept' };
  await appendFile(path, `${text === '' || text.endsWith('\n') ? '' : '\n'}${IGNORED}\n`);
  return { path: '.gitignore', done: 'written' };
}
