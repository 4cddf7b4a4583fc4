/** The words of OpenInference 2.12, which Phoenix and others read; they stand on the same spans. */
export const openInference = {
  kind: 'openinference.span.kind',
  session: 'session.id',
  agent: 'agent.name',
  model: 'llm.model_name',
  provider: 'llm.provider',
  tool: 'tool.name',
  toolCallId: 'tool_call.id',
  inputTokens: 'llm.token_count.prompt',
  outputTokens: 'llm.token_count.completion',
  totalTokens: 'llm.token_count.total',
  cacheReadTokens: 'llm.token_count.prompt_details.cache_read',
  cacheWriteTokens: 'llm.token_count.prompt_details.cache_write',
  reasoningTokens: 'llm.token_count.completion_details.reasoning',
  cost: 'llm.cost.total',
  input: 'input.value',
  output: 'output.value',
} as const;
