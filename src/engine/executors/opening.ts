/** The session in which an executor works: the one that was left here, one that is loaded again, or a new one. */
import type { RunId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ExecutorFailure, ExecutorSession } from '../../executors/port.ts';
import { type ExecutorRecorder, recorded } from './recorder.ts';

/** Who works is on the disk before anything is said to it. */
export async function openSession(recorder: ExecutorRecorder, step: string): Promise<Result<ExecutorSession, ExecutorFailure>> {
  const { tree, node, use, terms, setup, session: opened } = recorder;
  if (opened !== undefined) return ok(opened);
  if (tree.executors === undefined) return fail({ why: 'unavailable', message: 'Executors cannot be started here.' });
  const mcp = (await tree.executorServers?.(setup.definition)) ?? ok([]);
  if (!mcp.ok) return fail({ why: 'unavailable', message: mcp.error });
  const cwd = tree.workspaceOf(node);
  const before = recorder.standing.session() ?? (await sessionBefore(recorder));
  const { mode } = terms;
  const asked = {
    ...{ executor: use.name, key: node.run, cwd, session: before, mode, model: use.model, mcp: mcp.value },
    questions: true,
  };
  const session = await tree.executors.open(asked, node.abort.signal);
  if (!session.ok) return session;
  recorder.session = session.value;
  const { about, session: id, restored } = session.value;
  const { executor, version, protocol, pid, model, mode: itsMode, sandbox, without } = about;
  const payload = {
    ...{ executor, protocol, session: id, restored, cwd },
    ...present({ version, mode: itsMode ?? mode, model, pid, sandbox, without: without.length === 0 ? undefined : [...without] }),
  };
  await tree.writer.write([recorded(recorder, 'executor.session', payload, { step })], { sync: 'power' });
  return session;
}

/** Of the conversation that this run goes on with. */
async function sessionBefore({ tree, node }: ExecutorRecorder): Promise<string | undefined> {
  const { continues } = node.started;
  if (continues === undefined) return undefined;
  // It may have happened in this very life: the ledger knows both.
  await tree.writer.flushed();
  const asked = { session: tree.session, run: continues as RunId, types: ['executor.session' as const], newest: true, limit: 1 };
  const [latest] = await tree.ledger.read(asked);
  return latest?.event_type === 'executor.session' ? latest.payload.session : undefined;
}
