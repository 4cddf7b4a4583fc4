/**
 * What is demanded of a run before it may call itself verified: the commands under `verify` in its agent's file, and at the end
 * of a root run those of the project. The runtime runs them itself, and how they end decides.
 *
 * - They may be repeated: a run that is taken up again runs them again, unless the workspace is as it was when they passed.
 * - With `retries`, they are run whenever the agent wants to end, and it is told what fails, as often as it may mend it.
 * - Commands of an agent's file need the permission that its shell would need. The project's own are the owner's word.
 */
import type { Verify } from '../../agents/definition/verify.ts';
import { fenced } from '../../base/fence.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { EventOf, LedgerEvent } from '../../events/envelope.ts';
import { userText } from '../../events/messages.ts';
import { endsItsWork, taskTermsOf } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Incoming } from '../../loop/port.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { unchecked, unverified, withVerification } from '../../patterns/verification.ts';
import { uselessDemand } from '../../tools/shell/useless-demand.ts';
import type { WorkspaceState } from '../../tools/watch/workspace-watch.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { weakenedTests } from '../old-tests/weakened-tests.ts';
import type { ProjectRules, ReplayAccess, ReplayWatch, TimeAndIds, ToolAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import {
  allChanges,
  changedOnTheWay,
  checkClaims,
  evidenceOfWork,
  type Seen,
  scriptsOf,
  textsIn,
  unreadScript,
  wayOfCommands,
} from './evidence.ts';
import { realFolder } from './folders.ts';
import { mendedMeanwhile } from './mended-meanwhile.ts';
import { earlierChanges } from './open-changes.ts';
import { permittedCommands } from './permitted-commands.ts';
import { replacementReasons } from './replaced-programs.ts';
import { isUntouched, UNTOUCHED } from './untouched.ts';
import { type ChecksClaims, lookNow } from './verification.ts';
import { withEvidence } from './watched-call.ts';

/** What running demanded commands takes. */
type RunsDemands = ChecksClaims & TimeAndIds & ToolAccess & ReplayAccess & HearsOutside;

const VERIFY_STEP = 'verify';

interface Demand {
  readonly command: string;
  readonly timeoutMs: number;
}

/** Where what is demanded is run. */
export interface ProvingPlace {
  readonly folder: string;
  /** It holds nothing but what is to be proved. */
  readonly alone: boolean;
  /** Why it is not where it should be: then nothing that passes there is proved. */
  readonly doubt?: string | undefined;
  /** What the work has left elsewhere and is not here, for whoever wonders why something fails. */
  missing(): Promise<readonly string[]>;
  leave(): Promise<void>;
}

interface Outcome {
  readonly command: string;
  readonly why?: string | undefined;
  readonly output?: string | undefined;
}

const demandsIn = (verify: Verify | undefined): readonly Demand[] =>
  (verify?.commands ?? []).map((command) => ({ command, timeoutMs: verify?.timeout ?? limits.verifyMs }));

/** The result, as good as what was demanded makes it. */
export async function verified(
  tree: RunsDemands & ProjectRules,
  node: DrivenRun,
  setup: AgentSetup,
  result: RunResult,
  proving: () => Promise<ProvingPlace>,
): Promise<RunResult> {
  const own = declared(node, setup);
  const project = node.parent === undefined ? tree.projectVerify : undefined;
  const demands = [...demandsIn(own), ...demandsIn(project)];
  if (tree.replay !== undefined) return asRecorded(tree.replay, node, demands, result);
  if (demands.length === 0 || !succeeded(result) || node.abort.signal.aborted) return result;
  const refusal = own === undefined ? undefined : await permittedCommands(tree, node, setup.definition, own.commands);
  const place = await proving();
  try {
    const outcomes: Outcome[] = [];
    for (const [index, demand] of demands.entries()) {
      const refused = index < (own?.commands.length ?? 0) ? refusal : undefined;
      outcomes.push(
        refused === undefined
          ? await runDemand(tree, node, demand, `${VERIFY_STEP}/${index}`, place.folder)
          : { command: demand.command, why: refused },
      );
    }
    const testsMayChange = own?.testsMayChange === true || project?.testsMayChange === true;
    return await judged(tree, node, setup, result, { place, outcomes: await explained(outcomes, place), testsMayChange });
  } finally {
    await place.leave();
  }
}

/**
 * What the commands came to, and what the files were like, is recorded; nothing is run again. What the project demanded is known
 * only by what was made of it.
 */
function asRecorded(replay: ReplayWatch, node: DrivenRun, demands: readonly Demand[], result: RunResult): RunResult {
  const isDemanded = demands.length > 0 || node.journal.recorded('evidence.checked', VERIFY_STEP) !== undefined;
  if (!isDemanded || !succeeded(result) || node.abort.signal.aborted) return result;
  return withVerification(result, replay.end(node.run)?.verification ?? result.verification);
}

/** Whoever worked has perhaps seen it pass: by what git ignores, and nobody gets who applies the patch. */
async function explained(outcomes: readonly Outcome[], { alone, missing }: ProvingPlace): Promise<readonly Outcome[]> {
  if (!alone || outcomes.every(({ why }) => why === undefined)) return outcomes;
  const names = await missing();
  if (names.length === 0) return outcomes;
  const shown = names.slice(0, NAMES_SHOWN).join(', ') + (names.length > NAMES_SHOWN ? ', …' : '');
  const without = `it was run on the patch alone, without what git ignores and the work left behind (${shown})`;
  return outcomes.map((one) => (one.why === undefined ? one : { ...one, why: `${one.why}; ${without}` }));
}

const NAMES_SHOWN = 5;

/** What is demanded of the agent's work is demanded at its end. */
function declared({ started }: DrivenRun, setup: AgentSetup): Verify | undefined {
  const own = endsItsWork(started) ? setup.definition.verify : undefined;
  const { verify } = taskTermsOf(started) ?? {};
  // What a task must pass comes first, so that it is found by its place.
  return verify === undefined ? own : { ...own, commands: [...new Set([...verify, ...(own?.commands ?? [])])] };
}

async function judged(
  tree: ChecksClaims,
  node: DrivenRun,
  { definition }: AgentSetup,
  result: RunResult,
  { place, outcomes, testsMayChange }: Proved,
): Promise<RunResult> {
  const { folder: workspace } = place;
  // What was taken back where the work was done is recorded with this, also where something else is looked at.
  const worked = await lookNow(tree, node, VERIFY_STEP);
  const now = place.alone ? await stateOf(tree, workspace) : worked;
  const events = seenAt(workspace, tree.workspaceOf(node), await evidenceOfWork(tree, node));
  const failed = outcomes.flatMap(({ command, why }) => (why === undefined ? [] : [`verify ${JSON.stringify(command)}: ${why}`]));
  const earlier = await earlierChanges(tree, node, events);
  const own = scriptsOfTheWork(node, outcomes, { events, earlier, testsMayChange, workspace }).map(
    (why) => `what was verified proves nothing: ${why}`,
  );
  const changes = allChanges({ earlier, events });
  const demanded = outcomes.map(({ command }) => command);
  const weakened = testsMayChange
    ? []
    : weakenedTests(changes, textsIn(workspace), workspace, wayOfCommands(demanded, workspace));
  const runs = [...demanded, ...scriptsOf(events, workspace)];
  const weaker = [...replacementReasons({ earlier, events }, runs), ...weakened].map(
    (why) => `what was verified was changed: ${why}`,
  );
  const { verification } = result;
  // A claim that only lacked its proof may have got it from these very commands.
  const open = verification.state === 'unverified' ? verification.open : [];
  const checked = checkClaims(open ?? [], { events, earlier, workspace, now, testsMayChange });
  const before = verification.state === 'unverified' && (open === undefined || !checked.verified) ? verification.reasons : [];
  const reasons = [...failed, ...own, ...weaker, ...before];
  const idle = reasons.length === 0 && (await isUntouched(tree, node, definition, { events, now }));
  const doubt = idle ? UNTOUCHED : place.doubt;
  const payload: Payloads['evidence.checked'] = {
    claims: checked.claims,
    verified: reasons.length === 0 && doubt === undefined,
    demanded: outcomes.map(({ command, why }) => ({ command, passed: why === undefined, ...present({ why }) })),
  };
  // Found the same again in another life, it is not said again: a run that is cut off often must still get on.
  const known = node.journal.recorded('evidence.checked', VERIFY_STEP)?.payload;
  if (JSON.stringify(known) !== JSON.stringify(payload))
    tree.writer.enqueue([node.journal.event('evidence.checked', payload, { step: VERIFY_STEP, actor: 'system' })]);
  if (reasons.length > 0) return withVerification(result, unverified(reasons));
  return withVerification(result, doubt === undefined ? { state: 'verified' } : unchecked([doubt]));
}

interface Proved {
  readonly place: ProvingPlace;
  readonly outcomes: readonly Outcome[];
  readonly testsMayChange: boolean;
}

async function stateOf({ workspaces }: ChecksClaims, folder: string): Promise<WorkspaceState> {
  return (await workspaces?.look(folder))?.state ?? { kind: 'unknown', why: 'nobody watches the workspace' };
}

/** Where it is proved is the same folder, with less in it: commands that were run where the work was done count as run there. */
function seenAt(folder: string, worked: string, events: readonly LedgerEvent[]): readonly LedgerEvent[] {
  if (folder === worked) return events;
  const [here, there] = [realFolder(folder), realFolder(worked)];
  return events.map((event) =>
    event.event_type === 'cli.run' && event.payload.cwd === there
      ? { ...event, payload: { ...event.payload, cwd: here } }
      : event,
  );
}

/** Demanded commands that passed by a script which the work wrote itself, and which nobody can read. */
function scriptsOfTheWork(
  { run }: DrivenRun,
  outcomes: readonly Outcome[],
  seen: Pick<Seen, 'earlier' | 'events' | 'testsMayChange' | 'workspace'>,
): readonly string[] {
  const { events, workspace } = seen;
  return outcomes.flatMap(({ command, why }, index) => {
    const step = `${VERIFY_STEP}/${index}`;
    const ran = events.findLast(
      (event): event is EventOf<'cli.run'> => event.event_type === 'cli.run' && event.run_id === run && event.step === step,
    );
    if (why !== undefined) return [];
    const unread = (ran?.payload.proves ?? []).flatMap((proof) => unreadScript(proof, seen) ?? []);
    const mended = ran === undefined ? undefined : mendedMeanwhile(ran, command, allChanges(seen), textsIn(workspace));
    return [
      ...unread,
      ...(mended === undefined ? [] : [mended]),
      ...changedOnTheWay({ command, through: [...wayOfCommands([command], workspace, () => true).files] }, seen, false),
    ];
  });
}

/** One command, or what it gave when the workspace was as it is now. */
async function runDemand(
  tree: RunsDemands,
  node: DrivenRun,
  { command, timeoutMs }: Demand,
  step: string,
  workspace: string,
): Promise<Outcome> {
  const { verifier, workspaces } = tree;
  if (verifier === undefined || workspaces === undefined) return { command, why: 'nobody here can run it' };
  const before = await workspaces.look(workspace);
  if (before.state.kind === 'known' && passedAt(node, step, command, before.state.digest)) return { command };
  tree.checkpoint(node);
  const ran = await tree.atWork.during(() =>
    withEvidence(workspaces, workspace, before, tree.redact, async () => {
      const outcome = await verifier.run(command, { workspace, signal: node.abort.signal, redact: tree.redact, timeoutMs });
      return outcome.ok ? outcome.value : { evidence: [], failure: outcome.error, output: '' };
    }),
  );
  // Cut off because the engine stops: it is run again when the run is taken up.
  tree.checkpoint(node);
  const events = ran.evidence.map(({ type, payload, ...more }) =>
    node.journal.event(type, payload, { step, actor: 'system', ...more }),
  );
  tree.writer.enqueue(events);
  return { command, why: ran.failure, output: ran.output };
}

function passedAt({ journal }: DrivenRun, step: string, command: string, digest: string): boolean {
  const ran = journal.recorded('cli.run', step)?.payload;
  const known = ran?.workspace;
  if (ran === undefined || known === undefined || 'unknown' in known) return false;
  const report = journal.recorded('test.report', step)?.payload;
  if (report?.tests === 0 || report?.early !== undefined || report?.why !== undefined) return false;
  if (uselessDemand(command) !== undefined) return false;
  return ran.command === command && ran.exitCode === 0 && ran.stopped === undefined && known.after === digest;
}

/** What an agent with `retries` hears while it still can do something about it. */
export interface Demands {
  /** Whether something that is demanded fails, and the agent may mend it. */
  failing(turn: number): Promise<boolean>;
  /** What it is told at the start of the next turn. */
  told(turn: number, incoming: Incoming): Incoming;
}

export function demandsDuring(tree: RunsDemands, node: DrivenRun, setup: AgentSetup): Demands {
  const verify = declared(node, setup);
  const retries = verify?.retries ?? 0;
  /** What failed at the end of which turn; empty where nothing did. */
  const texts = new Map(node.journal.past.flatMap(recordedText));
  return {
    async failing(turn) {
      if (verify === undefined || retries === 0) return false;
      const key = demandsStep(turn);
      if (texts.has(turn)) tree.replay?.again(node.run, 'step.recorded', key, {});
      if (!texts.has(turn) && [...texts.values()].filter((text) => text !== '').length < retries) {
        const text = tree.replay === undefined ? await failureText(tree, node, setup, verify, key) : '';
        await tree.writer.write([node.journal.event('step.recorded', { value: text }, { step: key, actor: 'system' })]);
        texts.set(turn, text);
      }
      return (texts.get(turn) ?? '') !== '';
    },
    told(turn, incoming) {
      const text = texts.get(turn - 1) ?? '';
      // Where the next turn is recorded nobody asks whether there is to be one.
      if (text !== '') tree.replay?.again(node.run, 'step.recorded', demandsStep(turn - 1), {});
      return text === '' ? incoming : { ...incoming, messages: [...incoming.messages, userText(text)] };
    },
  };
}

const demandsStep = (turn: number): string => `turn/${turn}/verify`;

function recordedText(event: LedgerEvent): [number, string][] {
  const turn = /^turn\/(\d+)\/verify$/.exec(event.step ?? '')?.[1];
  if (turn === undefined || event.event_type !== 'step.recorded' || typeof event.payload.value !== 'string') return [];
  return [[Number(turn), event.payload.value]];
}

/** Empty when all is well, or nothing can be said before the end. */
async function failureText(tree: RunsDemands, node: DrivenRun, setup: AgentSetup, verify: Verify, step: string): Promise<string> {
  if ((await permittedCommands(tree, node, setup.definition, verify.commands)) !== undefined) return '';
  for (const [index, demand] of demandsIn(verify).entries()) {
    const { command, why, output = '' } = await runDemand(tree, node, demand, `${step}/${index}`, tree.workspaceOf(node));
    if (why === undefined) continue;
    const printed = output === '' ? '' : `\n\n${fenced('output', tree.ids.nonce(), output)}`;
    return `Not done yet: \`${command}\` must pass before you end, and ${why}.${printed}`;
  }
  return '';
}
