/**
 * A call that may change files, watched: the workspace is compared before and after, so that what changed is recorded whoever
 * changed it. Tools that report their own changes are believed; tools that only read are not watched.
 */
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { groupDigits } from '../../tools/bounded.ts';
import type { Evidence, OrdinaryTool, ToolOutcome } from '../../tools/port.ts';
import { noticedChanges, unrecordedChanges } from '../../tools/watch/noticed-changes.ts';
import type { Look, WorkspaceWatch } from '../../tools/watch/workspace-watch.ts';

export async function watchedCall(
  watch: WorkspaceWatch | undefined,
  workspace: string,
  redact: (text: string) => string,
  tool: OrdinaryTool,
  run: () => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  if (watch === undefined || !mayChangeFiles(tool)) return await run();
  if (tool.reportsChanges !== true) return saidToBeMany(await withEvidence(watch, workspace, undefined, redact, run));
  const leave = watch.enter(workspace);
  try {
    const outcome = await run();
    for (const item of outcome.evidence ?? []) if (item.type === 'file.diff') await watch.noted(workspace, item.payload.path);
    return outcome;
  } finally {
    leave();
  }
}

/** Nobody can tell any more which files those were, so tests prove nothing from here on; better to know that now. */
function saidToBeMany(outcome: ToolOutcome): ToolOutcome {
  const more = unrecordedChanges(outcome.evidence ?? []);
  if (more === 0) return outcome;
  const text =
    `(More files were changed than are recorded: ${groupDigits(more)} beyond the first ${groupDigits(limits.noticedChanges)}. ` +
    'Whether tests are among them is not known, so test runs prove nothing in this work.)';
  if (outcome.kind === 'error') return { ...outcome, message: `${outcome.message}\n${text}` };
  return { ...outcome, content: [...outcome.content, { type: 'text', text }] };
}

function mayChangeFiles({ replay, origin, readOnly }: OrdinaryTool): boolean {
  return readOnly !== true && (origin !== undefined || replay === 'never');
}

/** Runs something between two looks, the first of which may have been taken already, and adds to its evidence what they found. */
export async function withEvidence<Outcome extends { readonly evidence?: readonly Evidence[] }>(
  watch: WorkspaceWatch,
  workspace: string,
  looked: Look | undefined,
  redact: (text: string) => string,
  run: () => Promise<Outcome>,
): Promise<Outcome> {
  const { before, outcome, after, alone } = await betweenLooks(watch, workspace, looked, run);
  const seen = (outcome.evidence ?? []).map(
    (item): Evidence =>
      item.type === 'cli.run' ? { ...item, payload: { ...item.payload, workspace: fingerprints(before, after, alone) } } : item,
  );
  const noticed = [
    ...noticedChanges(before.changes, 'outside', redact),
    ...seen,
    ...noticedChanges(after.changes, 'command', redact),
  ];
  return noticed.length === 0 ? outcome : { ...outcome, evidence: noticed };
}

/** Whoever fails has left as well: otherwise nobody would ever be alone there again. */
async function betweenLooks<Outcome>(
  watch: WorkspaceWatch,
  workspace: string,
  looked: Look | undefined,
  run: () => Promise<Outcome>,
) {
  const leave = watch.enter(workspace);
  try {
    const before = looked ?? (await watch.look(workspace));
    const outcome = await run();
    const after = await watch.look(workspace);
    return { before, outcome, after, ...leave() };
  } finally {
    leave();
  }
}

function fingerprints(before: Look, after: Look, alone: boolean) {
  if (before.state.kind === 'unknown') return { unknown: before.state.why };
  if (after.state.kind === 'unknown') return { unknown: after.state.why };
  return {
    before: before.state.digest,
    after: after.state.digest,
    ...(alone ? {} : { shared: true }),
    ...(after.touched === true ? { touched: true } : {}),
    ...present({ passing: after.passing }),
  };
}
