/** What is on the screen of `troupe attach`, before it is drawn. */
import type { RunId } from '../../base/ids.ts';
import type { OpenWait } from '../../engine/port.ts';
import { type InboxItem, inboxKey } from '../../front/inbox.ts';
import type { RunNode, RunTree } from '../../projections/run-tree.ts';
import { subtree } from '../../projections/run-tree.ts';
import type { LinePrompt } from '../view/run-view.ts';
import type { TypedDraft } from './draft.ts';

export type Mode =
  | { readonly kind: 'looking' }
  | { readonly kind: 'help'; readonly page: number }
  /** The run is worked on here, so leaving stops it: whether that is meant. */
  | { readonly kind: 'leaving' }
  | { readonly kind: 'writing'; readonly draft: TypedDraft }
  /** All that waits in the project; the one that is marked, or the oldest once that is gone. */
  | { readonly kind: 'inbox'; readonly marked: string | undefined }
  /** A question and what was said about it. Without a prompt no key counts: nobody can have read it yet. */
  | {
      readonly kind: 'asked';
      readonly said: readonly string[];
      readonly prompt: LinePrompt | undefined;
      readonly draft: TypedDraft;
      /** How many rows up from the end of it somebody looks. */
      readonly back: number;
    };

/** Who works on the run. */
export type WorkedOnBy = { readonly by: 'here' | 'nobody' | 'ended' } | { readonly by: 'elsewhere'; readonly who: string };

export interface AttachState {
  readonly tree: RunTree;
  readonly root: RunId;
  /** Whose words are shown, and who is written to. */
  readonly selected: RunId;
  /** Those words, drawn for the width that there is. */
  readonly body: readonly string[];
  /** How many rows up from their end somebody looks. */
  readonly back: number;
  readonly waits: readonly OpenWait[];
  /** Everything that waits for a person in the project, of this run and of others, oldest first. */
  readonly inbox: readonly InboxItem[];
  /** How the command line is called, for what is done outside this screen. */
  readonly call: string;
  readonly driver: WorkedOnBy;
  readonly notice: string | undefined;
  readonly mode: Mode;
}

/** The runs of the tree from the top, each with how deep it stands. */
export function runsOf({
  tree,
  root,
}: Pick<AttachState, 'tree' | 'root'>): readonly { readonly node: RunNode; readonly depth: number }[] {
  const depths = new Map<RunId, number>([[root, 0]]);
  return subtree(tree, root).map((node) => {
    const depth = node.run === root ? 0 : (depths.get(node.parent ?? root) ?? 0) + 1;
    depths.set(node.run, depth);
    return { node, depth };
  });
}

/** What waits in other runs than this one. */
export const elsewhereIn = ({ inbox, root }: Pick<AttachState, 'inbox' | 'root'>): readonly InboxItem[] =>
  inbox.filter((item) => item.root !== root);

/** Where in the list the mark stands. */
export const markedAt = (inbox: readonly InboxItem[], marked: string | undefined): number =>
  Math.max(
    0,
    inbox.findIndex((item) => inboxKey(item) === marked),
  );

/** The next run of the tree, or the one before; around its ends. */
export function neighbour(state: AttachState, step: 1 | -1): RunId {
  const runs = runsOf(state).map(({ node }) => node.run);
  const at = Math.max(0, runs.indexOf(state.selected));
  return runs[(at + step + runs.length) % Math.max(1, runs.length)] ?? state.root;
}
