/** A task in the JSON that others read. The position in the ledger comes last: whoever stores it compares by that. */
import type { Json, JsonObject } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { answerOnly } from '../patterns/chosen-agents.ts';
import { shortText } from './short-message.ts';
import type { TaskArtifact, TaskContext } from './task-json.ts';
import type { ReceivedFile, RootTask, TaskFile } from './tasks.ts';

export function taskContext(task: RootTask): TaskContext {
  const { id, session, state, message, at, history } = task;
  return {
    ...{ id, sessionId: session, status: { state, ...present({ message }), timestamp: at } },
    ...{
      history: history.map(({ id: _id, parts: _parts, ...said }) => said),
      artifacts: artifactsOf(task),
      metadata: metadataOf(task),
    },
  };
}

function artifactsOf({ end, files, received }: RootTask): readonly TaskArtifact[] {
  const result = end === undefined || end.report.synthetic === true ? [] : [resultArtifact(end)];
  return [...result, ...files.map(fileArtifact), ...received.map(receivedArtifact)];
}

function resultArtifact({ report, verification }: NonNullable<RootTask['end']>): TaskArtifact {
  const text = shortText(report.body, 'taskResultCharacters');
  const metadata = { format: report.format, verification: verification.state };
  return { artifactId: 'result', name: 'result', parts: [{ kind: 'text', text }], metadata };
}

function fileArtifact({ path, sha256, run }: TaskFile): TaskArtifact {
  const metadata = sha256 === null ? { run, removed: true } : { run, sha256 };
  return { artifactId: `file:${path}`, name: path, parts: [{ kind: 'file', file: { name: path } }], metadata };
}

function receivedArtifact({ ref, checksum, bytes, run, from }: ReceivedFile): TaskArtifact {
  const { agent, name = receivedName(ref), mediaType, task } = from;
  const file = { name, ...present({ mimeType: mediaType }), uri: ref };
  const metadata = { run, sha256: checksum.replace(/^sha256:/, ''), bytes, from: { agent, ...present({ task }) } };
  return { artifactId: ref, name, parts: [{ kind: 'file', file }], metadata };
}

/** What it is called where its maker gave it no name. */
export const receivedName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1);

function metadataOf(task: RootTask): JsonObject {
  const { agentSelections, routingConfidence, routing, agentResponses, historyLeftOut, filesLeftOut, end, still } = task;
  const { continues, retries, reopens, reopenedAs } = task;
  const error: Json | undefined = end?.error ?? (still?.kind === 'parked' ? still.error : undefined);
  return {
    ...(agentSelections.length === 0 ? {} : { agentSelections }),
    ...present({ routingConfidence, routing }),
    ...(agentResponses.length === 0 ? {} : { agentResponses: agentResponses.map(answerOnly) }),
    ...present({ agent: task.agent, continues, retries, reopens, reopenedAs, error }),
    ...present({ reason: still?.kind === 'parked' ? still.reason : end?.reason, verification: end?.verification.state }),
    ...(historyLeftOut === 0 ? {} : { historyLeftOut }),
    ...(filesLeftOut === 0 ? {} : { filesLeftOut }),
    ledgerPosition: task.position,
  };
}
