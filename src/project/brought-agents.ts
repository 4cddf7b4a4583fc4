/**
 * The agents of a program are checked where its tools are known, before anything is opened: a right that stands for nothing may
 * have been meant as a ban.
 */
import type { AgentDefinition } from '../agents/definition/definition.ts';
import { checkToolNames } from '../agents/definition/tool-names.ts';
import { TroupeError } from '../base/errors.ts';
import type { Tool } from '../tools/port.ts';
import { type ProjectConfig, serverNames } from './config.ts';

interface Brought {
  readonly agents?: readonly AgentDefinition[] | undefined;
  readonly tools?: readonly Tool[] | undefined;
}

export function requireRights({ agents = [], tools = [] }: Brought, config: Pick<ProjectConfig, 'mcp' | 'foreign'>): void {
  const known = { servers: serverNames(config), brought: tools.map(({ name }) => name) };
  const problems = agents.flatMap((agent) => {
    // What it may call is looked at when it runs.
    const rights = { ...agent, tools: [] };
    const place = { file: agent.source, line: 1, column: 1 };
    return checkToolNames(rights, () => place, known).map(({ message, fix }) =>
      [`The agent ${agent.name}: ${message} under "permissions".`, fix].filter(Boolean).join(' '),
    );
  });
  if (problems.length === 0) return;
  throw new TroupeError('invalid_agent', problems.join('\n'), { fix: 'Correct what was given to defineAgent.' });
}
