/** A folder of its own for each test that needs one, and the context that tools are called with. */

import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../../src/base/ids.ts';
import type { ToolContext } from '../../src/tools/port.ts';

export interface TestWorkspace extends AsyncDisposable {
  readonly path: string;
  readonly context: ToolContext;
}

export async function testWorkspace(signal: AbortSignal = new AbortController().signal): Promise<TestWorkspace> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'troupe-tools-')));
  return {
    path,
    context: { workspace: path, signal, run: 'run_test' as RunId, idempotencyKey: 'run_test/turn/1/tool/0' },
    [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }),
  };
}
