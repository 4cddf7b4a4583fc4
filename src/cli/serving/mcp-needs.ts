/** What `troupe mcp` and `troupe serve` give to the MCP server, from an open project. */
import { Console } from 'node:console';
import { DEFAULT_CLIENT } from '../../assistants/port.ts';
import { goOnWithLeft, type LeftRunNeeds } from '../../front/queue/left-runs.ts';
import { isCallerName, isReservedName, reservedText } from '../../http/tokens.ts';
import type { Project } from '../../project/project.ts';
import { createAgentCatalogue } from '../../protocols/mcp/agents.ts';
import type { McpNeeds } from '../../protocols/mcp/needs.ts';
import { type CommandContext, usageError } from '../terminal/command.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { version } from '../terminal/version.ts';

export function mcpNeeds({ clock, terminal }: CommandContext, project: Project): Omit<McpNeeds, 'stopping'> {
  const { assistants, ledger, redact } = project;
  const timeZone = terminal.env['TZ'] || Intl.DateTimeFormat().resolvedOptions().timeZone;
  const agents = createAgentCatalogue(project, clock, timeZone);
  return { assistants, ledger, redact, clock, version: version(), agents };
}

/** The name under which the owner of the project takes part in threads. */
export function ownerName(given: string | undefined): string {
  const name = given ?? DEFAULT_CLIENT;
  if (name !== DEFAULT_CLIENT && isReservedName(name)) throw usageError(reservedText(name), 'give another one: --as alice');
  if (isCallerName(name)) return name;
  throw usageError(`"${name}" cannot be the name of a caller`, 'use letters, digits, dots, dashes and underscores: --as alice');
}

/** Trouble with a single message or request goes to the log; the server goes on. */
export function logError({ terminal }: CommandContext, of = 'mcp'): (error: Error) => void {
  return (error) => terminal.progress.line(`${of}: ${safeLine(error.message)}`);
}

/** In the background, until `stopping`: resolves when nothing more is begun. */
export function goOnWithOthers(
  context: CommandContext,
  project: Project,
  stopping: AbortSignal,
  queues?: LeftRunNeeds['queues'],
): Promise<void> {
  return goOnWithLeft({ project, queues, clock: context.clock, stopping, onError: logError(context, 'left runs') });
}

/** Whatever a library prints goes to stderr: stdout is the protocol's, or the address that a program reads. */
export function keepStdoutClean(): void {
  globalThis.console = new Console(process.stderr);
}
