/**
 * A fork as somebody asks for it: a session that begins with the past of a run, in a folder of its own that is as the source's
 * was then. Where nobody of the source can change anything, or others work on runs, it has the source's folder.
 */
import type { AgentDefinition } from '../../agents/definition/definition.ts';
import { referencesOf } from '../../agents/definition/references.ts';
import { LOOKING_TOOLS } from '../../agents/definition/tool-names.ts';
import type { Clock } from '../../base/clock.ts';
import { type RunId, runIdFrom, type SessionId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { ForkedAt, ForkOutcome, ForkSet, Sender } from '../../engine/port.ts';
import { recordedDefinition } from '../../engine/record/agent-setup.ts';
import type { Failure } from '../../events/catalogue.ts';
import type { ForkSource } from '../../events/going-on.ts';
import { readEvents } from '../../ledger/pages.ts';
import type { Ledger, RunRow } from '../../ledger/port.ts';
import type { Project } from '../../project/project.ts';
import { withoutText } from '../../projections/lines/fork-lines.ts';
import { makePastFolder } from '../../workspaces/past/past-folder.ts';
import { type ActOutcome, type CallerAct, keyReused, type NotDone, senderOf } from '../acts.ts';

export interface ForkNeeds {
  readonly project: Pick<Project, 'engine' | 'ledger' | 'groups'> & { readonly config: Pick<Project['config'], 'cluster'> };
  readonly clock: Clock;
}

export interface WantedFork {
  readonly run: RunId;
  readonly at?: string | undefined;
  readonly set?: ForkSet | undefined;
  readonly sender?: Sender | undefined;
  readonly session?: SessionId | undefined;
  /** Works there, as it is. */
  readonly folder?: string | undefined;
}

export type MadeFork = Extract<ForkOutcome, { readonly kind: 'forked' }> & { readonly notes: readonly string[] };

export async function makeFork({ project, clock }: ForkNeeds, wanted: WantedFork): Promise<Result<MadeFork, Failure>> {
  const { engine, ledger, config, groups } = project;
  const { folder: given, ...request } = wanted;
  const notes: string[] = [];
  const folder = async (at: ForkedAt): Promise<Result<string | undefined, Failure>> => {
    if (given !== undefined) return ok(given);
    if (config.cluster !== undefined) notes.push('others work on its runs: its folder is the one of the source, as it is there');
    if (config.cluster !== undefined || !(await mayChangeFiles(ledger, at, request.set?.agent))) return ok(undefined);
    const { session } = at.from;
    const { env, home, ids } = groups;
    const around = { home, environment: env, clock, ids };
    const name = at.session;
    const made = await makePastFolder(around, { ...at, ledger, session: session as SessionId, name });
    if (!made.ok) return made;
    notes.push(...made.value.notes);
    return ok(made.value.folder);
  };
  const forked = await engine.fork({ ...request, folder });
  if (forked.kind === 'refused') return fail(forked.error);
  const { anew } = forked;
  if (anew.length > 0)
    notes.push(`cannot be taken up in the middle, and ${anew.length === 1 ? 'begins' : 'begin'} anew: ${anew.join(', ')}`);
  return ok({ ...forked, notes });
}

/** Only where nobody has a tool that could, and nobody else can be called. */
async function mayChangeFiles(
  ledger: Pick<Ledger, 'read'>,
  { from }: ForkedAt,
  agent: AgentDefinition | undefined,
): Promise<boolean> {
  if (agent !== undefined) return true;
  for await (const event of readEvents(ledger, { session: from.session as SessionId, types: ['session.config'] })) {
    if (event.event_type !== 'session.config') continue;
    if (event.payload.tools.some(({ name }) => !LOOKING_TOOLS.includes(name))) return true;
    if (referencesOf(recordedDefinition(event.payload)).length > 0) return true;
  }
  return false;
}

const KEYS = ['prompt', 'model', 'answer', 'result'] as const;
/** What may stand before the `=`. */
const FORK_KEYS: readonly string[] = [...KEYS, 'agent', 'without'];

/** `model=x` and its like, each key once but `without`. What stands for an agent is a file, and for the caller to read. */
export function parseForkSet(words: readonly string[]): Result<Omit<ForkSet, 'agent'> & { readonly file?: string }, Failure> {
  const given = new Map<string, string>();
  const without: string[] = [];
  for (const word of words) {
    const [, key = '', value = ''] = /^([a-z]+)=(.*)$/s.exec(word) ?? [];
    if (!FORK_KEYS.includes(key)) return fail(unknownKey(word));
    if (given.has(key)) return fail({ code: 'usage', message: `${key} is given twice.`, fix: `Give ${key}= once.` });
    if (value === '') return fail({ code: 'usage', message: `${key}= has no value.`, fix: `Write ${key}=…` });
    if (Buffer.byteLength(value) > limits.promptBytes)
      return fail({
        code: 'usage',
        message: `${key}= is longer than ${limits.promptBytes} bytes (limit promptBytes).`,
        fix: 'Put what is long into a file that the agent can read, and name that.',
      });
    if (key === 'without') without.push(value);
    else given.set(key, value);
  }
  const [prompt, model, answer, result] = KEYS.map((key) => given.get(key));
  const left = without.length === 0 ? undefined : without;
  return ok(present({ prompt, model, answer, result, without: left, file: given.get('agent') }));
}

const unknownKey = (word: string): Failure => ({
  code: 'usage',
  message: `${JSON.stringify(word.slice(0, 100))} sets nothing that a fork has.`,
  fix: `Write one of ${FORK_KEYS.map((key) => `${key}=…`).join(', ')}`,
});

/** The same session for the same words. */
const forkSession = (words: string): SessionId => runIdFrom(words).replace(/^run_/, 'ses_') as SessionId;

/** What a person is told. */
export function forkText({ from, run, session, kept, workspace }: MadeFork): readonly string[] {
  const calls = kept.calls === 1 ? '1 model call is' : `${kept.calls} model calls are`;
  return [
    `forked ${shortId(from.run)} behind ${from.event}: run ${shortId(run)} in session ${session}${withoutText(from)}`,
    `${kept.events} events and ${calls} kept, and not made again; it works in ${workspace}`,
  ];
}

export interface ForkedRun {
  readonly run: string;
  readonly session: string;
  /** An earlier request of this key made it. */
  readonly before: boolean;
  readonly from: ForkSource;
  readonly notes: string[];
}

/** For whoever owns the project: makes it and has it go on. With a key it is made once. */
export async function forkFromOutside(
  needs: ForkNeeds & { onError(error: Error): void },
  act: CallerAct,
  row: RunRow,
  { at, ...set }: Omit<ForkSet, 'agent'> & { readonly at?: string | undefined },
): ActOutcome<ForkedRun> {
  const { engine, ledger } = needs.project;
  if (!act.isOwner) return fail({ why: 'forbidden', code: 'not_yours', message: 'Runs are forked by the owner of the project.' });
  const { by, where } = senderOf(act);
  const session = act.key === undefined ? undefined : forkSession(JSON.stringify(['api fork', act.client.name, act.key]));
  const before = session === undefined ? undefined : await madeBefore(ledger, session, row);
  if (before !== undefined) return before;
  const made = await makeFork(needs, { run: row.run, set, sender: { by, where }, ...present({ at, session }) });
  if (!made.ok) return fail({ ...made.error, why: 'never' });
  engine
    .resume(made.value.run, undefined, { by, where })
    .catch((error: unknown) => needs.onError(error instanceof Error ? error : new Error(String(error))));
  const { run, from, notes } = made.value;
  return ok({ run, session: made.value.session, before: false, from, notes: [...notes] });
}

async function madeBefore(ledger: Ledger, session: SessionId, row: RunRow): Promise<Result<ForkedRun, NotDone> | undefined> {
  const [first] = await ledger.read({ session, limit: 1 });
  const [root] = await ledger.runs({ session, roots: true, limit: 1 });
  if (first?.event_type !== 'session.started' || root === undefined) return undefined;
  const { forked } = first.payload;
  return forked?.run === row.run ? ok({ run: root.run, session, before: true, from: forked, notes: [] }) : fail(keyReused);
}
