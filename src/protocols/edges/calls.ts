/**
 * The tool calls of a run and of those below it, as events of the ledger tell them: begun, and done. What a call is made with
 * stands where the model asked for it, so that is remembered for as long as the call is open.
 */
import type { Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { textOf, toolCallsOf } from '../../events/messages.ts';

export interface ShownCall {
  /** The same for the same call, whoever is told of it and when. */
  readonly id: string;
  readonly run: string;
  readonly agent: string;
  readonly tool: string;
  readonly input: Json;
}

export type CallNews =
  | { readonly kind: 'began'; readonly call: ShownCall }
  | { readonly kind: 'ended'; readonly call: ShownCall; readonly output: string; readonly failed: boolean };

export interface ShownCalls {
  of(event: LedgerEvent): readonly CallNews[];
}

/** Its end is told as the answer. */
const REPORT = 'final_report';

export function createShownCalls(): ShownCalls {
  const agents = new Map<string, string>();
  const asked = new Map<string, ReadonlyMap<string, Json>>();
  const open = new Map<string, ShownCall>();
  const began = ({ run_id: run, payload }: EventOf<'tool.call'>): readonly CallNews[] => {
    const { id, name: tool, turn, input = asked.get(run)?.get(id) ?? {} } = payload;
    if (tool === REPORT) return [];
    const call = {
      id: `call_${run.slice(-12)}_${turn}_${id}`.replaceAll(/[^\w-]/g, '_'),
      run,
      agent: agents.get(run) ?? '',
      tool,
      input,
    };
    // Taken up again, it is the same call.
    const isNew = !open.has(`${run} ${id}`);
    open.set(`${run} ${id}`, call);
    return isNew ? [{ kind: 'began', call }] : [];
  };
  const ended = ({ run_id: run, payload }: EventOf<'tool.result'>): readonly CallNews[] => {
    const call = open.get(`${run} ${payload.id}`);
    if (call === undefined) return [];
    open.delete(`${run} ${payload.id}`);
    return [{ kind: 'ended', call, output: shortened(textOf(payload.content)), failed: payload.isError === true }];
  };
  return {
    of(event) {
      switch (event.event_type) {
        case 'run.started':
          agents.set(event.run_id, event.payload.agent);
          return [];
        case 'model.response':
          asked.set(event.run_id, new Map(toolCallsOf(event.payload.message).map(({ id, input }) => [id, input])));
          return [];
        case 'tool.call':
          return began(event);
        case 'tool.result':
          return ended(event);
        default:
          return [];
      }
    },
  };
}

function shortened(text: string): string {
  const left = text.length - limits.chatOutputCharacters;
  return left <= 0 ? text : `${text.slice(0, limits.chatOutputCharacters)}\n(${left} more characters: chatOutputCharacters)`;
}
