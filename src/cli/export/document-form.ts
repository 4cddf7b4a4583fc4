/** A conversation as a document: what stands at its head, and how each part of it is written. */
import type { Entry } from './entries.ts';

export interface DocumentHead {
  readonly title: string;
  /** One line each: which session, when, what belongs to it. */
  readonly facts: readonly string[];
  /** The runs as they came about. */
  readonly tree: string;
  readonly costs: string;
}

/** Writes a document piece by piece. Whatever comes from outside is made harmless here. */
export interface DocumentForm {
  head(head: DocumentHead): string;
  entry(entry: Entry): string;
  readonly foot: string;
}
