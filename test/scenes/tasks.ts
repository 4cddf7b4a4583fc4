/** A small repository and an architect with two tasks for it, as several scenes have them. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { TestProject } from '../e2e/support-project.ts';
import type { Reply, SeenRequest } from '../support/models/script.ts';

const LEAD = (parallel: number): string => `---
name: lead
architect: { executor: hand, parallel: ${parallel}, limits: { maxCliCalls: 4, maxDuration: 5m } }
---
You are lead.
`;
/** One task after the other, so that everything that is recorded has one order. */
export const IN_TURN = LEAD(1);
const HAND = `---
name: hand
tools: [write]
permissions: { shell: allow }
---
You are hand.
`;

/** With a commit of its own, which nothing of this machine is in. */
export async function writeRepository(project: TestProject, lead = LEAD(2)): Promise<void> {
  await project.write('troupe.yaml', 'workspace: work\n');
  await project.write('agents/lead.md', lead);
  await project.write('agents/hand.md', HAND);
  await project.write('work/README.md', '# Greeter\n');
  await project.write('work/greet.js', "exports.greet = (name) => 'Hello, ' + name;\n");
  const env = { PATH: process.env['PATH'] ?? '', HOME: project.folder, GIT_CONFIG_NOSYSTEM: '1' };
  const date = '2026-01-14T09:00:00Z';
  const git = (...parameters: readonly string[]): void =>
    void execFileSync('git', ['-c', 'user.name=ann', '-c', 'user.email=ann@example.org', ...parameters], {
      cwd: join(project.folder, 'work'),
      env: { ...env, GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date },
    });
  git('init', '-q', '-b', 'main');
  git('add', '-A');
  git('commit', '-qm', 'A greeter');
}

const usage = { input: 1_200, output: 80 };

const task = (goal: string, file: string, command: string) => ({
  ...{ goal, include_paths: [file], exclude_paths: [], acceptance: [`\`${command}\` passes`] },
  constraints: { max_cli_calls: 2, max_duration_seconds: 60, no_touch: ['README.md'] },
});

export const TASKS = [
  task('Add a command that greets whoever is named', 'bin/', 'test -s bin/greet.js'),
  task('Say in the documentation how it is called', 'docs/', 'test -s docs/usage.md'),
];
const FILES = ['bin/greet.js', 'docs/usage.md'];
const CONTENTS = [
  "const { greet } = require('../greet.js');\nconsole.log(greet(process.argv[2] ?? 'you'));\n",
  '# Usage\n\n`node bin/greet.js Ann` greets Ann.\n',
];

/** What its models say; `held` is waited for before a hand begins. */
export function leadAndHands(held: Promise<void> = Promise.resolve()): (request: SeenRequest) => Promise<Reply> {
  let judged = 0;
  return async ({ body, toolResults }) => {
    const said = JSON.stringify(body);
    if (said.includes('You are hand')) {
      const which = said.includes('documentation') ? 1 : 0;
      if (toolResults > 0) return { usage, text: 'I have written it.' };
      await held;
      return { usage, calls: [{ name: 'write', input: { path: FILES[which] ?? '', content: CONTENTS[which] ?? '' } }] };
    }
    if (!said.includes('## RESULT OF')) return { usage, calls: [{ name: 'delegate', input: { tasks: TASKS } }] };
    const results = new Set(said.match(/## RESULT OF task-\w+/g)).size;
    if (results === judged) return { usage, text: 'There is a command that greets, and a page that says how it is called.' };
    judged = results;
    const all = { task_id: '*', verdict: 'accepted', why: 'It does what was asked for.' };
    return { usage, calls: [{ name: 'judge', input: { tasks: [all] } }] };
  };
}
