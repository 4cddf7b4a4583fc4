/**
 * What a run leaves behind, stored and listed at its end: the patch of what it changed, reports of tests, what commands printed,
 * and where it worked. All of it is what the runtime saw. What an executor declares is stored too, with our checksum, and what
 * is not so about it is flagged; one that declares nothing gets its manifest from us, which says so.
 */
import { isAbsolute } from 'node:path';
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { commandLogs, logBundle, logText } from '../../artifacts/command-logs.ts';
import { declaredIn } from '../../artifacts/manifest.ts';
import { patchText } from '../../artifacts/patch-text.ts';
import type { ArtifactProblem, PutArtifact, StoredArtifact } from '../../artifacts/port.ts';
import { storedArtifact } from '../../artifacts/put.ts';
import { type PayloadRef, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Result } from '../../base/result.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { FlaggedArtifact, ManifestEntry } from '../../events/evidence.ts';
import { taskTermsOf } from '../../events/run-origin.ts';
import type { TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { readAll } from '../record/read-all.ts';
import { declaredFiles, type JudgesDeclared } from './declared-files.ts';
import { manifest, textsIn } from './evidence.ts';
import type { WorksInFolders } from './folders.ts';
import { artifactsOfRun, type StoresArtifacts } from './run-artifacts.ts';

type Manifest = Payloads['artifact.manifest'];

/** What making the manifest of a run takes. */
export type ListsArtifacts = StoresArtifacts & WorksInFolders & TimeAndIds & JudgesDeclared;

const TYPES = ['file.diff', 'cli.run', 'cli.stdout', 'cli.stderr', 'test.report', 'executor.session'] as const;

/** `said` is the report of the run, in which an executor may declare what it made. */
export async function manifestOfRun(
  tree: ListsArtifacts,
  node: DrivenRun,
  said: string,
  agent: AgentDefinition | undefined,
): Promise<Manifest | undefined> {
  const { journal } = node;
  const byExecutor = journal.latest('executor.session') !== undefined;
  const declared = byExecutor && agent !== undefined ? await declaredIn(said) : undefined;
  const received = journal.latest('peer.state') === undefined ? [] : await receivedIn(tree, node);
  const worked = journal.latest('file.diff') !== undefined || journal.latest('test.report') !== undefined;
  // A command may have deleted the ledger: what was answered since is kept before the end finds that out.
  if (worked || byExecutor || journal.latest('cli.run') !== undefined) await tree.writer.flushed();
  const about = {
    manifest_id: `artifact-manifest-${shortId(node.run)}`,
    session_id: tree.session,
    generated_at: `${new Date(tree.clock.now()).toISOString().slice(0, 19)}Z`,
  };
  // What was made elsewhere was not made with what is here: no environment is named.
  const onlyReceived = received.length === 0 ? undefined : { items: [], ...about, artifacts: received };
  if (!worked && !byExecutor) return onlyReceived;
  const all = await readAll(tree.ledger, tree.session, { run: node.run, types: TYPES });
  const events = all.filter((event) => !wasOnlyProving(node, event));
  const { items } = manifest(events) ?? { items: [] };
  if (items.length === 0 && !byExecutor && !events.some((event) => event.event_type === 'test.report')) return onlyReceived;

  const artifacts = artifactsOfRun(tree, node);
  const workspace = tree.workspaceOf(node);
  // What was stored for an earlier end of the run is of less than it has done since.
  const step = `end/${events.at(-1)?.position ?? 0}`;
  const stored: StoredArtifact[] = [];
  const flagged: FlaggedArtifact[] = [];
  for (const [name, wanted] of await wantedOf(tree, events, workspace))
    keep(await artifacts.put(`${step}/${name}`, wanted), wanted.name, stored, flagged);
  const may = agent && declared && (await declaredFiles(tree, agent, workspace, declared.files));
  const told = may && (await artifacts.declare(`${step}/declared`, workspace, may.files));
  return {
    items,
    ...about,
    ...present({ environment_fingerprint: await artifacts.environment(workspace, sandboxOf(events)) }),
    artifacts: [...[...stored, ...(told?.stored ?? [])].map(entryOf), ...received],
    ...(byExecutor && declared === undefined ? { missing_executor_manifest: true } : {}),
    ...flaggedOf([...flagged, ...(declared?.flagged ?? []), ...(may?.flagged ?? []), ...(told?.flagged ?? [])]),
  };
}

/** What agents elsewhere made for the run. */
async function receivedIn(tree: ListsArtifacts, { run }: DrivenRun): Promise<ManifestEntry[]> {
  await tree.writer.flushed();
  const events = await readAll(tree.ledger, tree.session, { run, types: ['artifact.stored'] });
  return events.flatMap((event) =>
    event.event_type === 'artifact.stored' && event.payload.from !== undefined ? [entryOf(storedArtifact(event.payload))] : [],
  );
}

/** What a command changed that proved a task's patch: it did so in a place that is gone. */
const wasOnlyProving = ({ started }: DrivenRun, { event_type: type, step }: LedgerEvent): boolean =>
  type === 'file.diff' && taskTermsOf(started)?.place.kind === 'worktree' && /^verify\/\d+$/.test(step ?? '');

const flaggedOf = (flagged: FlaggedArtifact[]): Pick<Manifest, 'flagged'> => (flagged.length === 0 ? {} : { flagged });

/** The sandbox that the executor of the run was started in, where there is one. */
function sandboxOf(events: readonly LedgerEvent[]): string | undefined {
  const session = events.findLast((event) => event.event_type === 'executor.session');
  return session?.event_type === 'executor.session' ? session.payload.sandbox : undefined;
}

function keep(
  outcome: Result<StoredArtifact, ArtifactProblem>,
  name: string,
  stored: StoredArtifact[],
  flagged: FlaggedArtifact[],
): void {
  if (outcome.ok) stored.push(outcome.value);
  else flagged.push({ path: name, why: `it could not be stored: ${outcome.error.message}` });
}

const entryOf = ({ type, ref, generated_by, checksum, preview_ref }: StoredArtifact): ManifestEntry => ({
  ...{ type, ref, generated_by, checksum },
  ...present({ preview_ref }),
});

/** Each with its part of the step's key. */
async function wantedOf(
  tree: ListsArtifacts,
  events: readonly LedgerEvent[],
  workspace: string,
): Promise<readonly (readonly [string, PutArtifact])[]> {
  const changes = await changesWithDiffs(tree, events);
  const patch = patchText(changes, textsIn(workspace), tree.redact);
  const logs = await commandLogs(tree.ledger, events);
  const reports = logs.filter(({ report }) => report !== undefined).slice(-limits.manifestReports);
  return [
    ...(patch === '' ? [] : [['patch', put('patch', 'patch-#.diff', 'recorded changes', patch)] as const]),
    ...reports.map((log, index) => {
      const { command } = log.run.payload;
      return [`report/${index}`, put('test_report', `${reportName(command)}.txt`, command, logText(log))] as const;
    }),
    ...(logs.length === 0 ? [] : [['log', put('log_bundle', 'commands-#.log', 'recorded commands', logBundle(logs))] as const]),
  ];
}

const put = (type: PutArtifact['type'], name: string, generatedBy: string, text: string): PutArtifact => ({
  ...{ type, name, generatedBy },
  source: { kind: 'bytes', bytes: text },
});

/** `go test ./...` is `go-test`: the words of a command up to the first that is no plain one. */
function reportName(command: string): string {
  const words = command.trim().split(/\s+/);
  const end = words.findIndex((word) => !/^[A-Za-z][\w-]*$/.test(word));
  return words.slice(0, end === -1 ? REPORT_WORDS : Math.min(end, REPORT_WORDS)).join('-') || 'tests';
}

const REPORT_WORDS = 4;

async function changesWithDiffs(tree: StoresArtifacts, events: readonly LedgerEvent[]) {
  const changes = [];
  for (const event of events) {
    if (event.event_type !== 'file.diff' || event.payload.by === 'outside' || isAbsolute(event.payload.path)) continue;
    const whole = event.attachment_ref === null ? undefined : await tree.ledger.payload(event.attachment_ref as PayloadRef);
    changes.push({ ...event.payload, diff: whole === undefined ? event.payload.diff : Buffer.from(whole).toString() });
  }
  return changes;
}
