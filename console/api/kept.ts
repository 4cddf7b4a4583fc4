/** What a page brings along when it is a file and not a page of a server: then nothing is asked for, and nothing can be done. */
import type { Result } from '../../src/base/result.ts';
import type { Query, Refusal } from './client.ts';

export interface Kept {
  get(path: string, query: Query): Promise<Result<unknown, Refusal>>;
  /** `undefined`: the file does not hold them. */
  bytes(ref: string): Uint8Array<ArrayBuffer> | undefined;
  /** Those of an artifact, by its reference. */
  artifact(ref: string): Uint8Array<ArrayBuffer> | undefined;
}

let brought: Kept | undefined;

export function bringAlong(kept: Kept): void {
  brought = kept;
}

export const keptHere = (): Kept | undefined => brought;
/** Whether this page is a file: it shows what was, and nobody can be told anything from here. */
export const isFile = (): boolean => brought !== undefined;
