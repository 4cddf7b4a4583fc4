/** The end of an executor's process: with the run, or when the run is left. */
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { Interruption } from '../interruption.ts';
import { watchLeft } from './left.ts';
import { boundedText, type ExecutorRecorder, recorded } from './recorder.ts';
import { touchedBy } from './touched.ts';

/**
 * A run that is left because somebody is asked leaves its executor as it is, with what it asked: the next life in this process
 * goes on with it. Where others may take the run up, and for any other reason, it ends.
 */
export async function endSession(recorder: ExecutorRecorder, reason?: unknown): Promise<void> {
  const { tree, node, use, session, last } = recorder;
  const isLeft = reason instanceof Interruption && (reason.kind === 'waiting' || reason.kind === 'unheard');
  // One that was left in an earlier life of the run, and that nobody has come back to.
  if (session === undefined) return isLeft ? undefined : await tree.executors?.drop(node.run);
  const notices = recorder.notices.splice(0);
  recorder.session = undefined;
  recorder.hasSaid = false;
  if (isLeft && tree.elsewhere === undefined) {
    session.leave();
    return watchLeft(recorder, session);
  }
  const { exitCode, signal, stderr, survivors, refused = [] } = await session.end();
  const said = boundedText(tree.redact, stderr.slice(-limits.executorEventStderrBytes), limits.executorEventStderrBytes);
  const payload = {
    ...{ executor: use.name, session: session.session },
    ...present({ ...last, exitCode, signal, stderr: said === '' ? undefined : said }),
    ...(refused.length === 0 ? {} : { refused: refused.map((one) => tree.redact(one)) }),
    ...(notices.length === 0 ? {} : { notices }),
    ...(survivors.length === 0 ? {} : { survivors: survivors.map((one) => tree.redact(one)) }),
  };
  // Whoever has lost the run can write nothing into it.
  if (reason instanceof Interruption && (reason.kind === 'lost' || reason.kind === 'interrupted')) return;
  const touched = await touchedBy(recorder, session);
  tree.writer.enqueue([...touched(), recorded(recorder, 'executor.ended', payload, { aside: true })]);
}
