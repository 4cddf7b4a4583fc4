/**
 * What the runs of a driven session know of each other's spending. A budget that had no room once is out for good: nobody below
 * it asks a model again, so a tree ends with what it has instead of trying on. What is reserved by calls that are under way is
 * only lent: whoever finds no room beside it waits until one of them is settled.
 */

/** A budget that has nothing left, and what was said about it. */
export interface Exhausted {
  /** A run's id, or `project`. */
  readonly scope: string;
  readonly message: string;
  /** Of what nothing is left, where that is known. */
  readonly unit?: string | undefined;
}

export interface Spending {
  /** This budget is out. */
  note(exhausted: Exhausted): void;
  /** The budget of the run, or of one above it, that is out. */
  exhausted(node: { readonly scopes: readonly { readonly scope: string }[] }): Exhausted | undefined;
  /** A call that counts against these budgets is under way, until the result is called. */
  lend(scopes: readonly string[]): () => void;
  /** Resolves when a call that counts against this budget is settled; `undefined` when none is under way. */
  givenBack(scope: string): Promise<void> | undefined;
}

export interface Spends {
  readonly spending: Spending;
}

export function createSpending(): Spending {
  const out = new Map<string, Exhausted>();
  const underWay = new Map<string, Set<Promise<void>>>();
  return {
    note(exhausted) {
      if (!out.has(exhausted.scope)) out.set(exhausted.scope, exhausted);
    },
    exhausted: ({ scopes }) => scopes.map(({ scope }) => out.get(scope)).find((one) => one !== undefined),
    lend(scopes) {
      const { promise, resolve } = Promise.withResolvers<void>();
      for (const scope of scopes) underWay.set(scope, (underWay.get(scope) ?? new Set()).add(promise));
      return () => {
        for (const scope of scopes) underWay.get(scope)?.delete(promise);
        resolve();
      };
    },
    givenBack(scope) {
      const calls = underWay.get(scope);
      return calls === undefined || calls.size === 0 ? undefined : Promise.race(calls);
    },
  };
}
