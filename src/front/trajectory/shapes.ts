/**
 * What is written of ATIF, the Agent Trajectory Interchange Format (RFC 0001 of Harbor). Version 1.8 adds sound, of which there
 * is none here, so that this is a document of 1.7, which more programs read. A reader refuses fields that it does not know:
 * whatever is ours stands in `extra`.
 */
import type { Json, JsonObject } from '../../base/json.ts';

export const ATIF_VERSION = 'ATIF-v1.7';

export type AtifPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image'; readonly source: { readonly media_type: string; readonly path: string } };

/** A text, or its parts where a picture is among them. */
export type AtifContent = string | readonly AtifPart[];

export interface AtifToolCall {
  readonly tool_call_id: string;
  readonly function_name: string;
  readonly arguments: JsonObject;
  readonly extra?: JsonObject;
}

/** Names a trajectory that stands in the same document. */
export interface TrajectoryRef {
  readonly trajectory_id: string;
  readonly session_id: string;
  readonly extra: JsonObject;
}

export interface AtifResult {
  readonly source_call_id?: string;
  readonly content?: AtifContent;
  readonly subagent_trajectory_ref?: readonly TrajectoryRef[];
  readonly extra?: JsonObject;
}

/** Of one call of a model. What was read from a cache is counted in `prompt_tokens`, too. */
export interface AtifMetrics {
  readonly prompt_tokens?: number;
  readonly completion_tokens?: number;
  readonly cached_tokens?: number;
  readonly cost_usd?: number;
  readonly extra?: JsonObject;
}

export interface AtifStep {
  /** From 1, without a gap. */
  readonly step_id: number;
  readonly timestamp: string;
  readonly source: 'system' | 'user' | 'agent';
  readonly message: AtifContent;
  /** These five of an agent only. */
  readonly model_name?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly AtifToolCall[];
  readonly metrics?: AtifMetrics;
  readonly llm_call_count?: number;
  readonly observation?: { readonly results: readonly AtifResult[] };
  /** It happened in the session that this one was forked from. */
  readonly is_copied_context?: true;
  readonly extra: JsonObject;
}

export interface AtifAgent {
  readonly name: string;
  readonly version: string;
  readonly model_name?: string;
  readonly tool_definitions?: readonly Json[];
}
