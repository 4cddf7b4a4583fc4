/**
 * Whether an executor may do what it asks for. Our rules decide; where they ask, a person does, with a durable wait under the
 * hash of what is asked: the same request after a crash finds its answer. What is allowed is allowed once, so that our rules are
 * asked again the next time and what is taken back here is taken back there.
 */
import { createHash } from 'node:crypto';
import { realpathSync } from 'node:fs';
import { relative, sep } from 'node:path';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { ToolCallPart } from '../../events/messages.ts';
import type { AskedCommand, ExecutorAllowed, PermissionAsked, PermissionDecision, PromptHandlers } from '../../executors/port.ts';
import { onlyLooksLine } from '../../permissions/looking-lines.ts';
import type { OrdinaryTool } from '../../tools/port.ts';
import { permitted } from '../calls/permitted.ts';
import { type AskedCall, asTool, understood } from './asked-call.ts';
import { boundedText, type ExecutorRecorder, recorded } from './recorder.ts';

/** What was not allowed, and what somebody said about it: it has no way to hear that but to be told. */
export interface Denial {
  readonly title: string;
  readonly note?: string | undefined;
}

export interface Permits extends Pick<PromptHandlers, 'permission' | 'mayRead' | 'mayWrite' | 'mayRun'> {
  /** Since it was last asked for. */
  denied(): readonly Denial[];
}

interface Verdict {
  readonly allowed: boolean;
  readonly by: 'rule' | 'person';
  readonly why?: string | undefined;
  readonly wait?: string | undefined;
}

/** `rest`: while somebody is asked the run is not at work. */
export function createPermits(
  recorder: ExecutorRecorder,
  step: string,
  cwd: string,
  rest: <Value>(waiting: () => Promise<Value>) => Promise<Value>,
): Permits {
  const { tree, terms } = recorder;
  const own = ownTools(recorder);
  const granted = new Map<string, number>();
  const within = (path: string): string => relative(realpathSync(cwd), path).split(sep).join('/') || '.';
  let denials: Denial[] = [];
  const judge = async (asked: AskedCall, id: string, walled = isWalled(recorder)): Promise<Verdict> => {
    const why = terms.mode === 'read-only' ? changes(asked, walled) : undefined;
    if (why !== undefined) return { allowed: false, by: 'rule', why };
    const tool = asTool(asked, asked.origin === undefined ? (await own).get(asked.tool) : undefined);
    return await rest(() => decided(recorder, `${step}/permission`, asked, tool, id));
  };
  const note = (title: string, { allowed, by, why }: Verdict): void => {
    if (!allowed) denials.push({ title, note: by === 'person' ? why : undefined });
  };
  /** What was approved when it asked need not be asked about again when it comes to us to have it done. */
  const callback = async (asked: AskedCall, walled?: boolean): Promise<ExecutorAllowed> => {
    const before = grant(asked);
    const left = granted.get(before) ?? 0;
    // Inside its own walls more was allowed than is where we would run it.
    const isClosed = terms.mode === 'read-only' && changes(asked, walled ?? isWalled(recorder)) !== undefined;
    if (left > 0 && !isClosed) {
      granted.set(before, left - 1);
      return { allowed: true };
    }
    const verdict = await judge(asked, before, walled);
    note(`${asked.tool} ${String(asked.input['path'] ?? asked.input['command'] ?? '')}`, verdict);
    return verdict.allowed ? { allowed: true } : { allowed: false, reason: verdict.why ?? 'Not allowed.' };
  };
  return {
    async permission(asked) {
      const verdict = await whole(asked, cwd, judge);
      for (const one of verdict.calls) if (verdict.allowed) granted.set(grant(one), (granted.get(grant(one)) ?? 0) + 1);
      note(asked.call.title, verdict);
      tree.writer.enqueue([recorded(recorder, 'executor.decided', decisionOf(recorder, asked, verdict), { step })]);
      return decisionFor(verdict.allowed, asked);
    },
    mayRead: (path) => callback({ tool: 'read', input: { path: within(path) } }),
    mayWrite: (path, content) => callback({ tool: 'write', input: { path: within(path), content } }),
    mayRun: ({ line, walled }: AskedCommand) => callback({ tool: 'shell', input: { command: line } }, walled),
    denied() {
      const all = denials;
      denials = [];
      return all;
    },
  };
}

const CHANGING: ReadonlySet<string> = new Set(['edit', 'write']);
const READ_ONLY = 'Not allowed: it works read-only here (executor.mode).';
const ONLY_LOOKING =
  'Not allowed: it works read-only here (executor.mode) and outside of a sandbox, where no command is run but one that only looks.';

/** Why somebody who may only look does not get it. */
function changes({ tool, input }: AskedCall, walled: boolean): string | undefined {
  if (CHANGING.has(tool)) return READ_ONLY;
  return tool !== 'shell' || walled || onlyLooksLine(String(input['command'])) ? undefined : ONLY_LOOKING;
}

/** Walls and images show the workspace as its mode says. */
const isWalled = ({ session }: ExecutorRecorder): boolean => session?.about.sandbox !== undefined;

/** By what it does to what: `edit` and `write` of a file are the same to whoever approved one of them. */
function grant({ tool, input }: AskedCall): string {
  const about = input['command'] ?? input['path'] ?? JSON.stringify(input);
  return `${CHANGING.has(tool) ? 'change' : tool} ${String(about)}`;
}

interface Whole extends Verdict {
  readonly calls: readonly AskedCall[];
}

/** Everything that it is about has to be allowed. */
async function whole(
  { call }: PermissionAsked,
  cwd: string,
  judge: (asked: AskedCall, id: string) => Promise<Verdict>,
): Promise<Whole> {
  const what = await understood(call, cwd);
  if ('refused' in what) return { allowed: false, by: 'rule', why: what.refused, calls: [] };
  let last: Verdict = { allowed: true, by: 'rule' };
  for (const asked of what.calls) {
    last = await judge(asked, call.id);
    if (!last.allowed) return { ...last, calls: [] };
  }
  return { ...last, calls: what.calls };
}

/** The rules' word, or somebody's who was asked. */
async function decided(
  { tree, node, setup, standing }: ExecutorRecorder,
  prefix: string,
  asked: AskedCall,
  tool: OrdinaryTool,
  id: string,
): Promise<Verdict> {
  const hash = createHash('sha256')
    .update(JSON.stringify([asked.tool, asked.input, asked.preview ?? '']))
    .digest('hex');
  const key = `${prefix}/${hash.slice(0, limits.executorHashCharacters)}`;
  // Asked for once more, when it was done, it is another one.
  let wait = key;
  for (let time = 2; standing.timesUsed(`${wait}/approval`, id) > 0; time += 1) wait = `${key}/${time}`;
  const call: ToolCallPart = { type: 'tool-call', id, name: tool.name, input: asked.input };
  const permit = await permitted(tree, node, setup, { step: wait, tool, asked: call });
  const approval = `${wait}/approval`;
  const answer = tree.outside.answer(node.run, approval);
  const person = answer === undefined ? { by: 'rule' as const } : { by: 'person' as const, wait: approval };
  if (!permit.ok) {
    const said = answer?.kind === 'denied' ? answer.note : permit.error;
    return { allowed: false, ...person, ...present({ why: said }) };
  }
  if (permit.value.input === undefined) return { allowed: true, ...person };
  const why = `They would have it otherwise: ${JSON.stringify(permit.value.input)}`;
  return { allowed: false, ...person, why };
}

/** Never more than was said: where it offers only what lasts, it is told no. */
function decisionFor(allowed: boolean, { options, signal }: PermissionAsked): PermissionDecision {
  if (signal.aborted) return 'cancelled';
  const offers = new Set(options.map(({ kind }) => kind));
  if (allowed && (offers.has('allow_once') || !offers.has('allow_always'))) return 'allow_once';
  return 'reject_once';
}

function decisionOf({ tree }: ExecutorRecorder, asked: PermissionAsked, { allowed, by, why, wait }: Verdict) {
  const decision = asked.signal.aborted ? ('cancelled' as const) : allowed ? ('allowed' as const) : ('denied' as const);
  const title = boundedText(tree.redact, asked.call.title, limits.executorEventTitleCharacters);
  return { id: asked.call.id, title, decision, by, ...present({ wait, why: why === undefined ? undefined : tree.redact(why) }) };
}

/** Ours, for what they know of paths and of what is protected. */
async function ownTools({ tree, setup }: ExecutorRecorder): Promise<ReadonlyMap<string, OrdinaryTool>> {
  const { mcp: _mcp, executor: _executor, ...definition } = setup.definition;
  const found = await tree.tools({ ...definition, tools: ['read', 'search', 'edit', 'write', 'shell', 'fetch'] });
  const ordinary = (found.ok ? found.value : []).filter((tool): tool is OrdinaryTool => tool.kind === undefined);
  return new Map(ordinary.map((tool) => [tool.name, tool]));
}
