/**
 * Coding agents that do work for a run, as the run has them: a session in a folder, prompts, and what is said and asked
 * meanwhile. What an executor says that it did is its word (`onUpdate`); what went through our own hands (`wrote`, `ran`) is
 * what we saw. Nothing here is recorded: what must not be lost is for the caller to keep.
 */
import type { Json } from '../base/json.ts';
import type { Result } from '../base/result.ts';
import type { ImagePart, TextPart, Usage } from '../events/messages.ts';
import type { ClosedFile } from '../tools/closed/closed-files.ts';
import type { ExecutorEntry } from './entry.ts';

export interface Executors {
  /** Known ones and those of executors.yaml, by name. */
  entries(): Promise<readonly ExecutorEntry[]>;
  /** Why one of this name could not even be started in this folder; nothing is started to find that out. */
  missing(name: string, folder: string): Promise<ExecutorFailure | undefined>;
  /** A session of the same key that still lives in this process is taken over, whatever else is asked. */
  open(asked: OpenExecutor, signal: AbortSignal): Promise<Result<ExecutorSession, ExecutorFailure>>;
  /** Ends every process. */
  close(): Promise<void>;
  /** Ends the session of this key that was left here, if it lives. */
  drop(key: string): Promise<void>;
}

export interface OpenExecutor {
  /** Name of an entry. */
  readonly executor: string;
  /** Who it works for, such as a run: a session is kept by it. */
  readonly key: string;
  /** Absolute. Nothing outside is read or written through us. */
  readonly cwd: string;
  /** The executor's own id of a session from an earlier life: loaded where it can be. */
  readonly session?: string | undefined;
  readonly mode?: ExecutorMode | undefined;
  readonly model?: string | undefined;
  /** Already allowed. */
  readonly mcp: readonly ExecutorMcpServer[];
  /** Somebody can be asked: it is told that it may put questions. */
  readonly questions?: boolean | undefined;
}

/** `full`: it may do everything that it is allowed to when it asks. */
export type ExecutorMode = 'read-only' | 'full';

export type ExecutorMcpServer =
  | {
      readonly kind: 'stdio';
      readonly name: string;
      readonly command: string;
      readonly args: readonly string[];
      readonly env: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'http'; readonly name: string; readonly url: string; readonly headers: Readonly<Record<string, string>> };

/**
 * `crashed`: it ended by itself. `protocol`: what it says is not the protocol. `auth`: it wants somebody to log in.
 * `unavailable`: it is not known, not installed, or cannot be started. `timeout`: it did not answer in time. `error`: it says
 * that it failed, such as when its model does; it lives on.
 */
export interface ExecutorFailure {
  readonly why: 'crashed' | 'protocol' | 'auth' | 'unavailable' | 'timeout' | 'error';
  readonly message: string;
  readonly fix?: string | undefined;
  /** The end of what it wrote there. */
  readonly stderr?: string | undefined;
  /** Of a process that ended. */
  readonly exitCode?: number | undefined;
}

/** What is known of the one that was started. */
export interface ExecutorAbout {
  readonly executor: string;
  /** As it says. */
  readonly version?: string | undefined;
  readonly protocol: number;
  readonly pid?: number | undefined;
  /** Modes that it offers, in its own words. */
  readonly modes: readonly string[];
  /** The one that it is in. */
  readonly mode?: string | undefined;
  readonly model?: string | undefined;
  /** It can take up an earlier session. */
  readonly canLoad: boolean;
  /** How it can be given MCP servers. */
  readonly mcp: readonly ('stdio' | 'http')[];
  /** It asks before it does something. */
  readonly asks: boolean;
  readonly images?: boolean | undefined;
  /** What of that which was asked for it cannot do, in words. */
  readonly without: readonly string[];
  /** What it is kept in. */
  readonly sandbox?: string | undefined;
}

export interface ExecutorSession {
  /** The executor's own id. */
  readonly session: string;
  /** `live`: the very session that was left, with what it was doing. */
  readonly restored: 'new' | 'loaded' | 'live';
  readonly about: ExecutorAbout;
  /** Goes on with the prompt under way in a live session, told first what was said meanwhile; undefined when there is none. */
  resume(handlers: PromptHandlers): Promise<PromptEnded> | undefined;
  /** One at a time. A prompt that is left does not end for who left it. */
  prompt(content: readonly (TextPart | ImagePart)[], handlers: PromptHandlers): Promise<PromptEnded>;
  /** Which files that are closed to it hold something else than when it was opened, or last asked; without it nobody looks. */
  touched?(): Promise<readonly ClosedFile[]>;
  /** Nobody follows for now: it is kept, with what it asks, for `executorIdleMs`; then it is cancelled and ended. */
  leave(): void;
  /** Ends it and all that it started. */
  end(): Promise<ExecutorEnd>;
}

export interface ExecutorEnd {
  readonly exitCode?: number | undefined;
  readonly signal?: string | undefined;
  /** The end of what it wrote there, without secrets. */
  readonly stderr: string;
  /** Processes that had left its group, as `pid command`; they were ended too, as far as we could. */
  readonly survivors: readonly string[];
  /** What its walls have refused it, as far as they say. */
  readonly refused?: readonly string[] | undefined;
}

export interface PromptHandlers {
  /** Its end cancels the prompt; what is asked meanwhile is answered `cancelled`. */
  readonly signal: AbortSignal;
  onUpdate(update: ExecutorUpdate): void;
  /**
   * May stay open for long. One that fails has not answered: the question is put again to whoever follows next. So it is with
   * everything that is asked here.
   */
  permission(asked: PermissionAsked): Promise<PermissionDecision>;
  /** Before a file is read, written, or a command is run for it by us. Paths are real and inside its folder. */
  mayRead(path: string): Promise<ExecutorAllowed>;
  mayWrite(path: string, content: string): Promise<ExecutorAllowed>;
  mayRun(command: AskedCommand): Promise<ExecutorAllowed>;
  wrote(file: ExecutorWrote): void;
  ran(command: ExecutorRan): void;
  /** It wants to know something. Without this it is told that nobody answers. */
  ask?(question: ExecutorQuestion): Promise<ExecutorAnswer>;
}

export type ExecutorAllowed = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };

export interface ExecutorCommand {
  /** As one line for a shell, quoted where it must be. */
  readonly line: string;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly cwd: string;
}

/** Before it is run. */
export interface AskedCommand extends ExecutorCommand {
  /** It would run inside walls, which hold it to what its mode allows. */
  readonly walled: boolean;
}

export interface ExecutorWrote {
  /** Absolute. */
  readonly path: string;
  /** Undefined for a new file, and for one that is no text. */
  readonly before?: string | undefined;
  readonly after: string;
}

export interface ExecutorRan extends ExecutorCommand {
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  /** Bounded, without secrets. */
  readonly stdout: string;
  readonly stdoutBytes: number;
  readonly stderr: string;
  readonly stderrBytes: number;
  /** It was ended, and did not come to its own end. */
  readonly stopped: boolean;
  /** The walls that it ran in; absent where there were none. */
  readonly sandbox?: string | undefined;
}

/** A tool call of the executor's, with all that was said of it so far. */
export interface ExecutorCall {
  readonly id: string;
  readonly title: string;
  /** `read`, `edit`, `delete`, `move`, `search`, `execute`, `think`, `fetch`, `switch_mode`, `other`. */
  readonly kind: string;
  readonly status: 'pending' | 'in_progress' | 'completed' | 'failed';
  readonly locations: readonly string[];
  readonly input?: Json | undefined;
  /** Text of what came of it, bounded. */
  readonly output: string;
  readonly outputBytes: number;
  /** Changes that it says it makes, or asks to make. */
  readonly diffs: readonly ExecutorDiff[];
}

export interface ExecutorDiff {
  readonly path: string;
  readonly before?: string | undefined;
  readonly after: string;
}

export type ExecutorUpdate =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'thought'; readonly text: string }
  | { readonly kind: 'call'; readonly call: ExecutorCall }
  | { readonly kind: 'plan'; readonly entries: readonly ExecutorPlanEntry[] }
  | { readonly kind: 'usage'; readonly used?: number | undefined; readonly size?: number | undefined; readonly costUsd?: number }
  | { readonly kind: 'mode'; readonly mode: string }
  /** Of ours: something was left out or set right, once per kind of thing. */
  | { readonly kind: 'notice'; readonly text: string };

export interface ExecutorPlanEntry {
  readonly text: string;
  readonly priority: 'high' | 'medium' | 'low';
  readonly status: 'pending' | 'in_progress' | 'completed';
}

export interface PermissionAsked {
  readonly call: ExecutorCall;
  readonly options: readonly { readonly name: string; readonly kind: PermissionKind }[];
  /** Aborted when it does not want to know any more: it took the question back, ended, or the prompt did. */
  readonly signal: AbortSignal;
}

export type PermissionKind = 'allow_once' | 'allow_always' | 'reject_once' | 'reject_always';

/** `allow_always` becomes `allow_once` where it offers nothing else, and never the other way round. */
export type PermissionDecision = PermissionKind | 'cancelled';

export interface ExecutorQuestion {
  readonly message: string;
  /** JSON schema of the answer: an object of plain fields. */
  readonly schema: Json;
  readonly signal: AbortSignal;
}

export type ExecutorAnswer =
  | { readonly action: 'accept'; readonly content: Readonly<Record<string, string | number | boolean | string[]>> }
  | { readonly action: 'decline' | 'cancel' };

export type PromptEnded =
  | {
      readonly kind: 'ended';
      readonly stop: ExecutorStop;
      /** All that it said in this prompt, bounded. */
      readonly text: string;
      readonly cut: boolean;
      readonly usage?: Usage | undefined;
      /** Of this prompt, as it says. */
      readonly costUsd?: number | undefined;
    }
  /** What it said before it failed is not lost. */
  | ({ readonly kind: 'failed'; readonly text: string } & ExecutorFailure);

export type ExecutorStop = 'end_turn' | 'max_tokens' | 'max_turn_requests' | 'refusal' | 'cancelled';
