/** A folder of its own for each test that needs one, and the context that tools are called with. */

import { createHash } from 'node:crypto';
import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunId } from '../../src/base/ids.ts';
import type { SeenFiles, ToolContext } from '../../src/tools/port.ts';

export interface TestWorkspace extends AsyncDisposable {
  readonly path: string;
  readonly context: ToolContext;
}

export async function testWorkspace(signal: AbortSignal = new AbortController().signal): Promise<TestWorkspace> {
  const path = await realpath(await mkdtemp(join(tmpdir(), 'troupe-tools-')));
  const context = testContext(path, signal);
  return { path, context, [Symbol.asyncDispose]: () => rm(path, { recursive: true, force: true }) };
}

export function testContext(workspace: string, signal: AbortSignal = new AbortController().signal): ToolContext {
  return {
    workspace,
    signal,
    run: 'run_test' as RunId,
    idempotencyKey: 'run_test/turn/1/tool/0',
    seen: upToDate(workspace),
    redact: (text) => text,
  };
}

/** Somebody who has seen every file as it is now. */
function upToDate(folder: string): SeenFiles {
  return {
    version: async (path) => {
      const bytes = await readFile(join(folder, path)).catch(() => undefined);
      return bytes === undefined ? null : createHash('sha256').update(bytes).digest('hex');
    },
    unread: async () => undefined,
    changedBy: async () => undefined,
  };
}

/** Somebody who has seen nothing. */
export const unseen: SeenFiles = {
  version: async () => undefined,
  unread: async () => undefined,
  changedBy: async () => undefined,
};
