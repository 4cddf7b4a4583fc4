/** What spans say: attributes by the conventions, and words only where somebody wants them. */
import { limits } from '../base/limits.ts';
import { present } from '../base/present.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import type { CallCost, Message, Usage } from '../events/messages.ts';
import type { GenAiNames } from './conventions/names.ts';
import { openInference } from './conventions/openinference.ts';
import type { Attributes, AttributeValue } from './span.ts';

export interface Wording {
  readonly names: GenAiNames;
  /** Whether spans carry what was said: prompts, answers, arguments, results. */
  readonly content: boolean;
}

/** What every span of a run has: whose it is, and which event of the ledger it comes from. */
export function commonAttributes({ names }: Wording, agent: string, event: LedgerEvent): Attributes {
  return {
    [names.agentName]: agent,
    [names.conversation]: event.session_id,
    [openInference.session]: event.session_id,
    [openInference.agent]: agent,
    'troupe.run_id': event.run_id,
    'troupe.event_id': event.event_id,
  };
}

export function runAttributes(
  wording: Wording,
  isGroup: boolean,
  input: Message | undefined,
  event: EventOf<'run.ended'>,
): Attributes {
  const { names } = wording;
  const { status, error, verification, report, turns } = event.payload;
  const failed = hasFailed(status) ? (error?.code ?? status) : undefined;
  return {
    [names.operationName]: isGroup ? names.operation.workflow : names.operation.agent,
    [openInference.kind]: isGroup ? 'CHAIN' : 'AGENT',
    'troupe.status': status,
    'troupe.verification': verification.state,
    ...present({ 'troupe.turns': turns, 'error.type': failed }),
    ...spokenAs(wording, openInference.input, () => input && spokenWords(input)),
    ...spokenAs(wording, openInference.output, () => report.body),
  };
}

export const hasFailed = (status: Payloads['run.ended']['status']): boolean =>
  status === 'failed' || status === 'budget_exhausted' || status === 'cancelled';

/** `anthropic/claude-sonnet-5` is a model of a provider; `scripted:replies.yaml` and `executor:codex` have none behind them. */
export function providerOf(model: string): string {
  const [, name = 'unknown'] = /^([^/:]+)[/:]/.exec(model) ?? [];
  return name;
}

const modelName = (model: string): string => model.replace(/^[^/:]+\//, '');

export function askedAttributes({ names }: Wording, model: string): Attributes {
  return {
    [names.operationName]: names.operation.chat,
    [names.provider]: providerOf(model),
    [names.requestModel]: modelName(model),
    [openInference.kind]: 'LLM',
    [openInference.provider]: providerOf(model),
  };
}

export function answeredAttributes(wording: Wording, payload: Payloads['model.response']): Attributes {
  const { names } = wording;
  const { served, finish, usage, cost, attempts, message } = payload;
  return {
    [names.responseModel]: modelName(served),
    [names.finishReasons]: [finish],
    [openInference.model]: modelName(served),
    'troupe.attempts': attempts,
    ...spentAttributes(wording, usage, cost),
    ...spokenAs(wording, names.outputMessages, () => JSON.stringify([messageValue(message, finish)])),
  };
}

export function spentAttributes({ names }: Wording, usage: Usage | undefined, cost: CallCost | undefined): Attributes {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage ?? {};
  const usd = cost === undefined ? undefined : { fraction: cost.nanoUsd / NANO };
  const counts: readonly (readonly [string | undefined, AttributeValue | undefined])[] = [
    [names.inputTokens, inputTokens],
    [names.outputTokens, outputTokens],
    [names.cacheReadTokens, cacheReadTokens],
    [names.cacheWriteTokens, cacheWriteTokens],
    [names.reasoningTokens, reasoningTokens],
    [openInference.inputTokens, inputTokens],
    [openInference.outputTokens, outputTokens],
    [openInference.totalTokens, inputTokens === undefined || outputTokens === undefined ? undefined : inputTokens + outputTokens],
    [openInference.cacheReadTokens, cacheReadTokens],
    [openInference.cacheWriteTokens, cacheWriteTokens],
    [openInference.reasoningTokens, reasoningTokens],
    [openInference.cost, usd],
    ['troupe.cost.usd', usd],
  ];
  return Object.fromEntries(
    counts.flatMap(([name, value]) => (name === undefined || value === undefined ? [] : [[name, value] as const])),
  );
}

const NANO = 1e9;

export interface ToolTold {
  readonly name: string;
  readonly id: string;
  /** `function` for one of ours, `extension` for what an executor says that it does. */
  readonly type: 'function' | 'extension';
  readonly input: () => string | undefined;
  readonly output: () => string | undefined;
}

export function toolAttributes(wording: Wording, { name, id, type, input, output }: ToolTold): Attributes {
  const { names } = wording;
  return {
    [names.operationName]: names.operation.tool,
    [names.toolName]: name,
    [names.toolCallId]: id,
    [names.toolType]: type,
    [openInference.kind]: 'TOOL',
    [openInference.tool]: name,
    [openInference.toolCallId]: id,
    ...spokenAs(wording, names.toolArguments, input),
    ...spokenAs(wording, names.toolResult, output),
  };
}

/** Bounded, and not even put together where nobody wants it. */
export function spokenAs({ content }: Wording, name: string, text: () => string | undefined): Attributes {
  const said = content ? text() : undefined;
  if (said === undefined) return {};
  const cut = said.length > limits.telemetryTextCharacters;
  return { [name]: cut ? `${said.slice(0, limits.telemetryTextCharacters)}…` : said };
}

export const spokenWords = ({ content }: { readonly content: Message['content'] }): string =>
  content.map((part) => ('text' in part ? part.text : `[${part.type}]`)).join('\n');

/** A message as the conventions write one. Pictures and what only a provider understands are named, not carried. */
export function messageValue({ role, content }: Message, finish?: string): object {
  const parts = content.map((part) => {
    if (part.type === 'text') return { type: 'text', content: part.text };
    if (part.type === 'reasoning') return { type: 'reasoning', content: part.text };
    if (part.type === 'tool-call') return { type: 'tool_call', id: part.id, name: part.name, arguments: part.input };
    if (part.type === 'tool-result') return { type: 'tool_call_response', id: part.id, response: spokenWords(part) };
    return { type: 'blob', mime_type: part.mediaType };
  });
  return { role, parts, ...present({ finish_reason: finish }) };
}
