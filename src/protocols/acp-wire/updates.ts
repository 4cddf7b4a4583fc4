/**
 * What happens in a run and below it, as updates of a session: live while it works, and again when a session is loaded. Events
 * come from the ledger, in which secrets are redacted already.
 */
import type { PlanEntry, SessionUpdate } from '@agentclientprotocol/sdk';
import { z } from 'zod';
import type { RunId } from '../../base/ids.ts';
import type { Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { toolCallsOf } from '../../events/messages.ts';
import { changeOf, kindOf, locationsOf, resultContent, shownCallId, shownInput, titleOf } from '../acp-wire/shown-calls.ts';

/** Its end is said as the answer. */
const FINAL_REPORT = 'final_report';
const PLAN = 'plan';
const FAILED = { status: 'failed' } as const;
const DONE = { status: 'completed' } as const;

const planInput = z.object({ items: z.array(z.object({ text: z.string(), status: z.enum(['pending', 'active', 'done']) })) });
const PLAN_STATUS = { pending: 'pending', active: 'in_progress', done: 'completed' } as const;

export interface Updates {
  /** What a client is shown of this event. */
  of(event: LedgerEvent): readonly SessionUpdate[];
}

interface Asked {
  readonly id: string;
  readonly input: Json;
}

/** `root`: of whose run the plan is shown; the calls of runs below it carry the name of their agent. */
export function createUpdates(root: RunId, workspace: string): Updates {
  /** The calls of the newest turn of each run. */
  const asked = new Map<string, Map<string, Asked>>();
  const agents = new Map<string, string>();
  /** Calls that are shown and have no result yet, by their run. */
  const open = new Map<string, Set<string>>();
  const nameOf = (run: string): string | undefined => (run === root ? undefined : agents.get(run));
  const known = (run: string, id: string): Asked | undefined => asked.get(run)?.get(id);

  const response = ({ run_id: run, payload }: EventOf<'model.response'>): readonly SessionUpdate[] => {
    const calls = toolCallsOf(payload.message).map((call, index) => ({ ...call, shown: shownCallId(run, payload.turn, index) }));
    asked.set(run, new Map(calls.map(({ id, shown, input }) => [id, { id: shown, input }])));
    const shown = calls.filter(({ name }) => name !== FINAL_REPORT && !(name === PLAN && run === root));
    open.set(run, new Set(shown.map((call) => call.shown)));
    return shown.map(({ shown, name, input }) => ({
      ...{ sessionUpdate: 'tool_call', toolCallId: shown, name, kind: kindOf(name), status: 'pending' },
      title: titleOf(name, input, nameOf(run)),
      ...{ rawInput: shownInput(input), locations: locationsOf(input, workspace), content: changeOf(name, input, workspace) },
    }));
  };
  const call = ({ run_id: run, payload }: EventOf<'tool.call'>): readonly SessionUpdate[] => {
    const { id, name, turn, input } = payload;
    const known_ = known(run, id);
    if (name === PLAN && run === root) return planOf(input ?? known_?.input ?? null);
    if (known_ === undefined) {
      // What was asked for in an earlier life is not read again.
      const toolCallId = `${run}/turn/${turn}/call/${id}`;
      asked.set(run, new Map([...(asked.get(run) ?? []), [id, { id: toolCallId, input: input ?? null }]]));
      const title = titleOf(name, input ?? null, nameOf(run));
      return [{ sessionUpdate: 'tool_call', toolCallId, name, kind: kindOf(name), status: 'in_progress', title }];
    }
    const changed = input === undefined ? {} : { rawInput: shownInput(input), title: titleOf(name, input, nameOf(run)) };
    return [{ sessionUpdate: 'tool_call_update', toolCallId: known_.id, status: 'in_progress', ...changed }];
  };
  const result = ({ run_id: run, payload }: EventOf<'tool.result'>): readonly SessionUpdate[] => {
    const { id, name, content, isError } = payload;
    const call = known(run, id);
    if (call === undefined || name === FINAL_REPORT || (name === PLAN && run === root)) return [];
    open.get(run)?.delete(call.id);
    const status = isError === true ? FAILED : DONE;
    const shown = [...changeOf(name, call.input, workspace), ...resultContent(content)];
    return [{ sessionUpdate: 'tool_call_update', toolCallId: call.id, ...status, content: shown }];
  };
  /** A call by which a run ends has no result of its own; one that was cut off never will. */
  const end = ({ run_id: run, payload }: EventOf<'run.ended'>): readonly SessionUpdate[] => {
    const left = [...(open.get(run) ?? [])];
    open.delete(run);
    const status = payload.status.startsWith('completed') ? DONE : FAILED;
    return left.map((toolCallId) => ({ sessionUpdate: 'tool_call_update', toolCallId, ...status }));
  };
  return {
    of(event) {
      switch (event.event_type) {
        case 'run.started':
          agents.set(event.run_id, event.payload.agent);
          return [];
        case 'model.response':
          return response(event);
        case 'tool.call':
          return call(event);
        case 'tool.result':
          return result(event);
        case 'run.ended':
          return end(event);
        default:
          return [];
      }
    },
  };
}

function planOf(input: Json): readonly SessionUpdate[] {
  const parsed = planInput.safeParse(input);
  if (!parsed.success) return [];
  const entries = parsed.data.items.map(
    ({ text, status }): PlanEntry => ({ content: text, priority: 'medium', status: PLAN_STATUS[status] }),
  );
  return [{ sessionUpdate: 'plan', entries }];
}

export const messageChunk = (text: string, messageId?: string): SessionUpdate => ({
  ...{ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } },
  ...present({ messageId }),
});

export const thoughtChunk = (text: string, messageId?: string): SessionUpdate => ({
  ...{ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text } },
  ...present({ messageId }),
});
