/**
 * What a run did, one act after the other, as it is held against what another did: calls with their arguments and results, what
 * people answered, runs that a pattern started, decisions, failures, and the end. Of texts only a digest and the beginning are
 * kept, so that a long run fits into memory. Which events count is in `played.ts`.
 */
import type { EventId, RunId } from '../../base/ids.ts';
import { canonicalJson, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';

/** `words` are prose: compared when that is asked for. */
export type ActKind = 'call' | 'start' | 'decision' | 'answer' | 'failure' | 'words' | 'end';

/** Something that is the same as another when its digest is. */
export interface KeptText {
  readonly digest: string;
  /** Its beginning, as it is shown. */
  readonly text: string;
  /** There is more of it than that. */
  readonly cut: boolean;
}

export interface DoneAct {
  readonly run: RunId;
  readonly kind: ActKind;
  /** A tool, an agent, or the type of an event. */
  readonly name: string;
  readonly step: string;
  readonly turn: number;
  readonly event: EventId;
  readonly position: number;
  /** Arguments, a decision, an answer. */
  given: KeptText;
  /** What a call came to, and whether as a failure. */
  result: (KeptText & { readonly event: EventId; readonly failed: boolean }) | null;
  /** What a person said to what the call had asked. */
  readonly answers: Map<string, KeptText & { readonly event: EventId }>;
  /** Runs that the act began, in their order. */
  readonly began: RunId[];
}

/** What makes texts comparable: chance and places are taken out, and a digest stands for the rest. */
export interface TextKeeping {
  keep(value: Json | undefined): KeptText;
}

const IDS = /\b(ses|run|thr)_[0-9a-z]{20}\b/g;
const FENCE_WORDS = /(<\/?[a-z][a-z-]*-)[0-9a-z]{12}>/g;

/** `folders`: where the run worked, in a fork another place than in its source; they read as `.`. */
export function createKeeping(digest: (text: string) => string, folders: () => readonly string[]): TextKeeping {
  return {
    keep(value) {
      const raw = typeof value === 'string' ? value : (canonicalJson(value) ?? '');
      let text = raw.replace(IDS, '$1_…').replace(FENCE_WORDS, '$1…>');
      for (const folder of folders()) text = text.replaceAll(folder, '.');
      const most = limits.comparedCharacters;
      return { digest: digest(text), text: text.slice(0, most), cut: text.length > most };
    },
  };
}

/** Two acts of equal identity are the same act; results, answers and what it began are looked at then. */
export const identityOf = ({ kind, name, given }: DoneAct): string =>
  kind === 'end' || kind === 'start' ? `${kind} ${name}` : `${kind} ${name} ${given.digest}`;
