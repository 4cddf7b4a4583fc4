/**
 * Whether an agent may use a tool: `allow`, `ask` (the user approves each call) or `deny`. Within one map the most exact
 * name decides; between the agent's map and the project's the stricter answer wins; where neither speaks, the default holds.
 */

import type { OrdinaryTool, Permission } from './port.ts';
import type { ProtectedKind } from './protected-names.ts';

export type Permissions = Readonly<Record<string, Permission>>;
/** What decides about a tool. */
export type PermissionSubject = Pick<OrdinaryTool, 'name' | 'replay' | 'readOnly' | 'origin'>;

const STRICTNESS: Readonly<Record<Permission, number>> = { allow: 0, ask: 1, deny: 2 };

/** `write` and `edit` are allowed because they cannot leave the workspace. */
const DEFAULTS: ReadonlyMap<string, Permission> = new Map([
  ['read', 'allow'],
  ['list', 'allow'],
  ['search', 'allow'],
  ['plan', 'allow'],
  ['ask', 'allow'],
  ['fetch', 'allow'],
  ['write', 'allow'],
  ['edit', 'allow'],
  ['shell', 'ask'],
]);

export const stricter = (left: Permission, right: Permission): Permission =>
  STRICTNESS[left] >= STRICTNESS[right] ? left : right;

export function decide(tool: PermissionSubject, agent: Permissions = {}, project: Permissions = {}): Permission {
  const answers = [lookUp(agent, tool), lookUp(project, tool)].filter((answer) => answer !== undefined);
  if (answers.length === 0) return defaultPermission(tool);
  return answers.reduce(stricter);
}

/**
 * Built-ins by name. An MCP tool is allowed when it only reads: being safe to repeat is not enough, deleting twice is that
 * too. Anything else goes by whether it may be repeated.
 */
export function defaultPermission({ name, replay, readOnly, origin }: PermissionSubject): Permission {
  if (origin !== undefined) return readOnly === true ? 'allow' : 'ask';
  return DEFAULTS.get(name) ?? (replay === 'safe' ? 'allow' : 'ask');
}

function lookUp(permissions: Permissions, tool: PermissionSubject): Permission | undefined {
  for (const name of namesOf(tool)) if (Object.hasOwn(permissions, name)) return permissions[name];
  return undefined;
}

/** Every way to name a tool, the most exact first. */
function namesOf({ name, origin }: PermissionSubject): readonly string[] {
  if (origin === undefined) return [name, '*'];
  const server = `mcp:${origin.server}`;
  return [`${server}/${origin.tool}`, name, `${server}/*`, server, '*'];
}

/**
 * Whether an agent may change what is protected. Both must say so by name, the owner's settings and the agent's own file: a file
 * cannot give itself the right, and one agent that needs it does not open the door for all.
 */
export function decideProtected(protection: ProtectedKind, agent: Permissions = {}, project: Permissions = {}): Permission {
  const answers = [agent, project].map((one) => one[`protected:${protection}`] ?? one['protected'] ?? 'deny');
  return answers.reduce(stricter);
}
