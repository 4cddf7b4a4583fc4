/**
 * How free a run is. It is recorded where the run starts and holds for everything below it, in whichever process that goes on:
 * nobody who takes a run up can forget it.
 */
import { modeSaid, type RunMode } from '../../events/run-origin.ts';
import type { Permission } from '../../permissions/rule-map.ts';
import type { DrivenRun } from './driven-run.ts';

/** What works in the workspace alone. */
const WORKSPACE_TOOLS: readonly string[] = ['write', 'edit', 'shell'];

interface Subject {
  /** Absent for a tool that does its work itself; a run of another agent is bound by the same mode. */
  readonly kind?: string | undefined;
  readonly name: string;
  readonly readOnly?: boolean;
  readonly origin?: unknown;
}

/** The nearest word counts, but for `read-only`: nothing below opens what is closed above. */
export function runModeOf(node: DrivenRun): RunMode | undefined {
  let mode: RunMode | undefined;
  for (let up: DrivenRun | undefined = node; up !== undefined; up = up.parent) {
    const said = modeSaid(up.started);
    if (said === 'read-only') return said;
    mode ??= said;
  }
  return mode;
}

/** What the mode makes of what the rules say: it never opens what they deny. */
export function underMode(mode: RunMode | undefined, tool: Subject, permission: Permission): Permission {
  if (mode === 'read-only') return tool.kind === undefined && tool.readOnly !== true ? 'deny' : permission;
  const isOwn = tool.origin === undefined && WORKSPACE_TOOLS.includes(tool.name);
  return mode === 'full' && permission === 'ask' && isOwn ? 'allow' : permission;
}
