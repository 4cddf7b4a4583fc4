/** On a cluster: whether the folder that an agent works in is where the agent is. Files of a task come with it; others do not. */
import { FOLDER_TOOLS } from '../../agents/definition/tool-names.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { isToEnd } from '../hearing/go-on-or-end.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { Interruption } from '../interruption.ts';
import type { LedgerAccess, TaskAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';

type LooksForFolder = WorksInFolders & TaskAccess & HearsOutside & Pick<LedgerAccess, 'owner'>;

/**
 * Before anything is asked: it would be paid for calls that can only fail. What has begun elsewhere does not end because its
 * files are not there just now: it waits for somebody who has them.
 */
export async function noFolderHere(
  tree: LooksForFolder,
  node: DrivenRun,
  setup: AgentSetup,
  hasBegun: boolean,
): Promise<Failure | undefined> {
  const { places, owner } = tree;
  if (places?.travelling === undefined || !worksWithFiles(setup) || isToEnd(tree, node)) return undefined;
  const folder = tree.workspaceOf(node);
  if (await places.travelling.isHere(folder)) return undefined;
  const failure = {
    code: 'no_folder',
    message: `${node.started.agent} works in ${folder}, and there is no such folder where it was taken up (${owner}).`,
    fix:
      'Let every worker have that folder under the same path, hand the work out in tasks, whose files travel, ' +
      'or run it in one process: engine: embedded.',
  };
  if (hasBegun) throw new Interruption('interrupted', failure.message, failure);
  return failure;
}

function worksWithFiles({ definition, tools }: AgentSetup): boolean {
  return definition.executor !== undefined || tools.some(({ name }) => FOLDER_TOOLS.includes(name));
}
