/** Commands of an agent's file are a stranger's text: they are run only as the agent's own shell would be. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import { stricter } from '../../permissions/rule-map.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { waitForAnswer } from '../hearing/waits.ts';
import type { LedgerAccess, TimeAndIds, ToolAccess } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { runModeOf, underMode } from '../record/run-mode.ts';
import type { Writes } from '../record/writes.ts';

const byFile = ({ name, source }: AgentDefinition): string =>
  `the file of ${name} (${source}) wants these commands run before it ends (verify)`;

const byTask = ({ name }: AgentDefinition): string =>
  `the task that ${name} worked on counts as done only if these commands pass (its acceptance); they are run now`;

const SHELL = { name: 'shell', replay: 'never' } as const;

/** `undefined` when they may be run, else why not. Asked once in a run, whatever happens in between. */
export async function permittedCommands(
  tree: TimeAndIds & LedgerAccess & ToolAccess & Writes & HearsOutside,
  node: DrivenRun,
  definition: AgentDefinition,
  commands: readonly string[],
): Promise<string | undefined> {
  const mode = runModeOf(node);
  const permission = commands
    .map((command) => tree.permission(definition, SHELL, { input: { command }, remembered: tree.outside.remembered() }))
    .map((said) => underMode(mode, SHELL, said))
    .reduce(stricter, 'allow');
  if (permission === 'allow') return undefined;
  if (permission === 'deny') return 'not run: this agent may not use the shell (permissions)';
  const answer = await waitForAnswer(tree, node, 'verify/approval', {
    kind: 'permission',
    payload: {
      tool: 'shell',
      input: { verify: [...commands] },
      why: taskTermsOf(node.started)?.verify === undefined ? byFile(definition) : byTask(definition),
    },
  });
  return answer.kind === 'approved' ? undefined : 'not run: the user said no';
}
