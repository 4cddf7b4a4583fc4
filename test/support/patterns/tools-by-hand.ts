/** Tools of the twin: called where they are, and nothing of it is kept. */
import type { RunId } from '../../../src/base/ids.ts';
import type { ToolCallPart } from '../../../src/events/messages.ts';
import type { LoopTools } from '../../../src/loop/port.ts';
import type { Tool } from '../../../src/tools/port.ts';
import { unseen } from '../tool-workspace.ts';

export function handTools(
  node: { readonly run: RunId; readonly abort: AbortController },
  tools: readonly Tool[],
  seen: Set<string>,
): LoopTools {
  return {
    specs: tools,
    async call(turn, index, { id, name, input }: ToolCallPart) {
      const tool = tools.filter((one) => one.kind === undefined).find((one) => one.name === name);
      const idempotencyKey = `${node.run}/turn/${turn}/tool/${index}`;
      const outcome = await tool?.run(input, {
        redact: (text) => text,
        workspace: '.',
        signal: node.abort.signal,
        run: node.run,
        idempotencyKey,
        seen: unseen,
      });
      for (const { type, payload } of outcome?.evidence ?? [])
        if (type === 'cli.run' && payload.exitCode === 0) seen.add(payload.command);
      const content = outcome?.kind === 'ok' ? [...outcome.content] : [{ type: 'text' as const, text: 'It failed.' }];
      return { type: 'tool-result', id, name, content };
    },
  };
}
