/**
 * The one exception class of the product. `code` is stable and meant for programs, `message` says what is wrong,
 * `fix` says what to do about it. Expected outcomes are `Result`s or unions; this is for the edge and for bugs.
 */
export class TroupeError extends Error {
  readonly code: string;
  readonly fix: string | undefined;

  constructor(code: string, message: string, options: { readonly fix?: string | undefined; readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'TroupeError';
    this.code = code;
    this.fix = options.fix;
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof Error) return error.message;
  try {
    return String(error);
  } catch {
    // An object without a prototype, or with one that fails, has no words.
    return 'something that has no words for itself';
  }
}

/** The `code` that Node and SQLite put on their errors, such as `ENOENT`. */
export function codeOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null || !('code' in error)) return undefined;
  return typeof error.code === 'string' ? error.code : undefined;
}

/** Closes a switch over a union: the compiler complains here when a case is missing. */
export function unreachable(value: never): never {
  throw new TroupeError('bug', `Unexpected value: ${JSON.stringify(value)}`);
}

/** States what must hold. A failure is a bug in Troupe, never the user's fault. */
export function assert(condition: boolean, message: string): asserts condition {
  if (!condition) throw new TroupeError('bug', `This should never happen: ${message}`);
}
