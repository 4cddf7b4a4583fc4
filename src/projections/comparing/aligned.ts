/**
 * Acts of two runs side by side. First what is the same in the same order; then calls of one turn that were made in another
 * order; then, between what is the same, what stands for each other: the same step, or another call of the same tool. The rest
 * is on one side only. Either side may be the first: the pairs are the same.
 */
import { limits } from '../../base/limits.ts';
import { type DoneAct, identityOf } from './acts.ts';
import { commonPlaces, type PlacePair } from './common.ts';

export interface ActPair {
  readonly a: DoneAct | undefined;
  readonly b: DoneAct | undefined;
  /** `moved`: the same, in another place of its turn. */
  readonly how: 'same' | 'moved' | 'changed' | 'only';
}

export interface Aligned {
  readonly pairs: readonly ActPair[];
  /** They differ by so much that they were only held against each other step by step. */
  readonly byStep: boolean;
}

export function alignActs(a: readonly DoneAct[], b: readonly DoneAct[]): Aligned {
  if (!isFirst(a, b)) {
    const { pairs, byStep } = alignInOrder(b, a);
    return {
      pairs: inOrder(
        pairs.map(({ a: other, b: one, how }) => ({ a: one, b: other, how })),
        a,
        b,
      ),
      byStep,
    };
  }
  const { pairs, byStep } = alignInOrder(a, b);
  return { pairs: inOrder(pairs, a, b), byStep };
}

/** Any order will do, as long as it is the same whichever is given first. */
function isFirst(a: readonly DoneAct[], b: readonly DoneAct[]): boolean {
  if (a.length !== b.length) return a.length < b.length;
  for (const [at, act] of a.entries()) {
    const [one, other] = [keyOf(act), b[at] === undefined ? '' : keyOf(b[at])];
    if (one !== other) return one < other;
  }
  return true;
}

const keyOf = (act: DoneAct): string => `${identityOf(act)} ${act.step} ${act.turn} ${act.result?.digest ?? ''}`;

function alignInOrder(a: readonly DoneAct[], b: readonly DoneAct[]): Aligned {
  const [one, other] = [a.map(identityOf), b.map(identityOf)];
  const found = commonPlaces(one, other, limits.comparedEdits);
  const same = found ?? sameSteps(a, b);
  const partner = new Map<number, number>(same);
  const taken = new Set(same.map(([, place]) => place));
  const moved = movedInTurns(a, b, partner, taken);
  const pairs: ActPair[] = same.map(([left, right]) => ({ a: a[left], b: b[right], how: 'same' }));
  for (const [left, right] of moved) {
    pairs.push({ a: a[left], b: b[right], how: 'moved' });
    partner.set(left, right);
    taken.add(right);
  }
  for (const [left, right] of standingForEachOther(a, b, same, partner, taken)) {
    pairs.push({ a: a[left], b: b[right], how: 'changed' });
    partner.set(left, right);
    taken.add(right);
  }
  a.forEach((act, at) => void (partner.has(at) || pairs.push({ a: act, b: undefined, how: 'only' })));
  b.forEach((act, at) => void (taken.has(at) || pairs.push({ a: undefined, b: act, how: 'only' })));
  return { pairs, byStep: found === undefined };
}

/** Where they differ by too much: the same act at the same step, as long as both go on in the same order. */
function sameSteps(a: readonly DoneAct[], b: readonly DoneAct[]): readonly PlacePair[] {
  const places = new Map(b.map((act, at) => [`${act.step} ${identityOf(act)}`, at]));
  const pairs: PlacePair[] = [];
  let last = -1;
  a.forEach((act, at) => {
    const place = places.get(`${act.step} ${identityOf(act)}`);
    if (place === undefined || place <= last) return;
    pairs.push([at, place]);
    last = place;
  });
  return pairs;
}

/** The calls of one answer have no order that means anything. */
function movedInTurns(
  a: readonly DoneAct[],
  b: readonly DoneAct[],
  partner: ReadonlyMap<number, number>,
  taken: ReadonlySet<number>,
): readonly PlacePair[] {
  const turns = new Map<number, Set<number>>();
  for (const [left, right] of partner) {
    const [one, other] = [a[left]?.turn ?? 0, b[right]?.turn ?? 0];
    if (one > 0 && other > 0) turns.set(one, (turns.get(one) ?? new Set()).add(other));
  }
  const open = new Map<string, number[]>();
  b.forEach((act, at) => {
    if (taken.has(at) || act.kind !== 'call') return;
    listIn(open, `${act.turn} ${identityOf(act)}`).push(at);
  });
  return a.flatMap((act, at): PlacePair[] => {
    if (partner.has(at) || act.kind !== 'call') return [];
    for (const turn of turns.get(act.turn) ?? []) {
      const place = open.get(`${turn} ${identityOf(act)}`)?.shift();
      if (place !== undefined) return [[at, place]];
    }
    return [];
  });
}

/** Between two pairs of the same acts: the same tool at the same step, then the same tool, then the same step. */
function standingForEachOther(
  a: readonly DoneAct[],
  b: readonly DoneAct[],
  same: readonly PlacePair[],
  partner: ReadonlyMap<number, number>,
  taken: ReadonlySet<number>,
): readonly PlacePair[] {
  const pairs: PlacePair[] = [];
  let [left, right] = [0, 0];
  for (const [nextLeft, nextRight] of [...same, [a.length, b.length] as const]) {
    let ones = a.slice(left, nextLeft).flatMap((act, at) => (partner.has(left + at) ? [] : [{ act, at: left + at }]));
    let others = b.slice(right, nextRight).flatMap((act, at) => (taken.has(right + at) ? [] : [{ act, at: right + at }]));
    for (const likeness of LIKENESSES) {
      const open = new Map<string, number[]>();
      for (const { act, at } of others) listIn(open, likeness(act)).push(at);
      const found = ones.flatMap(({ act, at }): PlacePair[] => {
        const place = open.get(likeness(act))?.shift();
        return place === undefined ? [] : [[at, place]];
      });
      pairs.push(...found);
      const gone = new Map(found);
      const used = new Set(gone.values());
      ones = ones.filter(({ at }) => !gone.has(at));
      others = others.filter(({ at }) => !used.has(at));
    }
    [left, right] = [nextLeft + 1, nextRight + 1];
  }
  return pairs;
}

const LIKENESSES: readonly ((act: DoneAct) => string)[] = [
  ({ kind, name, step }) => `${kind} ${name} ${step}`,
  ({ kind, name }) => `${kind} ${name}`,
  ({ kind, step }) => `${kind} ${step}`,
];

/** As the first side has them; what only the other has stands behind what it has before it. */
function inOrder(pairs: readonly ActPair[], a: readonly DoneAct[], b: readonly DoneAct[]): readonly ActPair[] {
  const ofA = new Map(pairs.flatMap((pair) => (pair.a === undefined ? [] : [[pair.a, pair] as const])));
  const ofB = new Map(pairs.flatMap((pair) => (pair.b === undefined ? [] : [[pair.b, pair] as const])));
  const behind = new Map<DoneAct | undefined, ActPair[]>();
  let last: DoneAct | undefined;
  for (const act of b) {
    const pair = ofB.get(act);
    if (pair?.a !== undefined) last = pair.how === 'moved' ? last : pair.a;
    else if (pair !== undefined) listIn(behind, last).push(pair);
  }
  return [
    ...(behind.get(undefined) ?? []),
    ...a.flatMap((act) => [...(ofA.has(act) ? [ofA.get(act) as ActPair] : []), ...(behind.get(act) ?? [])]),
  ];
}

function listIn<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
