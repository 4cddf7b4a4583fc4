/** `troupe permissions`: every rule that holds here, with where it stands; and takes back what was remembered. */

import { rightsIn } from '../../agents/definition/tool-names.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import { counted } from '../../base/wording.ts';
import type { RememberedRule } from '../../permissions/remembered-rule.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import type { ProjectConfig } from '../../project/config.ts';
import { createRuleBook } from '../../project/rule-book.ts';
import { readAgentFiles, settingsOf } from '../agents/files.ts';
import { type CommandContext, type JsonOption, printJson, usageError } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';

interface ListedRule {
  readonly from: 'agent' | 'settings' | 'remembered';
  /** The agent that it is for; all without one. */
  readonly agent?: string | undefined;
  readonly tool: string;
  readonly pattern?: string | undefined;
  readonly permission: Permission;
  /** The file that it stands in. */
  readonly file: string;
}

export async function permissionsCommand(context: CommandContext, options: JsonOption): Promise<ExitCode> {
  const config = await settingsOf(context);
  const { agents } = await readAgentFiles(context);
  const book = createRuleBook(config.root, context.terminal.env);
  const remembered = book
    .rules()
    .map((rule) => ({ from: 'remembered', ...rule, permission: 'allow', file: book.folder }) as const);
  const rules: readonly ListedRule[] = [...ofSettings(config), ...agents.flatMap(ofAgent), ...remembered];
  if (options.json) printJson(context, 'permissions list', { rules });
  else if (rules.length === 0) context.terminal.progress.line('no rules: every tool goes by its default');
  else {
    const { out } = context.terminal;
    const cells = ({ from, agent, tool, pattern, permission, file }: ListedRule) =>
      [from === 'agent' ? (agent ?? '') : from, tool, pattern ?? '', permission, from === 'remembered' ? 'yours' : file].map(
        safeLine,
      );
    printTable(out, ['OF', 'TOOL', 'RULE', 'IS', 'FILE'], rules.map(cells));
  }
  return exitCodes.completed;
}

export interface RemoveRuleOptions extends JsonOption {
  readonly all?: boolean | undefined;
}

export async function removeRuleCommand(
  context: CommandContext,
  tool: string | undefined,
  pattern: string | undefined,
  options: RemoveRuleOptions,
): Promise<ExitCode> {
  const { root } = await settingsOf(context);
  const book = createRuleBook(root, context.terminal.env);
  if (tool === undefined && options.all !== true)
    throw usageError('Which rule?', 'name its tool and what of it, as `troupe permissions` shows them, or --all');
  const isMeant = (rule: RememberedRule): boolean => tool === undefined || (rule.tool === tool && rule.pattern === pattern);
  const meant = book.rules().filter(isMeant);
  if (meant.length === 0 && options.all !== true)
    throw usageError('No such rule is remembered', 'see what is: troupe permissions. Rules in files are changed there.');
  for (const rule of meant) await book.remove(rule);
  if (options.json) printJson(context, 'permissions remove', { removed: meant });
  else context.terminal.out.line(`removed ${counted(meant.length, 'rule')}`);
  return exitCodes.completed;
}

/** The project's, then the user's own: both hold. A name with a map behind it has no word of its own. */
function ofSettings({ named }: ProjectConfig): readonly ListedRule[] {
  return named.flatMap(({ name: tool, pattern, permission, place: { file } }): readonly ListedRule[] =>
    permission === undefined ? [] : [{ from: 'settings', tool, pattern, permission, file }],
  );
}

function ofAgent({ definition: { name: agent, permissions = {}, source: file } }: LoadedAgent): readonly ListedRule[] {
  return rightsIn(permissions).flatMap(({ name: tool, pattern, permission }): readonly ListedRule[] =>
    permission === undefined ? [] : [{ from: 'agent', agent, tool, pattern, permission, file }],
  );
}
