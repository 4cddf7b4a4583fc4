/**
 * The tool calls of a prompt, put together from what is said of them. Everything is an upsert: some executors ask for permission
 * before they tell of a call, some tell of its end before its begin, some tell of it twice, and any field may be missing.
 */
import { Buffer } from 'node:buffer';
import { isJsonObject, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { headOf, tailOf } from '../../tools/bounded.ts';
import type { ToolCallSaid } from '../acp-wire/schemas.ts';
import type { ExecutorCall, ExecutorDiff } from '../port.ts';

export interface Calls {
  /** The call with all that is known of it now; undefined when there are too many. */
  said(call: ToolCallSaid): ExecutorCall | undefined;
  clear(): void;
}

export interface CallNeeds {
  /** Its title is the command that it runs. */
  readonly titleIsCommand: boolean;
  /** What a terminal of ours has shown so far. Of its own ones only what it tells beside its calls is known. */
  terminal(id: string): string | undefined;
}

export function createCalls(needs: CallNeeds): Calls {
  const known = new Map<string, ExecutorCall>();
  return {
    said(said) {
      const before = known.get(said.toolCallId);
      if (before === undefined && known.size >= limits.executorCalls) return undefined;
      const call = merged(before ?? blank(said.toolCallId), said, needs);
      known.set(said.toolCallId, call);
      return call;
    },
    clear: () => known.clear(),
  };
}

const blank = (id: string): ExecutorCall => ({
  ...{ id, title: '', kind: 'other', status: 'pending' },
  ...{ locations: [], output: '', outputBytes: 0, diffs: [] },
});

function merged(before: ExecutorCall, said: ToolCallSaid, { terminal, titleIsCommand }: CallNeeds): ExecutorCall {
  const { title, kind, content, locations } = said;
  const isCommand = titleIsCommand && (kind ?? before.kind) === 'execute' && before.input === undefined;
  const rawInput = said.rawInput ?? (isCommand && title !== undefined ? { command: title } : undefined);
  // One that has ended does not begin again.
  const isOver = before.status === 'completed' || before.status === 'failed';
  const status = isOver && said.status !== 'completed' && said.status !== 'failed' ? undefined : said.status;
  const output = outputOf(before, said, terminal);
  return {
    ...before,
    ...present({ title, kind, status, input: rawInput === undefined ? undefined : boundedInput(rawInput) }),
    ...(locations === undefined ? {} : { locations: locations.map(({ path }) => path) }),
    ...(output === undefined
      ? {}
      : { output: tailOf(output, limits.executorCallOutputBytes), outputBytes: Buffer.byteLength(output) }),
    ...(content === undefined ? {} : { diffs: diffsOf(content) }),
  };
}

type Content = NonNullable<ToolCallSaid['content']>;

/** What came of it so far; undefined when nothing new was said of that. */
function outputOf(
  before: ExecutorCall,
  { content, rawOutput, _meta: beside }: ToolCallSaid,
  terminal: CallNeeds['terminal'],
): string | undefined {
  const whole = content === undefined ? '' : textOf(content, terminal);
  if (whole !== '') return whole;
  const printed = beside?.terminal_output?.data;
  const more = beside?.terminal_output_delta?.data;
  if (printed !== undefined || more !== undefined) return printed ?? `${before.output}${more}`;
  if (rawOutput !== undefined) return rawText(rawOutput);
  // What was shown when it asked is not what came of it.
  return content?.length === 0 ? '' : undefined;
}

const textOf = (content: Content, terminal: (id: string) => string | undefined): string =>
  content
    .flatMap((one) => (one.type === 'terminal' ? (terminal(one.terminalId ?? '') ?? []) : (one.content?.text ?? [])))
    .join('\n');

const diffsOf = (content: Content): readonly ExecutorDiff[] =>
  content.flatMap(({ type, path, oldText, newText }) =>
    type !== 'diff' || path === undefined || newText === undefined
      ? []
      : [
          {
            path,
            ...present({ before: oldText == null ? undefined : headOf(oldText, limits.executorDiffBytes) }),
            after: headOf(newText, limits.executorDiffBytes),
          },
        ],
  );

/** Executors have many words for what a command printed; anything else is shown as it is. */
function rawText(raw: Json): string {
  if (typeof raw === 'string') return raw;
  if (isJsonObject(raw))
    for (const name of ['formatted_output', 'aggregated_output', 'output', 'stdout', 'text', 'content']) {
      const value = raw[name];
      if (typeof value === 'string') return value;
    }
  return JSON.stringify(raw) ?? '';
}

function boundedInput(input: Json): Json {
  const text = JSON.stringify(input) ?? 'null';
  return Buffer.byteLength(text) <= limits.executorCallInputBytes
    ? input
    : { cut: true, wholeBytes: Buffer.byteLength(text), head: headOf(text, limits.executorCallOutputBytes) };
}
