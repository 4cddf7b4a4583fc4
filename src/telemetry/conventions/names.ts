/** The words of the GenAI conventions that spans are told in. Each snapshot of the conventions has them in a file of its own. */
export interface GenAiNames {
  /** Which snapshot it is, and the address that says so with every batch. */
  readonly snapshot: string;
  readonly schemaUrl: string | undefined;
  readonly operation: { readonly agent: string; readonly workflow: string; readonly chat: string; readonly tool: string };
  readonly operationName: string;
  readonly provider: string;
  readonly requestModel: string;
  readonly responseModel: string;
  readonly finishReasons: string;
  readonly agentName: string;
  readonly conversation: string;
  readonly toolName: string;
  readonly toolType: string;
  readonly toolCallId: string;
  readonly inputTokens: string;
  readonly outputTokens: string;
  /** Those without a name in a snapshot are left out. */
  readonly cacheReadTokens: string | undefined;
  readonly cacheWriteTokens: string | undefined;
  readonly reasoningTokens: string | undefined;
  readonly inputMessages: string;
  readonly outputMessages: string;
  readonly toolArguments: string;
  readonly toolResult: string;
}
