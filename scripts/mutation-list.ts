/**
 * Ways to break the core on purpose, each with the invariant that it breaks and the test that must see it. `find` occurs exactly
 * once in its file. scripts/mutations.ts tries them all and writes the table in docs/testing.md.
 */
import { a2aMutations } from './mutation-list-a2a.ts';
import { acpMutations } from './mutation-list-acp.ts';
import { approvalMutations } from './mutation-list-approvals.ts';
import { aroundMutations } from './mutation-list-around.ts';
import { consoleMutations } from './mutation-list-console.ts';
import { dispatchMutations } from './mutation-list-dispatch.ts';
import { engineMutations } from './mutation-list-engine.ts';
import { executorClientMutations } from './mutation-list-executor-client.ts';
import { executorMutations } from './mutation-list-executors.ts';
import { httpMutations } from './mutation-list-http.ts';
import { keyboardMutations } from './mutation-list-keyboard.ts';
import { ledgerMutations } from './mutation-list-ledger.ts';
import { peerMutations } from './mutation-list-peers.ts';
import { placeMutations } from './mutation-list-places.ts';
import { proofMutations } from './mutation-list-proof.ts';
import { recordedMutations } from './mutation-list-recorded.ts';
import { taskMutations } from './mutation-list-tasks.ts';
import { workspaceMutations } from './mutation-list-workspaces.ts';

export interface Mutation {
  readonly invariant: string;
  /** What is done to the code, in words. */
  readonly change: string;
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  readonly caughtBy: {
    readonly file: string;
    /** A part of the test's name, with those of the blocks it is in. */
    readonly test: string;
  };
}

export const mutations: readonly Mutation[] = [
  ...ledgerMutations,
  ...engineMutations,
  ...aroundMutations,
  ...approvalMutations,
  ...keyboardMutations,
  ...httpMutations,
  ...consoleMutations,
  ...dispatchMutations,
  ...peerMutations,
  ...taskMutations,
  ...proofMutations,
  ...acpMutations,
  ...a2aMutations,
  ...executorMutations,
  ...executorClientMutations,
  ...placeMutations,
  ...recordedMutations,
  ...workspaceMutations,
];

const BEGIN = '<!-- mutations: begin -->';
const END = '<!-- mutations: end -->';

/** The table, between its markers. */
export function mutationTable(): string {
  const rows = mutations.map(
    ({ invariant, change, file, caughtBy }) =>
      `| ${cell(invariant)} | ${cell(change)} (\`${file.replace('src/', '')}\`) | ${cell(caughtBy.test)} (\`${caughtBy.file}\`) |`,
  );
  return [BEGIN, '| invariant | mutation | caught by |', '|---|---|---|', ...rows, END].join('\n');
}

const cell = (text: string): string => text.replaceAll('|', '\\|');

/** The page with the table of now; `undefined` when its markers are gone. */
export function pageWithMutations(page: string): string | undefined {
  const [begin, end] = [page.indexOf(BEGIN), page.indexOf(END)];
  return begin === -1 || end < begin ? undefined : page.slice(0, begin) + mutationTable() + page.slice(end + END.length);
}
