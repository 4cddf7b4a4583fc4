/** Every rule that decides what agents may do here, with where it stands; and taking back what was remembered. */
import { rightsIn } from '../../agents/definition/tool-names.ts';
import type { LoadedAgent } from '../../agents/file/load.ts';
import type { SessionId } from '../../base/ids.ts';
import type { RememberedRule } from '../../permissions/remembered-rule.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import type { ProjectConfig } from '../../project/config.ts';
import type { RuleBook } from '../../project/rule-book.ts';
import type { SessionRule } from './session-rules.ts';

interface Ruled extends RememberedRule {
  readonly permission: Permission;
}

/** With the file that it stands in, or the session that it is remembered for. */
export type ListedRule =
  | (Ruled & { readonly from: 'agent'; readonly agent: string; readonly file: string })
  | (Ruled & { readonly from: 'settings' | 'remembered'; readonly file: string })
  | (Ruled & { readonly from: 'session'; readonly session: SessionId });

export interface RuleSources {
  readonly config: ProjectConfig;
  readonly agents: readonly LoadedAgent[];
  readonly book: RuleBook;
  readonly sessions: readonly SessionRule[];
}

export function listRules({ config, agents, book, sessions }: RuleSources): readonly ListedRule[] {
  const remembered = book
    .rules()
    .map((rule) => ({ from: 'remembered', ...rule, permission: 'allow', file: book.folder }) as const);
  const inSessions = sessions.map((rule) => ({ from: 'session', ...rule, permission: 'allow' }) as const);
  return [...ofSettings(config), ...agents.flatMap(ofAgent), ...remembered, ...inSessions];
}

/** Of what is remembered for the whole project this rule, or all without one. */
export async function forgetInProject(book: RuleBook, rule: RememberedRule | undefined): Promise<readonly RememberedRule[]> {
  const rules = book.rules().filter((one) => rule === undefined || (one.tool === rule.tool && one.pattern === rule.pattern));
  for (const one of rules) await book.remove(one);
  return rules;
}

/** The project's, then the user's own: both hold. A name with a map behind it has no word of its own. */
function ofSettings({ named }: ProjectConfig): readonly ListedRule[] {
  return named.flatMap(({ name: tool, pattern, permission, place: { file } }): readonly ListedRule[] =>
    permission === undefined ? [] : [{ from: 'settings', tool, pattern, permission, file }],
  );
}

function ofAgent({ definition, ruleFile }: LoadedAgent): readonly ListedRule[] {
  const { name: agent, permissions = {}, source } = definition;
  return rightsIn(permissions).flatMap((right): readonly ListedRule[] => {
    const { name: tool, pattern, permission } = right;
    if (permission === undefined) return [];
    return [{ from: 'agent', agent, tool, pattern, permission, file: ruleFile?.(right) ?? source }];
  });
}
