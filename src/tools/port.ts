/**
 * What the rest of Troupe knows about tools. A tool is called with checked arguments and answers with a value; a tool that
 * throws is caught at this edge and becomes an error result, so that the transcript stays whole.
 */
import type { RunId } from '../base/ids.ts';
import type { Json, JsonObject } from '../base/json.ts';
import type { Payloads } from '../events/catalogue.ts';
import type { ImagePart, TextPart } from '../events/messages.ts';
import type { ProtectedKind } from './protected-names.ts';

/**
 * What may happen when a call was under way as the process died. `safe`: make it again. `never`: do not; tell the model
 * that the outcome is unknown.
 */
export type Replay = 'safe' | 'never';

/** A version of a file, known by the SHA-256 of its bytes; `null` when there is no such file. */
export interface SeenFile {
  /** Relative to the workspace. */
  readonly path: string;
  readonly sha256: string | null;
  /** The caller made it what it is. */
  readonly written?: boolean | undefined;
  /** The lines that were shown whole, of so many; without it, all there is of it. `to` is before `from` where there are none. */
  readonly lines?: { readonly from: number; readonly to: number; readonly of: number } | undefined;
}

/** What the caller knows of the workspace's files. */
export interface SeenFiles {
  /** The version that the caller goes by: seen before this turn, or written by itself. `undefined` when it has not looked. */
  version(path: string): Promise<string | null | undefined>;
  /** The first line of that version that the caller has not seen; `undefined` when it has seen all of them. */
  unread(path: string): Promise<number | undefined>;
  /** The agent that made a version, where that is known. */
  changedBy(path: string, sha256: string): Promise<string | undefined>;
}

/** What a tool knows about the call. */
export interface ToolContext {
  /** The folder the tool may touch. Paths are resolved and confined to it. */
  readonly workspace: string;
  readonly signal: AbortSignal;
  /** The run that calls. */
  readonly run: RunId;
  /** Run id and step key: the same for a call and its repetition. */
  readonly idempotencyKey: string;
  readonly seen: SeenFiles;
  /** What this one call may change although it is protected: the owner's settings and the agent's file allow it. */
  readonly opened?: ProtectedKind | undefined;
  /** Whether an address that a call is led on to may be fetched without a question; without it, any may. */
  mayFetch?(address: string): boolean;
  /** Whether a result may show this path of the workspace, or what is in it; without it, any. */
  mayShow?(path: string): boolean;
  /**
   * Processes that a call starts bear the mark, by which those that left it are found and ended. Whoever follows them is told of
   * each; what comes back is called when it has ended.
   */
  readonly processes?: { readonly mark: string; began(pid: number): () => void } | undefined;
  /** Takes secrets out of a text. Needed before a text is cut: half of a secret would not be recognised. */
  redact(text: string): string;
}

/** Facts that a built-in tool observed. The runtime writes them; agents cannot. */
export type Evidence = {
  [Type in 'cli.run' | 'cli.stdout' | 'cli.stderr' | 'file.diff' | 'test.report']: {
    readonly type: Type;
    readonly payload: Payloads[Type];
    /** The whole bytes, where the payload shows a part. */
    readonly attachment?: string;
  };
}['cli.run' | 'cli.stdout' | 'cli.stderr' | 'file.diff' | 'test.report'];

/** What the model gets back. */
export type ToolOutcome = (
  | { readonly kind: 'ok'; readonly content: readonly (TextPart | ImagePart)[] }
  | { readonly kind: 'error'; readonly message: string }
) & {
  readonly evidence?: readonly Evidence[];
  /** The versions of files that the caller knows from now on. */
  readonly saw?: readonly SeenFile[];
};

/** What went wrong. */
export type ToolRefusal = Extract<ToolOutcome, { readonly kind: 'error' }>;

/** What a model is told of a tool. */
interface DescribedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: JsonObject;
}

/** A tool that does its work itself. */
export interface OrdinaryTool extends DescribedTool {
  readonly kind?: undefined;
  readonly replay: Replay;
  /**
   * It says that it changes nothing: its calls run beside others of the same turn. Every other tool's calls have their effects in
   * the order in which they were asked for. To be safe to repeat is not enough: deleting twice is that, too.
   */
  readonly readOnly?: boolean;
  /** The MCP server that brings this tool, and the tool's name there; permissions may name either. */
  readonly origin?: { readonly server: string; readonly tool: string };
  /** Overrides the agent's `toolTimeout`. */
  readonly timeoutMs?: number;
  /** It gives every file that it changes as evidence, so that nobody has to look for changes. */
  readonly reportsChanges?: boolean;
  /** It may block for a long time without working: the runtime gives the caller's slot back meanwhile. */
  readonly waits?: boolean;
  /** The real path that a call is about, relative to the workspace; `undefined` when it leads nowhere. */
  target?(input: Json, workspace: string): Promise<string | undefined>;
  /** What a call would have to be allowed to change beyond its own permission. */
  protects?(input: Json, workspace: string): Promise<ProtectedKind | undefined>;
  /** What a call would come to as things are now, for whoever is asked for a permission; without it the arguments are shown. */
  preview?(input: Json, workspace: string): Promise<string | undefined>;
  /** The error that a call is sure to end with as things are now, having done nothing: nobody is asked to allow that. */
  refusal?(input: Json, context: ToolContext): Promise<ToolRefusal | undefined>;
  run(input: Json, context: ToolContext): Promise<ToolOutcome>;
}

/** A sub-agent: the runtime runs it as a child of the caller. */
export interface AgentTool extends DescribedTool {
  readonly kind: 'agent';
  readonly replay: 'safe';
  readonly agent: {
    readonly name: string;
    readonly chat: boolean;
    readonly maxTurns: number;
    readonly takesJson: boolean;
    /** Lives elsewhere: what it says is a stranger's. */
    readonly isRemote: boolean;
  };
}

/**
 * What the runtime itself does for the caller: it asks a sub-agent that has answered a further question, lets one go, spawns
 * an assistant that works beside the caller, or cancels one.
 */
export interface ServiceTool extends DescribedTool {
  readonly kind: 'clarification' | 'dismissal' | 'spawn' | 'cancel';
  readonly replay: 'safe';
}

/** A question that the user answers. */
export interface QuestionTool extends DescribedTool {
  readonly kind: 'question';
  readonly replay: 'safe';
}

/** An ordinary tool runs; one with a `kind` has nothing to run, because the user, another agent or the runtime answers. */
export type Tool = OrdinaryTool | QuestionTool | AgentTool | ServiceTool;

/** A good result: this text. */
export const textResult = (text: string): ToolOutcome => ({ kind: 'ok', content: [{ type: 'text', text }] });
/** What went wrong, in words that help the model to do better. */
export const errorResult = (message: string): ToolOutcome => ({ kind: 'error', message });
