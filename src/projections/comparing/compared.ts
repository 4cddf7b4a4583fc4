/**
 * Two runs held against each other, with everything below them: under which terms they worked, where they parted first, what else
 * they did otherwise, and what came of it. Words of agents count only when that is asked for.
 */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { DoneAct, KeptText } from './acts.ts';
import { type ActPair, alignActs } from './aligned.ts';
import type { Played, PlayedRun } from './played.ts';

/** One side of a step, as it is shown. */
export interface ComparedAct {
  readonly run: RunId;
  readonly agent: string;
  /** Down to it in the tree of runs, such as `turn/1/tool/0/reviewer/turn/3/tool/0`. */
  readonly path: string;
  readonly event: string;
  readonly kind: DoneAct['kind'];
  readonly name: string;
  readonly given: string;
  readonly result: string | null;
  readonly failed: boolean;
  readonly answer: string | null;
  /** Some of these texts are longer than what is kept of them. */
  readonly cut: boolean;
}

/**
 * `changed`: something else was done; `answer`, `result`: the same was done, and a person or the outside said something else;
 * `only_a`, `only_b`: the other side has nothing of the kind.
 */
export interface Divergence {
  readonly kind: 'changed' | 'answer' | 'result' | 'only_a' | 'only_b';
  readonly a: ComparedAct | null;
  readonly b: ComparedAct | null;
  /** How much was done in the runs that it began, where the other side has none. */
  readonly below: number;
}

/** What is the same on both sides stands together. */
export interface SameSteps {
  readonly kind: 'same';
  readonly count: number;
  /** How many of them stand in another place of their turn. */
  readonly moved: number;
  readonly a: ComparedAct;
  readonly b: ComparedAct;
}

export interface ComparedTerm {
  readonly path: string;
  readonly what: 'agent' | 'prompt' | 'model' | 'system' | 'tools' | 'settings';
  readonly a: string;
  readonly b: string;
}

export interface StepCounts {
  same: number;
  moved: number;
  changed: number;
  answers: number;
  results: number;
  onlyA: number;
  onlyB: number;
}

export interface ComparedFile {
  readonly path: string;
  readonly how: 'same' | 'different' | 'only_a' | 'only_b';
  readonly a: string | null;
  readonly b: string | null;
}

export interface ComparedPlays {
  readonly terms: readonly ComparedTerm[];
  readonly first: Divergence | null;
  readonly steps: readonly (SameSteps | Divergence)[];
  readonly counts: StepCounts;
  /** Divergences that are counted and not among the steps. */
  readonly left: number;
  /** Some runs differ by so much that they were held against each other step by step. */
  readonly byStep: boolean;
  /** Whether what they answered in the end is the same text; `null` where not both have ended. */
  readonly sameAnswer: boolean | null;
  readonly files: readonly ComparedFile[];
}

interface Comparing {
  readonly a: Played;
  readonly b: Played;
  readonly prose: boolean;
  readonly terms: ComparedTerm[];
  readonly steps: (SameSteps | Divergence)[];
  readonly counts: StepCounts;
  left: number;
  byStep: boolean;
}

export function comparePlays(a: Played, b: Played, prose: boolean): ComparedPlays {
  const counts = { same: 0, moved: 0, changed: 0, answers: 0, results: 0, onlyA: 0, onlyB: 0 };
  const all: Comparing = { a, b, prose, terms: [], steps: [], counts, left: 0, byStep: false };
  compareRuns(all, a.runs.get(a.root), b.runs.get(b.root));
  const first = all.steps.find((step): step is Divergence => step.kind !== 'same') ?? null;
  const { terms, steps, left, byStep } = all;
  return { terms, first, steps, counts, left, byStep, sameAnswer: sameAnswer(a, b), files: compareFiles(a, b) };
}

export const differencesIn = ({ changed, answers, results, onlyA, onlyB }: StepCounts): number =>
  changed + answers + results + onlyA + onlyB;

function compareRuns(all: Comparing, a: PlayedRun | undefined, b: PlayedRun | undefined): void {
  if (a === undefined || b === undefined) return;
  compareTerms(all, a, b);
  const acts = (run: PlayedRun): readonly DoneAct[] =>
    [...run.acts.values()].filter(({ kind }) => all.prose || kind !== 'words').toSorted(inTime);
  const { pairs, byStep } = alignActs(acts(a), acts(b));
  all.byStep ||= byStep;
  for (const pair of pairs) comparePair(all, pair, a, b);
}

/** The calls of an answer are one event: they stay in the order in which they were asked for. */
const inTime = (one: DoneAct, other: DoneAct): number => one.position - other.position;

function comparePair(all: Comparing, pair: ActPair, runA: PlayedRun, runB: PlayedRun): void {
  const { a, b, how } = pair;
  const shown = { a: a === undefined ? null : shownAct(runA, a), b: b === undefined ? null : shownAct(runB, b) };
  if (a === undefined || b === undefined || shown.a === null || shown.b === null) {
    const [kind, side, act] = b === undefined ? (['only_a', all.a, a] as const) : (['only_b', all.b, b] as const);
    const below = act === undefined ? 0 : act.began.reduce((sum, run) => sum + actsBelow(side, run, all.prose), 0);
    all.counts[kind === 'only_a' ? 'onlyA' : 'onlyB'] += 1 + below;
    diverge(all, { kind, ...shown, below });
    return;
  }
  if (how === 'changed') {
    all.counts.changed += 1;
    diverge(all, { kind: 'changed', ...shown, below: 0 });
  } else if (!sameAnswers(a, b)) {
    all.counts.answers += 1;
    diverge(all, { kind: 'answer', ...shown, below: 0 });
  }
  a.began.forEach((run, at) => {
    const other = b.began[at];
    if (other === undefined) all.counts.onlyA += actsBelow(all.a, run, all.prose);
    else compareRuns(all, all.a.runs.get(run), all.b.runs.get(other));
  });
  for (const run of b.began.slice(a.began.length)) all.counts.onlyB += actsBelow(all.b, run, all.prose);
  if (how === 'changed' || !sameAnswers(a, b)) return;
  if (!sameResult(all, a, b)) {
    all.counts.results += 1;
    diverge(all, { kind: 'result', ...shown, below: 0 });
    return;
  }
  all.counts.same += 1;
  if (how === 'moved') all.counts.moved += 1;
  addSame(all, how === 'moved', { a: shown.a, b: shown.b });
}

/** What a sub-agent answered is its words: what it did stands below the call. */
function sameResult({ prose }: Comparing, { result: a, began }: DoneAct, { result: b, began: others }: DoneAct): boolean {
  if (a === null || b === null) return a === b;
  if (a.failed !== b.failed) return false;
  return a.digest === b.digest || (!prose && began.length > 0 && others.length > 0);
}

function sameAnswers({ answers: a }: DoneAct, { answers: b }: DoneAct): boolean {
  const texts = (answers: DoneAct['answers']): string => [...answers.values()].map(({ digest }) => digest).join(' ');
  return texts(a) === texts(b);
}

function diverge(all: Comparing, divergence: Divergence): void {
  const isFull = all.steps.length >= limits.comparedSteps;
  if (isFull) all.left += 1;
  else all.steps.push(divergence);
}

function addSame(all: Comparing, isMoved: boolean, pair: Pick<SameSteps, 'a' | 'b'>): void {
  const last = all.steps.at(-1);
  const moved = isMoved ? 1 : 0;
  if (last?.kind === 'same') all.steps[all.steps.length - 1] = { ...last, count: last.count + 1, moved: last.moved + moved };
  else if (all.steps.length < limits.comparedSteps) all.steps.push({ kind: 'same', count: 1, moved, ...pair });
}

function actsBelow(side: Played, run: RunId, prose: boolean): number {
  const acts = [...(side.runs.get(run)?.acts.values() ?? [])].filter(({ kind }) => prose || kind !== 'words');
  return acts.reduce((sum, { began }) => sum + 1 + began.reduce((more, below) => more + actsBelow(side, below, prose), 0), 0);
}

function shownAct({ run, agent, path }: PlayedRun, act: DoneAct): ComparedAct {
  const { event, kind, name, step, given, result, answers } = act;
  const said = [...answers.values()];
  return {
    ...{ run, agent, path: [path, step].filter((part) => part !== '').join('/'), event, kind, name, given: given.text },
    ...{ result: result?.text ?? null, failed: result?.failed ?? false },
    answer: said.length === 0 ? null : said.map(({ text }) => text).join('\n'),
    cut: [given, ...(result === null ? [] : [result]), ...said].some(({ cut }) => cut),
  };
}

function compareTerms({ terms, prose }: Comparing, a: PlayedRun, b: PlayedRun): void {
  const add = (what: ComparedTerm['what'], one: string, other: string): void => {
    if (terms.length < limits.comparedTerms) terms.push({ path: a.path, what, a: one, b: other });
  };
  const differ = (what: ComparedTerm['what'], one: KeptText | undefined, other: KeptText | undefined): boolean => {
    if (one === undefined || other === undefined || one.digest === other.digest) return false;
    add(what, ...apart(one.text, other.text));
    return true;
  };
  if (a.agent !== b.agent) add('agent', a.agent, b.agent);
  // What runs below are told follows from calls, or is made by patterns of words.
  if (a.path === '' || prose) differ('prompt', a.prompt, b.prompt);
  const models = ({ models: names }: PlayedRun): string => [...names].toSorted().join(', ');
  if (a.models.size > 0 && b.models.size > 0 && models(a) !== models(b)) add('model', models(a), models(b));
  const isOther = [differ('system', a.setup?.system, b.setup?.system), differ('tools', a.setup?.tools, b.setup?.tools)].includes(
    true,
  );
  if (!isOther && a.agent === b.agent) differ('settings', a.setup?.definition, b.setup?.definition);
}

const BEFORE_CHARACTERS = 40;

/** Of long texts that begin alike, what is another. */
export function apart(a: string, b: string): readonly [string, string] {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at += 1;
  if (at <= 2 * BEFORE_CHARACTERS) return [a, b];
  const from = at - BEFORE_CHARACTERS;
  return [`…${a.slice(from)}`, `…${b.slice(from)}`];
}

function sameAnswer(a: Played, b: Played): boolean | null {
  const report = ({ runs, root }: Played): string | undefined => runs.get(root)?.acts.get('report')?.given.digest;
  const [one, other] = [report(a), report(b)];
  return one === undefined || other === undefined ? null : one === other;
}

function compareFiles({ files: a }: Played, { files: b }: Played): readonly ComparedFile[] {
  const paths = [...new Set([...a.keys(), ...b.keys()])].toSorted();
  return paths.map((path) => {
    const [one, other] = [a.get(path), b.get(path)];
    const how = one === undefined ? 'only_b' : other === undefined ? 'only_a' : one.after === other.after ? 'same' : 'different';
    return { path, how, a: one?.after ?? null, b: other?.after ?? null };
  });
}
