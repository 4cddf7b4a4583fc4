/** Starting a child run, or taking up one that had started before: its id follows from its parent and its key. */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { TroupeError } from '../../base/errors.ts';
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { LedgerEvent } from '../../events/envelope.ts';
import type { RunOrigin } from '../../events/run-origin.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { madeElsewhere, UNCHECKED } from '../../patterns/verification.ts';
import { INPUT_STEP } from '../../projections/transcript.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import type { AgentAccess, HostAccess, ReplayAccess, TimeAndIds } from '../options.ts';
import { budgetOf } from '../record/agent-setup.ts';
import { childOf, type DrivenRun, forkedBelow } from '../record/driven-run.ts';
import type { Remembers } from '../record/remembers.ts';
import { reopenedSince, timesReopened } from '../record/standing-events.ts';
import type { Writes } from '../record/writes.ts';
import { assistantLifetime } from '../spawning/bounds.ts';
import type { ChildAs, ChildRequest, ChildRun, HasChildren } from '../spawning/child-run.ts';
import { type TimeLimit, tighter, withTimeLimit } from '../spending/budget.ts';
import type { Spends } from '../spending/spending.ts';
import { cancelElsewhere, drivenElsewhere } from './child-elsewhere.ts';
import { END_STEP, resultOfEnd } from './drive-run.ts';
import { startedOf } from './place-in-tree.ts';
import { moneyOfTask } from './task-money.ts';

/** What starting a child takes. */
type StartsChildren = TimeAndIds &
  AgentAccess &
  ReplayAccess &
  HostAccess &
  Writes &
  Remembers &
  HearsOutside &
  WorksInFolders &
  Spends &
  Pick<HasChildren, 'elsewhere'>;

/** What only who builds the tree can give. */
interface ByBuilder {
  /** What was recorded of each run. */
  readonly past: ReadonlyMap<string, readonly LedgerEvent[]>;
  /** With what was undone. */
  readonly all: readonly LedgerEvent[];
  node(run: RunId, parent: DrivenRun, started: Payloads['run.started']): DrivenRun;
  /** `found`: its agent, when that was just looked up. */
  drive(run: DrivenRun, found: AgentDefinition | undefined): Promise<RunResult>;
}

export async function startChild(
  tree: StartsChildren,
  parent: DrivenRun,
  request: ChildRequest,
  { past, all, node, drive: driveHere }: ByBuilder,
): Promise<ChildRun> {
  await tree.replay?.due(parent.run, parent.abort.signal);
  const run = childOf(parent, request.key);
  const recorded = past.get(run)?.find((event) => event.event_type === 'run.started');
  const known = recorded?.event_type === 'run.started' ? recorded.payload : undefined;
  const found = known === undefined ? (request.found ?? (await tree.agent(request.agent))) : undefined;
  // It was started before, came to nothing, and was taken back.
  const isAnew = known === undefined && startedOf(all, run) !== undefined;
  const started = known ?? startedPayload(tree, parent, request, found);
  if (known !== undefined && tree.replay !== undefined) await tellStart(tree, parent, request, run);
  const child = node(run, parent, started);
  if (known === undefined) {
    const cause = request.cause ?? parent.journal.newest();
    const reopened = isAnew ? [child.journal.event('run.reopened', { undone: [] }, { actor: 'system', cause })] : [];
    tree.writer.enqueue([...reopened, child.journal.event('run.started', started, { step: INPUT_STEP, cause })]);
  }
  const { elsewhere } = tree;
  const lives = timesReopened(child.journal.past) + (isAnew ? 1 : 0);
  const drive = () => (elsewhere === undefined ? driveHere(child, found) : drivenElsewhere(tree, child, elsewhere, lives));
  const result = tooDeep(parent) ? refuseDepth(tree, child) : drive().then((ended) => received(tree, parent, child, ended));
  // Whoever joins the child sees a failure; until then it must not count as unhandled.
  result.catch(() => undefined);
  return {
    result,
    ended: () => child.journal.latest('run.ended'),
    cancel: (reason) =>
      elsewhere === undefined
        ? child.abort.abort(new TroupeError('cancelled', reason))
        : cancelElsewhere(tree, child, reason, elsewhere),
  };
}

/** With whose conversation a member goes on was decided by what had happened by then. */
async function tellStart(tree: StartsChildren, parent: DrivenRun, request: ChildRequest, run: RunId): Promise<void> {
  const found = request.found ?? (await tree.agent(request.agent));
  const { continues, ...started } = startedPayload(tree, parent, request, found);
  tree.replay?.again(
    run,
    'run.started',
    INPUT_STEP,
    'member' in request.as ? started : { ...started, ...present({ continues }) },
  );
}

/** A child's result as its parent has it. */
function received(tree: WorksInFolders & Spends, parent: DrivenRun, child: DrivenRun, ended: RunResult): RunResult {
  const result = noted(tree, stillOut(parent, child, ended));
  return tree.workspaceOf(child) === tree.workspaceOf(parent) ? result : madeElsewhere(result);
}

/** A budget that was out when the child ended, and was raised since, is not out any more. */
function stillOut(parent: DrivenRun, child: DrivenRun, result: RunResult): RunResult {
  const { exhausted, ...rest } = result;
  const ended = child.journal.recorded('run.ended', END_STEP);
  if (exhausted === undefined || ended === undefined || !reopenedSince(parent, exhausted, ended.position)) return result;
  return rest;
}

/** What ran out below is out for everybody it counts for, also when it was in an earlier life or elsewhere. */
function noted(tree: Spends, result: RunResult): RunResult {
  const { exhausted: scope, error, status } = result;
  if (scope !== undefined) tree.spending.note({ scope, message: error?.message ?? status });
  return result;
}

function startedPayload(
  tree: HostAccess & Remembers,
  parent: DrivenRun,
  { key, agent, input, as }: ChildRequest,
  found: AgentDefinition | undefined,
): Payloads['run.started'] {
  const own = found === undefined ? undefined : budgetOf(found);
  const member = 'member' in as ? as.member : undefined;
  const asked = 'continues' in as ? as.continues : undefined;
  const continues = asked ?? (member === undefined ? undefined : tree.latestOf(member, parent.run));
  const workspace = workspaceOfChild(parent, as, member);
  const model = 'model' in as ? as.model : undefined;
  const condense = 'condense' in as ? as.condense : undefined;
  return {
    ...{ agent, input, origin: originOf(parent.run, as), depth: parent.depth + 1 },
    ...present({ continues, model, workspace, condense }),
    ...forkedBelow(parent, key),
    ...withTimeLimit(tighter(own, moneyOfTask(as, found)), timeLimitOf(tree, as)),
  };
}

function timeLimitOf(tree: HostAccess, as: ChildAs): TimeLimit | undefined {
  if (as.kind === 'assistant') return assistantLifetime(tree);
  return 'timeLimit' in as ? as.timeLimit : undefined;
}

/** What is recorded of why there is this child. */
export function originOf(parent: RunId, as: ChildAs): RunOrigin {
  switch (as.kind) {
    case 'call':
    case 'assistant':
      return { ...as, parent };
    case 'clarification':
      return { kind: as.kind, parent, maxTurns: as.maxTurns };
    default: {
      const { continues: _continues, timeLimit: _timeLimit, model: _model, condense: _condense, ...origin } = as;
      return { ...present(origin), parent };
    }
  }
}

/** A task is worked on where its terms say; who runs a group says where each of its members works. */
function workspaceOfChild({ started: { origin } }: DrivenRun, as: ChildAs, member: string | undefined): string | undefined {
  if (as.kind === 'task') return as.terms.place.path;
  return origin.kind === 'group' && member !== undefined ? origin.workspaces?.[member] : undefined;
}

function tooDeep(parent: DrivenRun): boolean {
  if (parent.depth + 1 > limits.runDepth) return true;
  for (let up: DrivenRun | undefined = parent; up !== undefined; up = up.parent) {
    const allowed = up.started.budget?.depth;
    if (allowed !== undefined && parent.depth + 1 - up.depth > allowed) return true;
  }
  return false;
}

async function refuseDepth(tree: Writes, child: DrivenRun): Promise<RunResult> {
  const known = child.journal.recorded('run.ended', END_STEP);
  if (known !== undefined) return resultOfEnd(child.run, known.payload);
  const message =
    `This run would be ${child.depth} levels deep, more than allowed ` + `(budget.depth; never more than ${limits.runDepth}).`;
  const report = { format: 'text' as const, body: message, synthetic: true };
  const ended = {
    status: 'budget_exhausted' as const,
    report,
    finalAgent: child.started.agent,
    error: { code: 'too_deep', message },
    verification: UNCHECKED,
  };
  await tree.writer.write([child.journal.event('run.ended', ended, { step: END_STEP, actor: 'system' })]);
  return resultOfEnd(child.run, ended);
}
