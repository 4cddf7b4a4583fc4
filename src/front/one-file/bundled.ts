/** What goes into a bundle of a run: its session, those that this one was forked from, and the files of the agents in them. */
import { realpathSync } from 'node:fs';
import { resolve, sep } from 'node:path';
import { entryBelow, orNothing } from '../../base/files/entry-below.ts';
import type { SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { type BundledAgent, type BundleWanted, writeBundle } from '../../bundles/write.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';

/** A bundle in pieces: the session, those that it was forked from, and the files of the agents in them. */
export async function bundlePieces(
  project: Pick<Project, 'ledger' | 'root' | 'redact'>,
  session: SessionId,
  { version, key }: Pick<BundleWanted, 'version' | 'key'>,
): Promise<{ readonly sessions: readonly SessionId[]; readonly pieces: AsyncGenerator<Uint8Array, void> }> {
  const sessions = await sessionsOf(project.ledger, session);
  const agents = await agentFilesOf(project, sessions);
  return { sessions, pieces: writeBundle(project.ledger, { sessions, agents, version, ...present({ key }) }) };
}

/** The oldest first; one that is not in this ledger any more is left out. */
async function sessionsOf(ledger: Pick<Ledger, 'read'>, session: SessionId): Promise<readonly SessionId[]> {
  const line: SessionId[] = [];
  for (let up: string | undefined = session; up !== undefined && line.length < limits.bundleSessions; ) {
    const name = up as SessionId;
    const [first] = await ledger.read({ session: name, types: ['session.started'], limit: 1 });
    if (first === undefined || line.includes(name)) break;
    line.unshift(name);
    up = first.event_type === 'session.started' ? first.payload.forked?.session : undefined;
  }
  return line;
}

/** As they are beside the ledger now, without secrets; those that lie outside of the project, or are gone, are left out. */
async function agentFilesOf(
  { ledger, root, redact }: Pick<Project, 'ledger' | 'root' | 'redact'>,
  sessions: readonly SessionId[],
): Promise<readonly BundledAgent[]> {
  const sources = new Map<string, string>();
  for (const session of sessions)
    for await (const event of readEvents(ledger, { session, types: ['session.config'] })) {
      if (event.event_type !== 'session.config' || event.payload.source === undefined) continue;
      sources.set(event.payload.agent, event.payload.source);
    }
  const top = orNothing(() => realpathSync(root));
  if (top === undefined) return [];
  return [...sources].sort(byName).flatMap(([agent, source]) => {
    const absolute = resolve(top, source);
    if (!absolute.startsWith(top + sep) || !absolute.endsWith('.md')) return [];
    const found = orNothing(() => entryBelow({ root: top, absolute }, limits.bundleAgentBytes));
    return found?.kind === 'file' ? [{ agent, text: redact(found.bytes.toString()) }] : [];
  });
}

const byName = ([left]: readonly [string, string], [right]: readonly [string, string]): number =>
  left < right ? -1 : left > right ? 1 : 0;
