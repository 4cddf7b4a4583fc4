/**
 * Whether a call may be made: by the rules, or because somebody who was asked has said so. What they are shown is what the call
 * would come to at that moment; when it would come to something else by the time it is made, they are asked again.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { executorNamed } from '../../agents/definition/executor.ts';
import { isJsonObject, type Json } from '../../base/json.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import { hasMark } from '../../base/secrets/mark.ts';
import { judgedName } from '../../base/visible-text.ts';
import type { ToolCallPart } from '../../events/messages.ts';
import { type RememberedRule, ruleFor, writtenRule } from '../../permissions/remembered-rule.ts';
import { type Permission, stricter } from '../../permissions/rule-map.ts';
import { argumentLines, indented } from '../../projections/request-text.ts';
import { closedText } from '../../tools/files/workspace.ts';
import { isRemembered } from '../../tools/permissions.ts';
import type { Tool, ToolRefusal } from '../../tools/port.ts';
import type { ProtectedKind } from '../../tools/protected-names.ts';
import type { WorksInFolders } from '../evidence/folders.ts';
import { forbiddenChange } from '../hearing/fits-tool.ts';
import type { HearsOutside } from '../hearing/hears.ts';
import { type AskingPlace, shownHash, waitForAnswer } from '../hearing/waits.ts';
import type { LedgerAccess, TimeAndIds, ToolAccess } from '../options.ts';
import type { AgentSetup } from '../record/agent-setup.ts';
import type { DrivenRun } from '../record/driven-run.ts';
import { runModeOf, underMode } from '../record/run-mode.ts';
import type { Writes } from '../record/writes.ts';

type AsksPermission = TimeAndIds & LedgerAccess & ToolAccess & Writes & HearsOutside & WorksInFolders;

/** What a call may do that goes ahead. */
export interface Permit {
  /** What of the protected places it may change. */
  readonly opened?: ProtectedKind | undefined;
  /** What it is made with instead of the model's arguments. */
  readonly input?: Json | undefined;
  /** It is not made, as it could only come to this: nobody was asked about it, or nobody is once more. */
  readonly refused?: ToolRefusal | undefined;
}

/** An executor asks in the name of the agent that it works for. */
function askerText({ name, executor }: AgentDefinition): string {
  if (executor === undefined) return name;
  return executorNamed(name) === undefined ? `${name} (executor ${executor.name})` : `the executor ${executor.name}`;
}

interface Call {
  readonly step: string;
  readonly tool: Tool;
  readonly asked: ToolCallPart;
  /** What the call is sure to be refused for, as things are now; what it may open is what somebody would be asked for. */
  readonly refusal?: ((opened: ProtectedKind | undefined) => Promise<ToolRefusal | undefined>) | undefined;
}

/** Where a call stands that may have to ask. */
type Place = AskingPlace & { readonly itsTurn?: (() => Promise<void>) | undefined };

/**
 * What the call may do, if it may go ahead; else what to tell the model. `itsTurn` is awaited before
 * an approval is held against what the call comes to now; a call that has begun was made on the strength of it before.
 */
export async function permitted(
  tree: AsksPermission,
  node: DrivenRun,
  { definition }: AgentSetup,
  { step, tool, asked, refusal }: Call,
  place?: Place,
): Promise<Result<Permit, string>> {
  const itsTurn = place?.itsTurn;
  const protection = tool.kind === undefined ? await tool.protects?.(asked.input, tree.workspaceOf(node)) : undefined;
  const path = await targetOf(tree, node, tool, asked.input);
  const name = protection === undefined ? tool.name : `protected:${protection}`;
  const judge = (remembered: readonly RememberedRule[]) =>
    judged(tree, node, definition, tool, { input: asked.input, path, remembered }, protection);
  // Who was asked about this very call and has answered is heard, also when a rule has come since that would let it go ahead.
  const isAnswered = (): boolean => tree.outside.answer(node.run, approvalStep(step, timesAsked(node, step))) !== undefined;
  let verdict = judge(tree.outside.remembered());
  if (verdict.goesAhead && !isAnswered()) {
    place?.asked();
    await itsTurn?.();
    // A call before it may have put a link in the way.
    if ((await targetOf(tree, node, tool, asked.input)) !== path) return fail(MOVED);
    if (judge([]).goesAhead && !isAnswered()) return ok({ opened: protection });
    // It goes ahead because somebody said "always": they may have taken it back in another process.
    await tree.refresh();
    verdict = judge(tree.outside.remembered());
    if (verdict.goesAhead && !isAnswered()) return ok({ opened: protection });
  }
  const { own, permission } = verdict;
  if (permission === 'deny' && own !== 'deny' && protection !== undefined)
    return fail(closedText(pathIn(asked.input), protection));
  if (permission === 'deny' && runModeOf(node) === 'read-only')
    return fail(`Not run: this session is read-only, so nothing is changed and no command is run. Report what would be done.`);
  if (permission === 'deny')
    return fail(`Not run: this agent may not use ${tool.name} (permissions). Find another way or report what is missing.`);
  const what = protection === undefined ? '' : `, on what is protected (${name})`;
  const rule = ruleFor(name, asked.input, path);
  const reason = protection === undefined ? tree.reason?.(definition, tool, asked.input) : undefined;
  const why = `${askerText(definition)} wants to use ${tool.name}${what}${reason === undefined ? '' : `; ${reason}`}`;
  let since = 'it would come to something else than you approved';
  for (let time = timesAsked(node, step); ; time += 1) {
    const refused = await refusedAlready(node, approvalStep(step, time), place, async () =>
      (await targetOf(tree, node, tool, asked.input)) === path ? await refusal?.(protection) : { kind: 'error', message: MOVED },
    );
    if (refused !== undefined) return ok({ refused });
    const preview = await previewOf(tree, node, tool, asked.input);
    const payload = {
      ...{ tool: name, input: asked.input, why: time === 1 ? why : `${why}; ${since}` },
      ...present({ preview, again: time > 1 || undefined, rule: rule && writtenRule(rule) }),
    };
    const answer = await waitForAnswer(tree, node, approvalStep(step, time), { kind: 'permission', payload }, { place });
    if (answer.kind !== 'approved') {
      const note = answer.kind === 'denied' && answer.note !== undefined ? ` They wrote: ${answer.note}` : '';
      return fail(`Not run: the user said no.${note}`);
    }
    const { input } = answer;
    await itsTurn?.();
    if (itsTurn !== undefined && (await isOther(tree, node, step, time, tool, asked.input))) continue;
    if (input === undefined) return ok({ opened: protection });
    if (hasMark(input)) return fail(CHANGED_AND_GONE);
    // Rules may have come since they were told that nothing stands against it.
    const forbidden = await whyForbidden(tree, node, definition, tool, input);
    if (forbidden === undefined) return ok({ input });
    since = `not made as you changed it: ${forbidden.replace(/\.$/, '')}`;
  }
}

interface Verdict {
  /** What the rules say of the call, but for what it would change of the protected places. */
  readonly own: Permission;
  readonly permission: Permission;
  readonly goesAhead: boolean;
}

/** What somebody said "always" to is in what the rules say of the call; what is protected is asked for by itself. */
function judged(
  tree: ToolAccess,
  node: DrivenRun,
  definition: AgentSetup['definition'],
  tool: Tool,
  call: Parameters<ToolAccess['permission']>[2] & { readonly remembered: readonly RememberedRule[] },
  protection: ProtectedKind | undefined,
): Verdict {
  const own = underMode(runModeOf(node), tool, tree.permission(definition, tool, call));
  if (protection === undefined) return { own, permission: own, goesAhead: own === 'allow' };
  const permission = stricter(own, tree.opening?.(definition, protection) ?? 'deny');
  const isKnown = own === 'allow' && isRemembered(call.remembered, `protected:${protection}`, call.path);
  return { own, permission, goesAhead: permission === 'allow' || (permission === 'ask' && isKnown) };
}

/** Sealed, and the key is not here. */
const CHANGED_AND_GONE =
  'Not run: the user changed the call, and what they wrote held a secret that cannot be opened here. Ask them, or report it.';

async function whyForbidden(
  tree: AsksPermission,
  node: DrivenRun,
  definition: AgentSetup['definition'],
  tool: Tool,
  input: Json,
): Promise<string | undefined> {
  // One that hands work to another agent has no rules about what it hands over.
  return tool.kind === undefined ? await forbiddenChange(tree, definition, tool, input, tree.workspaceOf(node)) : undefined;
}

const MOVED = 'Not run: the path leads somewhere else than when it was looked at. Look again before you go on.';

async function targetOf(tree: WorksInFolders, node: DrivenRun, tool: Tool, input: Json): Promise<string | undefined> {
  return tool.kind === undefined ? await tool.target?.(input, tree.workspaceOf(node)) : undefined;
}

/** The first question has the key that it always had. */
const approvalStep = (step: string, time: number): string => (time === 1 ? `${step}/approval` : `${step}/approval/${time}`);

/**
 * What a call is refused for that nobody was asked about yet. A call before it may make room for it, so that it is looked at once
 * more when its turn has come.
 */
async function refusedAlready(
  node: DrivenRun,
  question: string,
  place: Place | undefined,
  refusal: () => Promise<ToolRefusal | undefined>,
): Promise<ToolRefusal | undefined> {
  const isAsked = node.journal.recorded('approval.asked', question) !== undefined;
  if (place?.itsTurn === undefined || isAsked || (await refusal()) === undefined) return undefined;
  place.asked();
  await place.itsTurn();
  return await refusal();
}

/** What was said last counts, whatever the call would come to now. */
function timesAsked(node: DrivenRun, step: string): number {
  let time = 1;
  while (node.journal.recorded('approval.asked', approvalStep(step, time + 1)) !== undefined) time += 1;
  return time;
}

/** Whether the call would come to something else now than whoever approved it was shown. */
async function isOther(
  tree: AsksPermission,
  node: DrivenRun,
  step: string,
  time: number,
  tool: Tool,
  input: Json,
): Promise<boolean> {
  const recorded = node.journal.recorded('approval.asked', approvalStep(step, time))?.payload;
  if (recorded?.shown === undefined) return false;
  const preview = await previewOf(tree, node, tool, input);
  return shownHash({ why: recorded.why, input, ...present({ preview }) }, tree.redact) !== recorded.shown;
}

async function previewOf(tree: WorksInFolders, node: DrivenRun, tool: Tool, input: Json): Promise<string | undefined> {
  if (tool.kind !== undefined) return undefined;
  if (tool.origin !== undefined) return [...originLines(tool.origin), 'arguments:', ...indented(argumentLines(input))].join('\n');
  return await tool.preview?.(input, tree.workspaceOf(node));
}

const originLines = ({ server, tool }: { readonly server: string; readonly tool: string }): readonly string[] => [
  `server: ${judgedName(server)}`,
  `tool: ${judgedName(tool)}`,
];

function pathIn(input: Json): string {
  const path = isJsonObject(input) ? input['path'] : undefined;
  return typeof path === 'string' ? path : '';
}
