/** `troupe forget`: destroys what a session, a run, an event, or every event that holds a text has said, for good. */
import { TroupeError } from '../../base/errors.ts';
import { type EventId, eventId, type SessionId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { counted } from '../../base/wording.ts';
import { carryOut, type ForgetPlan, type Forgotten, planForget, type WantedForget } from '../../front/forgetting/forget.ts';
import { forgetPlaces, forgottenValue, unreachedBy } from '../../front/forgetting/reach.ts';
import type { Ledger } from '../../ledger/port.ts';
import { readableBytes } from '../../projections/readable.ts';
import { findRun, isNamedBy } from '../drive/find-run.ts';
import { type CommandContext, callOf, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { signedBy } from './signed.ts';

export interface ForgetCommandOptions extends JsonOption {
  readonly matching?: string | undefined;
  readonly withForks?: boolean | undefined;
  readonly dryRun?: boolean | undefined;
  readonly yes?: boolean | undefined;
}

export async function forgetCommand(
  context: CommandContext,
  what: string | undefined,
  options: ForgetCommandOptions,
): Promise<ExitCode> {
  const { matching } = options;
  if (matching !== undefined && matching.trim().length < limits.forgetTextLeast)
    throw usageError(`--matching needs at least ${limits.forgetTextLeast} characters (limit forgetTextLeast)`);
  return withProject(context, { existing: true }, async (project) => {
    const places = forgetPlaces(project);
    const wanted: WantedForget = {
      target: await targetOf(project.ledger, what, matching),
      withForks: options.withForks === true,
    };
    const signed = signedBy(context);
    const planned = await planForget(places, wanted, signed);
    if (!planned.ok) throw new TroupeError(planned.error.code, planned.error.message, { fix: planned.error.fix });
    const plan = planned.value;
    const unreached = unreachedBy(project);
    if (options.json !== true) sayPlan(context, plan, unreached);
    if (!(await confirmed(context, options))) {
      if (options.json) printJson(context, 'forget', forgottenValue(plan, undefined, unreached));
      return exitCodes.completed;
    }
    const done = await carryOut(places, plan, signed);
    if (!done.ok) throw new TroupeError(done.error.code, done.error.message, { fix: done.error.fix });
    if (options.json) printJson(context, 'forget', forgottenValue(plan, done.value, unreached));
    else sayDone(context, done.value);
    return done.value.left.length === 0 ? exitCodes.completed : exitCodes.failed;
  });
}

async function targetOf(ledger: Ledger, what: string | undefined, text: string | undefined): Promise<WantedForget['target']> {
  if (what === undefined) return text === undefined ? { kind: 'nothing' } : { kind: 'matching', text, session: undefined };
  const [, name, position] = /^(.+)\.(\d{1,9})$/.exec(what) ?? [];
  const row = await findRun(ledger, name ?? what);
  const { session, run } = row;
  if (text !== undefined) return { kind: 'matching', text, session };
  if (position !== undefined) return eventTarget(session, Number(position));
  return isNamedBy(row, what) ? { kind: 'run', session, run } : { kind: 'session', session };
}

const eventTarget = (session: SessionId, position: number): WantedForget['target'] => {
  const event: EventId = eventId(session, position);
  return { kind: 'event', session, event, position };
};

/** Nothing goes without being asked for twice, or `--yes`. */
async function confirmed({ terminal }: CommandContext, options: ForgetCommandOptions): Promise<boolean> {
  if (options.dryRun === true) return false;
  if (options.yes === true) return true;
  if (!terminal.interactive || options.json === true) {
    if (options.json !== true) terminal.progress.line('nothing was forgotten; do it with --yes');
    return false;
  }
  const answer = await terminal.ask('forget it for good? yes or no: ');
  if (/^y(es)?$/i.test(answer?.trim() ?? '')) return true;
  terminal.progress.line('nothing was forgotten');
  return false;
}

function sayPlan(context: CommandContext, plan: ForgetPlan, unreached: readonly string[]): void {
  const { out, progress } = context.terminal;
  const { events, payloads, bytes, shared } = plan.outcome;
  const what = `${counted(events, 'event')} in ${counted(plan.sessions.length, 'session')}`;
  out.line(`to forget: ${what}, ${counted(payloads, 'payload')} (${readableBytes(bytes)})`);
  if (plan.unfinished.length > 0) out.line('to clear away: what was forgotten before and cut off');
  for (const session of plan.pinned) out.line(`pinned, and goes all the same: ${session}`);
  for (const folder of plan.folders) out.line(`goes too: ${safeLine(folder)}`);
  for (const session of plan.forks.slice(0, SHOWN)) out.line(`a fork stays: ${session}; with it: --with-forks`);
  for (const { session, payloads: many } of shared.slice(0, SHOWN))
    out.line(`stays there: ${counted(many, 'payload')} that ${session} has too`);
  if (shared.length > SHOWN) out.line(`stays there: payloads that ${shared.length - SHOWN} more sessions have too`);
  progress.prose(`not in reach: ${unreached.join('; ')}`);
}

const SHOWN = 10;

function sayDone(context: CommandContext, done: Forgotten): void {
  const { out } = context.terminal;
  out.line(`forgotten: ${counted(done.events, 'event')}, ${counted(done.payloads, 'payload')} (${readableBytes(done.bytes)})`);
  for (const file of done.files) out.line(`still names it: ${safeLine(file)}`);
  for (const why of done.left) out.line(`not cleared away: ${safeLine(why)}`);
  if (done.left.length > 0) out.line(`clear it away later: ${callOf(context)} forget --yes`);
}
