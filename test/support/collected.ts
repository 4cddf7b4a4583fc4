/** What is still held: everything that nobody holds any more is collected first. */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** Follows objects without holding them. */
export function followed() {
  const all: WeakRef<object>[] = [];
  return {
    follow: (item: object): void => void all.push(new WeakRef(item)),
    count: (): number => all.length,
    /** How many of them somebody holds. What was made or looked at in the current task counts as held, so that one ends first. */
    async held(): Promise<number> {
      await new Promise((resolve) => setImmediate(resolve));
      collect();
      return all.filter((one) => one.deref() !== undefined).length;
    },
  };
}
