/**
 * Byte code beside the sources is run in their place when only a date and a size fit, and nobody sees that it is something else.
 * Tests are therefore run with a cache of their own, which is empty when they begin and goes when they end.
 */
import { randomUUID } from 'node:crypto';
import { rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface PythonCache extends Disposable {
  readonly variables: Readonly<Record<string, string>>;
}

/** Python makes the folder itself, where it needs one. */
export function emptyPythonCache(): PythonCache {
  const folder = join(tmpdir(), `troupe-pycache-${randomUUID()}`);
  return {
    variables: { PYTHONPYCACHEPREFIX: folder },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
}
