/** The GenAI conventions of semantic conventions 1.36, the last before names were changed: what many backends still look for. */
import type { GenAiNames } from './names.ts';

export const genAi136: GenAiNames = {
  snapshot: '1.36',
  schemaUrl: 'https://opentelemetry.io/schemas/1.36.0',
  // A workflow had no name yet: it was an agent.
  operation: { agent: 'invoke_agent', workflow: 'invoke_agent', chat: 'chat', tool: 'execute_tool' },
  operationName: 'gen_ai.operation.name',
  provider: 'gen_ai.system',
  requestModel: 'gen_ai.request.model',
  responseModel: 'gen_ai.response.model',
  finishReasons: 'gen_ai.response.finish_reasons',
  agentName: 'gen_ai.agent.name',
  conversation: 'gen_ai.conversation.id',
  toolName: 'gen_ai.tool.name',
  toolType: 'gen_ai.tool.type',
  toolCallId: 'gen_ai.tool.call.id',
  inputTokens: 'gen_ai.usage.input_tokens',
  outputTokens: 'gen_ai.usage.output_tokens',
  cacheReadTokens: undefined,
  cacheWriteTokens: undefined,
  reasoningTokens: undefined,
  inputMessages: 'gen_ai.prompt',
  outputMessages: 'gen_ai.completion',
  toolArguments: 'gen_ai.tool.call.arguments',
  toolResult: 'gen_ai.tool.call.result',
};
