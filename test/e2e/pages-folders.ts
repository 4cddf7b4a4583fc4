/** The folders that the commands of the pages are run in, and what has happened there before. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { runProgram } from '../../src/cli/program/program.ts';
import { pages, repository } from '../support/pages.ts';
import { FOR_EVER_MS, PATIENCE_MS } from '../support/patience.ts';
import { testTerminal } from '../support/test-terminal.ts';
import { startProcess } from './support-project.ts';

export interface Folder {
  readonly cwd: string;
  /** Holds the folder, and is removed with it. */
  readonly home: string;
  readonly env: Record<string, string>;
  write(path: string, text: string): Promise<void>;
}

interface Content {
  readonly files?: Readonly<Record<string, string>>;
  prepare?(folder: Folder): void;
}

/** What the model says; of `hello` it may say the second part only after a while. */
const replies = (delayMs: number): string => `
agents:
  hello:
    - toolCalls: [{ name: list, input: {} }]
    - delayMs: ${delayMs}
      finalReport: Two agents, their settings and a log.
  cleaner:
    - toolCalls: [{ name: ask, input: { question: Which files may go?, choices: [logs, nothing] } }]
    - toolCalls: [{ name: shell, input: { command: rm -f *.log } }]
    - finalReport: Removed the logs.
  fixer:
    - toolCalls: [{ name: shell, input: { command: node --test } }]
    - finalReport: They pass.
  desk:
    - when: { contains: The workers have answered }
      text: The change is fine.
    - text: "@worker:coder\\nLook at the change.\\n@end"
  team-roster:
    - text: "@worker:Ripley\\nLook.\\n@end"
  pr-review-squad:
    - when: { contains: The workers have answered }
      text: Nothing to object to.
    - text: "@worker:Security\\nLook for holes.\\n@end"
replies: [{ text: Nothing found. }, { text: I have looked again. }, { text: Still nothing. }]
`;

const HELLO = '---\nname: hello\ntools: [read, list, search]\n---\nYou help.\n';

const CODER = '---\ndescription: Writes code.\n---\nYou write code.\n';
const FIXER = '---\ntools: [shell]\n---\nYou repair.\n';
const FIXER_WRITES = '---\ntools: [write, shell]\npermissions: { "*": allow }\n---\nYou repair.\n';
const MENDING = `
- toolCalls: [{ name: write, input: { path: sum.test.js, content: "require('node:test').test('adds', () => {});\\n" } }]
- toolCalls: [{ name: shell, input: { command: node --test } }]
- finalReport: They pass.
`;
const DESK = '---\ngroup: { mode: orchestrator, workers: [coder] }\n---\nYou lead.\n';
const TEAM =
  pages.find(({ path }) => path === 'docs/squad.md')?.blocks.find(({ language }) => language === 'markdown')?.text ?? '';

export const folders: Readonly<Record<string, Content>> = {
  checkout: {},
  /** After `troupe init`. */
  asking: { files: { 'replies.yaml': replies(0), 'agents/fixer.md': FIXER, 'troupe.yaml': '' } },
  /** With an agent that changes a file and runs the tests. */
  mending: { files: { 'replies.yaml': MENDING, 'agents/fixer.md': FIXER_WRITES, 'troupe.yaml': 'sandbox: off\n' } },
  /** With an agent that is a group. */
  desk: { files: { 'replies.yaml': replies(0), 'agents/desk.md': DESK, 'agents/coder.md': CODER, 'troupe.yaml': '' } },
  /** With the team that the page about teams shows. */
  household: { files: { 'replies.yaml': replies(0), '.squad/team.md': TEAM, 'troupe.yaml': '' } },
  /** With the sources of the checkout beside what is written there. */
  sources: {
    prepare({ cwd }) {
      mkdirSync(cwd);
      symlinkSync(join(repository, 'src'), join(cwd, 'src'));
    },
  },
  /** With a problem of each kind. */
  broken: {
    files: {
      'agents/reviewer.md': '---\ndescription: Reviews.\nmodle: x\n---\nYou review.\n',
      'agents/planner.md': '---\ndescription: Plans the work.\ntools: [read]\nmaxTurns: 5\nhandoff: wirter\n---\nYou plan.\n',
      'agents/writer.md': '---\ndescription: Writes.\n---\nYou write.\n',
      'agents/a.md': '---\nhandoff: b\n---\nYou are a.\n',
      'agents/b.md': '---\nrouter: { destinations: [a] }\n---\nYou are b.\n',
      'troupe.yaml': '',
    },
  },
  begun: { files: { 'replies.yaml': replies(0), 'agents/hello.md': HELLO, 'troupe.yaml': '' } },
  tour: {
    files: { 'replies.yaml': replies(0), 'notes.txt': 'one\n', 'app.log': '' },
    prepare({ cwd, env }) {
      const git = (...args: readonly string[]): void => void execFileSync('git', args, { cwd, env, stdio: 'ignore' });
      git('init');
      git('add', 'notes.txt');
      execFileSync('sh', ['-c', 'echo two >> notes.txt'], { cwd });
    },
  },
};

/** What has happened before a block, and what goes on beside it. */
export const situations: Readonly<Record<string, (folder: Folder) => Promise<{ readonly beside?: Promise<unknown> }>>> = {
  async 'after a run was killed'({ cwd, env, write }) {
    await write('replies.yaml', replies(FOR_EVER_MS));
    const running = startProcess(cwd, env, ['run', 'hello', 'What is here?'], {});
    await running.says('list done');
    running.kill('SIGKILL');
    await running.ended;
    await write('replies.yaml', replies(0));
    return {};
  },
  async 'while a run is at work'({ cwd, env, write }) {
    await write('replies.yaml', replies(FOR_EVER_MS));
    const terminal = testTerminal({ cwd, env });
    const beside = runProgram(['run', 'hello', 'What is here?'], terminal);
    await vi.waitFor(() => expect(terminal.written.all).toContain('list done'), { timeout: PATIENCE_MS });
    await write('replies.yaml', replies(0));
    return { beside };
  },
};
