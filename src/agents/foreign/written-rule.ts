/** How a rule stands in another tool's files: to say so where it turns out later that it stands for nothing. */
import type { SourcePlace } from '../text/diagnostics.ts';

export interface WrittenRule {
  readonly word: string;
  readonly place: SourcePlace;
}

/** A right of ours for one tool of a server, and what it was made of. */
export interface WrittenRight extends WrittenRule {
  readonly right: string;
  /** It names servers by a star, and is for whichever of them have such a tool. */
  readonly isForMany: boolean;
}
