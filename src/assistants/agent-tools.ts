/**
 * The assistants as tools of Troupe's own agents: the same names and inputs as on the wire. The runtime itself spawns and
 * cancels, because that starts and ends runs of the caller's tree; everything else asks the service in the caller's name.
 *
 * All are safe to repeat after a crash. A message is sent once per call, by the call's key. Reading with `mark_as_read` marks
 * under the same key, so the repetition fetches again what the first attempt had marked.
 */
import type { Clock } from '../base/clock.ts';
import { threadOwner } from '../base/ids.ts';
import type { Json } from '../base/json.ts';
import { limits } from '../base/limits.ts';
import {
  cancelInput,
  listInput,
  pollInput,
  receiveInput,
  searchInput,
  sendInput,
  spawnInput,
} from '../tools/assistants/schemas.ts';
import { defineAnsweredTool, defineBuiltIn } from '../tools/define-built-in.ts';
import { errorResult, type Tool, type ToolContext, type ToolOutcome, textResult } from '../tools/port.ts';
import type { AssistantCallOptions, Assistants, Caller, Outcome } from './port.ts';

export interface AgentToolNeeds {
  readonly assistants: Pick<Assistants, 'list' | 'search' | 'poll' | 'send' | 'receive'>;
  readonly clock: Clock;
}

export function assistantTools(needs: AgentToolNeeds): readonly Tool[] {
  return [...findingTools(needs), ...runtimeTools(), ...watchingTools(needs), sendTool(needs)];
}

function findingTools({ assistants }: AgentToolNeeds): readonly Tool[] {
  return [
    defineBuiltIn({
      name: 'list_assistant',
      description: 'Lists the assistants that can be spawned, page by page.',
      input: listInput,
      replay: 'safe',
      readOnly: true,
      run: async (input, context) => asResult(await assistants.list(callerOf(context), input)),
    }),
    defineBuiltIn({
      name: 'search_assistant',
      description: 'Finds assistants for a task that is described in plain words, the best first.',
      input: searchInput,
      replay: 'safe',
      readOnly: true,
      run: async (input, context) => asResult(await assistants.search(callerOf(context), input)),
    }),
  ];
}

function runtimeTools(): readonly Tool[] {
  const spawning = defineAnsweredTool('spawn', {
    name: 'spawn_assistant',
    description:
      'Starts an assistant on a task of its own. It works beside you; poll_assistant and recv_message tell you how it gets on. With run_mode sync, waits for its answer.',
    input: spawnInput,
  });
  const cancelling = defineAnsweredTool('cancel', {
    name: 'cancel_assistant',
    description: 'Ends an assistant that you have spawned and whose work is not needed any more.',
    input: cancelInput,
  });
  return [spawning, cancelling];
}

/** How much longer than the longest wait a call may take before it counts as stuck. */
const WAIT_GRACE_MS = 60_000;

function watchingTools(needs: AgentToolNeeds): readonly Tool[] {
  const { assistants, clock } = needs;
  const waits = { waits: true, timeoutMs: limits.assistantWaitMs + WAIT_GRACE_MS } as const;
  const polling = defineBuiltIn({
    name: 'poll_assistant',
    description:
      'Says whether an assistant is starting, running, finished or failed, and how many messages wait for you. Use wait_ms instead of asking again and again.',
    input: pollInput,
    replay: 'safe',
    readOnly: true,
    run: async (input, context) => {
      const vain = inVain(needs, input.wait_ms);
      const outcome = await assistants.poll(callerOf(context), input, optionsOf(context));
      return withNote(asResult(outcome), outcome.ok ? vain(outcome.value.process.started_at) : undefined);
    },
  });
  const receiving = defineBuiltIn({
    name: 'recv_message',
    description:
      'Fetches the messages of a thread: your own, or that of an assistant you have spawned. Use wait_ms to wait for one to arrive.',
    input: receiveInput,
    replay: 'safe',
    readOnly: true,
    run: async (input, context) => {
      const vain = inVain(needs, input.wait_ms);
      const outcome = await assistants.receive(callerOf(context), input, optionsOf(context));
      const started = vain(clock.now()) === undefined ? undefined : await startOf(needs, input.thread_id, context);
      return withNote(asResult(outcome), started === undefined ? undefined : vain(started));
    },
  });
  return [
    { ...polling, ...waits },
    { ...receiving, ...waits },
  ];
}

function sendTool({ assistants }: AgentToolNeeds): Tool {
  return defineBuiltIn({
    name: 'send_message',
    description:
      'Sends a message to an assistant in its thread, or to whoever spawned you in your own. It is read before the next turn of its reader.',
    input: sendInput,
    replay: 'safe',
    run: async (input, context) => asResult(await assistants.send(callerOf(context), input, optionsOf(context))),
  });
}

const callerOf = ({ run }: ToolContext): Caller => ({ kind: 'run', run });
const optionsOf = ({ signal, idempotencyKey }: ToolContext): AssistantCallOptions => ({ signal, idempotencyKey });

function asResult(outcome: Awaited<Outcome<Json>>): ToolOutcome {
  if (outcome.ok) return textResult(JSON.stringify(outcome.value));
  const { message, fix } = outcome.error;
  return errorResult(fix === undefined ? message : `${message} ${fix}`);
}

/**
 * Says after a wait for nothing how long the process has been at it. So the results of several waits differ, and waiting
 * patiently is not taken for repeating oneself.
 */
function inVain({ clock }: AgentToolNeeds, waitMs: number): (startedAt: number) => string | undefined {
  const before = clock.elapsed();
  return (startedAt) => {
    const waited = Math.round(clock.elapsed() - before);
    if (waitMs === 0 || waited < waitMs) return undefined;
    const total = Math.max(0, clock.now() - startedAt);
    return `Nothing new in ${seconds(waited)}. The process started ${seconds(total)} ago.`;
  };
}

const seconds = (milliseconds: number): string => `${(milliseconds / 1000).toFixed(1)} s`;

async function startOf({ assistants }: AgentToolNeeds, thread: string, context: ToolContext): Promise<number | undefined> {
  const input = { process_id: threadOwner(thread) ?? '', include_summary: false, wait_ms: 0 };
  const outcome = await assistants.poll(callerOf(context), input, optionsOf(context));
  return outcome.ok ? outcome.value.process.started_at : undefined;
}

function withNote(outcome: ToolOutcome, note: string | undefined): ToolOutcome {
  if (outcome.kind === 'error' || note === undefined) return outcome;
  return { ...outcome, content: [...outcome.content, { type: 'text', text: note }] };
}
