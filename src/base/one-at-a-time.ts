/** Work under one name happens one after the other, as it was asked for; under different names side by side. */
export function oneAtATime(): <Value>(name: string, work: () => Promise<Value>) => Promise<Value> {
  const last = new Map<string, Promise<unknown>>();
  return async (name, work) => {
    const mine = (last.get(name) ?? Promise.resolve()).then(work);
    const over = mine.catch(() => undefined);
    last.set(name, over);
    try {
      return await mine;
    } finally {
      if (last.get(name) === over) last.delete(name);
    }
  };
}
