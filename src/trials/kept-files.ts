/**
 * The files of a workspace as a run found them, kept beside its test: from what they hold now, back over what was changed
 * since.
 */
import { rm } from 'node:fs/promises';
import type { Environment } from '../base/environment.ts';
import { TroupeError } from '../base/errors.ts';
import { limits } from '../base/limits.ts';
import { holdsSecret, isSecretFileName } from '../base/secrets/files.ts';
import type { EventOf } from '../events/envelope.ts';
import type { Ledger } from '../ledger/port.ts';
import { copyPastFiles } from '../workspaces/past/past-folder.ts';
import { TESTS_FOLDER } from './read-files.ts';

/** A kept test and what is checked of it is nothing that an agent is to find. */
const OF_TESTS = new RegExp(`^${TESTS_FOLDER}/[^/]+\\.ya?ml$`, 'u');

const NOTHING = new Uint8Array();

export interface FilesKeeping {
  /** For the programs that say which files count. */
  readonly environment: Environment;
  redact(text: string): string;
}

/** `folder`: where they are put, which is not there yet. Gives those that are left out because they may hold secrets. */
export async function keepFiles(
  ledger: Pick<Ledger, 'read' | 'payload'>,
  started: EventOf<'run.started'>,
  { environment, redact }: FilesKeeping,
  folder: string,
): Promise<readonly string[]> {
  const { session_id: session, position, payload } = started;
  const [first] = await ledger.read({ session, types: ['session.started'], limit: 1 });
  const workspace = payload.workspace ?? (first?.event_type === 'session.started' ? first.payload.workspace : undefined);
  if (workspace === undefined)
    throw new TroupeError('usage', `Where ${started.run_id} worked is not in the ledger any more`, {
      fix: 'Name a folder that is there: --files',
    });
  const secret = new Set<string>();
  const copied = await copyPastFiles(
    environment,
    {
      ...{ ledger, session, position, workspace, name: '' },
      leavesOut: async (path, bytes) => {
        if (OF_TESTS.test(path)) return true;
        const isSecret = isSecretFileName(path.split('/')) || holdsSecret(await bytes().catch(() => NOTHING), redact);
        if (isSecret) secret.add(path);
        return isSecret;
      },
      maxFiles: { limit: 'keptFiles', count: limits.keptFiles },
      maxBytes: { limit: 'keptFileBytes', count: limits.keptFileBytes },
    },
    folder,
  );
  if (copied.ok) return [...secret].toSorted();
  await rm(folder, { recursive: true, force: true });
  const { message } = copied.error;
  throw new TroupeError('usage', message, {
    fix: 'Make a folder in tests/ with what the agent is to find, and name it: --files',
  });
}
