/**
 * The assistants as MCP tools. Names, inputs, defaults and outputs are those of `assistants/schemas.ts`; here they get words
 * that help a model to choose, and hints for whoever asks for permission.
 *
 * The structured output is exactly what the schema says; the first text is the same as JSON. A failure is a tool result that
 * says what is wrong and what to do, so that the model on the other side can put it right.
 */
import type { CallToolResult, McpServer, StandardSchemaWithJSON, ToolAnnotations } from '@modelcontextprotocol/server';
import type { Assistants, Client, Outcome } from '../../assistants/port.ts';
import type { Result } from '../../base/result.ts';
import type { Failure } from '../../events/catalogue.ts';
import * as schemas from '../../tools/assistants/schemas.ts';
import { beginCall, type ToolCall } from './call.ts';
import type { CallerConnection, McpNeeds } from './needs.ts';
import { withKeptJsonSchema } from './schema.ts';

interface Tool<Input, Output> {
  readonly title: string;
  readonly description: string;
  readonly inputSchema: StandardSchemaWithJSON<unknown, Input>;
  readonly outputSchema: StandardSchemaWithJSON<unknown, Output>;
  readonly annotations: ToolAnnotations;
}

const looks: ToolAnnotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };
const acts: ToolAnnotations = { readOnlyHint: false, openWorldHint: true };

export function registerTools(server: McpServer, needs: McpNeeds, connection: CallerConnection): void {
  const { assistants } = needs;
  const { name, answersForAll, rights, workspace } = connection.caller;
  const caller: Client = { kind: 'client', name, answersForAll, rights, workspace };

  const add = <Input, Output>(
    name: string,
    tool: Tool<Input, Output>,
    work: (input: Input, call: ToolCall) => Promise<CallToolResult>,
  ): void => {
    server.registerTool<StandardSchemaWithJSON, StandardSchemaWithJSON<unknown, Input>>(name, tool, async (input, context) => {
      const call = beginCall(needs, connection, context);
      try {
        return await work(input, call);
      } finally {
        call.end();
      }
    });
  };

  add('list_assistant', listTool, async (input) => resultOf(await assistants.list(caller, input)));
  add('search_assistant', searchTool, async (input) => resultOf(await assistants.search(caller, input)));
  add('spawn_assistant', spawnTool, async (input, call) => {
    const outcome = await assistants.spawn(caller, input, call.options);
    if (input.run_mode === 'sync' && call.wasCancelled()) await cancelSpawned(assistants, caller, outcome);
    return resultOf(outcome);
  });
  add('poll_assistant', pollTool, async (input, { options }) => resultOf(await assistants.poll(caller, input, options)));
  add('send_message', sendTool, async (input, { options }) => resultOf(await assistants.send(caller, input, options)));
  add('recv_message', receiveTool, async (input, { options }) => resultOf(await assistants.receive(caller, input, options)));
  add('cancel_assistant', cancelTool, async (input, { options }) => resultOf(await assistants.cancel(caller, input, options)));
  add('answer_assistant', answerTool, async (input, { options }) => resultOf(await assistants.answer(caller, input, options)));
}

/** Whoever calls off a call that waits for the end does not want the end any more. */
async function cancelSpawned(
  assistants: Assistants,
  caller: Parameters<Assistants['cancel']>[0],
  outcome: Awaited<Outcome<schemas.SpawnOutput>>,
): Promise<void> {
  if (!outcome.ok || outcome.value.status === 'finished' || outcome.value.status === 'failed') return;
  const input = { process_id: outcome.value.process_id, reason: 'The call that waited for it was cancelled' };
  // The call's own signal has aborted; recording the wish takes a moment and must not depend on it.
  await assistants.cancel(caller, input, { signal: new AbortController().signal });
}

function resultOf<Value>(outcome: Result<Value, Failure>): CallToolResult {
  return outcome.ok ? valueResult(outcome.value) : failureResult(outcome.error);
}

function valueResult(value: unknown): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(value) }], structuredContent: value };
}

function failureResult({ code, message, fix }: Failure): CallToolResult {
  const text = `error ${code}: ${message}${fix === undefined ? '' : `\nfix: ${fix}`}`;
  return { isError: true, content: [{ type: 'text', text }] };
}

const listTool = {
  title: 'List assistants',
  description:
    'Lists every assistant that can be spawned, page by page: id, name, description and tags. Use search_assistant instead when you know what the assistant should be able to do.',
  inputSchema: withKeptJsonSchema(schemas.listInput),
  outputSchema: withKeptJsonSchema(schemas.listOutput),
  annotations: looks,
};

const searchTool = {
  title: 'Search assistants',
  description:
    'Finds assistants for a task described in plain words, such as "find bugs in python code"; the best match comes first. Use it before spawn_assistant, and use the id of a result as assistant_id.',
  inputSchema: withKeptJsonSchema(schemas.searchInput),
  outputSchema: withKeptJsonSchema(schemas.searchOutput),
  annotations: looks,
};

const spawnTool = {
  title: 'Spawn an assistant',
  description:
    'Starts an assistant on a task of its own. It knows nothing of this conversation: put everything it needs into query. run_mode async returns at once; then wait with poll_assistant and read its report with recv_message. run_mode sync waits for the end and returns the answer: use it for short tasks. Several assistants may work at the same time.',
  inputSchema: withKeptJsonSchema(schemas.spawnInput),
  outputSchema: withKeptJsonSchema(schemas.spawnOutput),
  annotations: { ...acts, destructiveHint: true, idempotentHint: false },
};

const pollTool = {
  title: 'Look how an assistant is doing',
  description:
    'Says whether a process is starting, running, finished or failed, and how many messages wait for you; not what they say. To wait, give wait_ms (say 60000) instead of polling again and again: it returns when the status changes or a message arrives that your last poll did not tell you of.',
  inputSchema: withKeptJsonSchema(schemas.pollInput),
  outputSchema: withKeptJsonSchema(schemas.pollOutput),
  annotations: looks,
};

const sendTool = {
  title: 'Send a message to an assistant',
  description:
    'Sends a message to an assistant that you spawned, while it works: it reads the message before its next turn. Use the thread_id that spawn_assistant returned. To answer a question that it asked, use answer_assistant.',
  inputSchema: withKeptJsonSchema(schemas.sendInput),
  outputSchema: withKeptJsonSchema(schemas.successOutput),
  annotations: { ...acts, destructiveHint: false, idempotentHint: false },
};

const receiveTool = {
  title: 'Read messages of a thread',
  description:
    'Reads the messages of a thread, oldest first: reports, questions and what was sent. unread_only with mark_as_read gives each message to you once. To wait for the next one, give wait_ms instead of asking again and again.',
  inputSchema: withKeptJsonSchema(schemas.receiveInput),
  outputSchema: withKeptJsonSchema(schemas.receiveOutput),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: false, openWorldHint: false },
};

const cancelTool = {
  title: 'Cancel an assistant',
  description:
    'Ends a process that you spawned, and everything that it spawned. What it has done stays done. A process that has ended already stays as it is.',
  inputSchema: withKeptJsonSchema(schemas.cancelInput),
  outputSchema: withKeptJsonSchema(schemas.successOutput),
  annotations: { ...acts, destructiveHint: true, idempotentHint: true },
};

const answerTool = {
  title: 'Answer an assistant’s question',
  description:
    'Answers a question that an assistant asked, or gives (yes) or refuses (no) a permission that it asked for; it waits until you do. Questions arrive as messages: see recv_message.',
  inputSchema: withKeptJsonSchema(schemas.answerInput),
  outputSchema: withKeptJsonSchema(schemas.successOutput),
  annotations: { ...acts, destructiveHint: true, idempotentHint: false },
};
