/**
 * A wall around programs that somebody else decided to run: commands of agents, commands that prove something, executors. Inside,
 * a program sees the workspace and what the system has, but not the rest of the user's home, no ledger and no process outside;
 * it writes to the workspace and to a folder of its own for what is temporary; it reaches the hosts that were allowed.
 */
import type { Result } from '../base/result.ts';
import type { SandboxMode } from './settings.ts';

export interface Sandbox {
  /** Whether there is one here, for programs of which this is demanded. Found out once, by trying it. */
  state(mode?: SandboxMode): Promise<SandboxState>;
  /** The program as it is to be started instead. Where there is no sandbox and none is demanded, it is the program itself. */
  enter(program: Program, walls: Walls): Promise<Result<Entered, string>>;
  close(): Promise<void>;
}

export type SandboxState =
  /** `id` stands for what the walls are made of, for the record. */
  | { readonly kind: 'on'; readonly id: string }
  | { readonly kind: 'off'; readonly why: string; readonly fix?: string; readonly chosen: boolean };

export interface Program {
  readonly file: string;
  readonly args: readonly string[];
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** What there is to see and to reach, beyond the system itself. */
export interface Walls {
  /** Folders that may be written; they may be read, too. */
  readonly write: readonly string[];
  /** Folders that may be read although they lie where nothing is to be seen. */
  readonly read: readonly string[];
  /** Files that are run: they are seen, with what they need around them. */
  readonly programs?: readonly string[] | undefined;
  /** Files and folders that stay as they are, within what may be written. */
  readonly keep: readonly string[];
  /** Files that stay as they are, and are not made where they are not there: an empty file stands in their place meanwhile. */
  readonly unmade?: readonly string[] | undefined;
  /** Places that do not exist inside, within what may be read. */
  readonly hide: readonly string[];
  /** Hosts, `*.example.org` and `host:port` among them. */
  readonly hosts: readonly string[];
  /** What is demanded for this program, where it is not what the settings say. */
  readonly mode?: SandboxMode | undefined;
  /** It shares no temporary files: neither those of other programs, nor what else lies in the folder for them. */
  readonly apart?: boolean | undefined;
}

export interface Entered extends Program {
  /** The id of the sandbox; absent when the program stands in none. */
  readonly sandbox?: string | undefined;
  /** To be called when the program has ended: what it was refused, one line each. */
  left(): readonly string[];
}
