/**
 * "Done" is checked. What a report claims is compared with what the runtime itself has seen: a file's recorded change
 * whose checksum still matches, a command that ended with 0 after the last change. Agents cannot write such events.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import type { Claim, Payloads } from '../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../events/envelope.ts';
import { readAll } from './read-all.ts';
import type { RunNode, Tree } from './tree.ts';

type Checked = Payloads['evidence.checked'];
type Verdict = Checked['claims'][number];

export async function checkClaims(claims: readonly Claim[], events: readonly LedgerEvent[], workspace: string): Promise<Checked> {
  const verdicts: Verdict[] = [];
  for (const claim of claims) {
    verdicts.push(claim.kind === 'file' ? await checkFile(claim, events, workspace) : checkCommand(claim, events));
  }
  return { claims: verdicts, verified: verdicts.every((verdict) => verdict.backed) };
}

async function checkFile(
  claim: Extract<Claim, { kind: 'file' }>,
  events: readonly LedgerEvent[],
  workspace: string,
): Promise<Verdict> {
  const path = normalize(claim.path);
  const change = events.findLast((event) => event.event_type === 'file.diff' && normalize(event.payload.path) === path);
  if (change === undefined) return { claim, backed: false, why: 'no recorded change of this file' };
  const { after } = (change as EventOf<'file.diff'>).payload;
  const now = await checksum(join(workspace, path));
  if (now !== after) return { claim, backed: false, by: change.position, why: 'the file has changed since, or is gone' };
  return { claim, backed: true, by: change.position, why: 'the recorded change is what the file holds now' };
}

function checkCommand(claim: Extract<Claim, { kind: 'command' }>, events: readonly LedgerEvent[]): Verdict {
  const wanted = claim.command.trim();
  const ran = events.findLast((event) => event.event_type === 'cli.run' && event.payload.command.trim() === wanted);
  if (ran === undefined) return { claim, backed: false, why: 'this command was not run' };
  const { exitCode } = (ran as EventOf<'cli.run'>).payload;
  if (exitCode !== 0) return { claim, backed: false, by: ran.position, why: `its last run ended with ${exitCode ?? 'a signal'}` };
  const changedAfter = events.some((event) => event.event_type === 'file.diff' && event.position > ran.position);
  if (changedAfter) return { claim, backed: false, by: ran.position, why: 'files were changed after it had passed' };
  return { claim, backed: true, by: ran.position, why: 'its last run ended with 0 and nothing was changed since' };
}

async function checksum(path: string): Promise<string | null> {
  try {
    return createHash('sha256')
      .update(await readFile(path))
      .digest('hex');
  } catch {
    return null;
  }
}

/** What the run's recorded changes left behind, one item per file. */
export function manifest(events: readonly LedgerEvent[]): Payloads['artifact.manifest'] | undefined {
  const items = new Map<string, Payloads['artifact.manifest']['items'][number]>();
  for (const event of events) {
    if (event.event_type !== 'file.diff') continue;
    items.set(event.payload.path, { path: event.payload.path, sha256: event.payload.after });
  }
  return items.size === 0 ? undefined : { items: [...items.values()] };
}

/** What the runtime saw in this run and in no other. */
export async function evidenceOf(tree: Tree, node: RunNode): Promise<readonly LedgerEvent[]> {
  const { journal } = node;
  if (journal.latest('file.diff') === undefined && journal.latest('cli.run') === undefined) return [];
  await tree.writer.flushed();
  return await readAll(tree.parts.ledger, tree.session, { run: node.run, types: ['file.diff', 'cli.run'] });
}
