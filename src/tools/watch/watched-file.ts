/** What comparing knows of one file, before and after. */

export interface WatchedFile {
  readonly sha256: string;
  readonly executable: boolean;
  /** Present while the text is kept for diffs; absent for what is large, binary or no file. */
  readonly text?: string | undefined;
  readonly binary: boolean;
}

export interface WatchedChange {
  readonly path: string;
  readonly before: WatchedFile | undefined;
  readonly after: WatchedFile | undefined;
  /** It is run by its name and was replaced, not by installing: what is wrong about it. */
  readonly program?: string | undefined;
}
