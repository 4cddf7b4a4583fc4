/** What must hold of an agent that hands tasks over, beyond the types of its keys. */
import { type Diagnostic, errorAt, quote, warningAt } from '../text/diagnostics.ts';
import type { PlaceOf } from '../text/yaml-map.ts';
import type { AgentDefinition } from './definition.ts';
import { LOOKING_TOOLS } from './tool-names.ts';

export function checkArchitect(agent: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const { architect } = agent;
  if (architect === undefined) return [];
  return [...withoutHands(agent, placeOf), ...besides(architect, placeOf)];
}

/** What it names and never gets: whoever wrote it may think otherwise. */
function withoutHands({ tools, agents, mcp }: AgentDefinition, placeOf: PlaceOf): readonly Diagnostic[] {
  const fix = 'Remove it, or give it to the executor.';
  const handy = (tools ?? []).flatMap((tool, index) => (LOOKING_TOOLS.includes(tool) ? [] : [{ tool, index }]));
  return [
    ...handy.map(({ tool, index }) =>
      warningAt(placeOf(['tools', index]), `an architect has no hands: it does not get the tool ${quote(tool)}`, fix),
    ),
    ...(agents === undefined ? [] : [warningAt(placeOf(['agents'], 'key'), 'an architect calls no sub-agents', fix)]),
    ...(mcp === undefined ? [] : [warningAt(placeOf(['mcp'], 'key'), 'an architect gets no tools of MCP servers', fix)]),
  ];
}

function besides(architect: NonNullable<AgentDefinition['architect']>, placeOf: PlaceOf): readonly Diagnostic[] {
  const { executor, fallbackExecutors = [], failurePolicy, workspace, parallel } = architect;
  const again = fallbackExecutors.indexOf(executor);
  const problems: Diagnostic[] = [];
  if (again !== -1)
    problems.push(
      errorAt(
        placeOf(['architect', 'fallbackExecutors', again]),
        `${quote(executor)} is the executor itself`,
        'Name another one.',
      ),
    );
  if (workspace === 'in-place' && parallel !== undefined && parallel > 1)
    problems.push(
      errorAt(
        placeOf(['architect', 'parallel']),
        'tasks in one folder are worked on one after the other',
        'Write `workspace: worktree`, or remove "parallel".',
      ),
    );
  if (failurePolicy?.onRepeatedError === 'downgrade_executor' && fallbackExecutors.length === 0)
    problems.push(
      warningAt(
        placeOf(['architect', 'failurePolicy', 'onRepeatedError']),
        'there is nobody to give a task to that goes on failing',
        'Name others under "fallbackExecutors".',
      ),
    );
  return problems;
}
