/**
 * The tools that speak of an agent that has answered, as a request offers them: with the ids that can be named just now. While
 * there are none, they are not offered. The same list comes back as long as nothing has changed: models translate it once.
 */
import type { ToolSpec } from '../../models/port.ts';
import { clarificationSchema, clarificationTool, dismissalSchema, dismissalTool } from './agent-tools.ts';
import type { Child } from './askable-agents.ts';

export function createOfferedClarifications(
  children: () => readonly Child[],
): (tools: readonly ToolSpec[]) => readonly ToolSpec[] {
  let last: { readonly tools: readonly ToolSpec[]; readonly ids: string; readonly offered: readonly ToolSpec[] } | undefined;
  return (tools) => {
    if (!tools.includes(clarificationTool) && !tools.includes(dismissalTool)) return tools;
    const live = children();
    const asked = idsOf(live.filter(({ turnsRemaining }) => turnsRemaining > 0));
    const dismissed = idsOf(live);
    const ids = JSON.stringify([asked, dismissed]);
    if (last?.tools === tools && last.ids === ids) return last.offered;
    const offered = tools.flatMap((spec) => {
      if (spec === clarificationTool) return asked.length === 0 ? [] : [{ ...spec, inputSchema: clarificationSchema(asked) }];
      if (spec === dismissalTool) return dismissed.length === 0 ? [] : [{ ...spec, inputSchema: dismissalSchema(dismissed) }];
      return [spec];
    });
    last = { tools, ids, offered };
    return offered;
  };
}

const idsOf = (children: readonly Child[]): string[] => children.map(({ id }) => id);
