/** What a person says to a run, and what they are told about it: who hears it when, or why nobody does. */
import { type TroupeError, unreachable } from '../../base/errors.ts';
import { type RunId, shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { OpenWait, Sender, SendOutcome } from '../../engine/port.ts';
import { rootOf } from '../../engine/record/root-of.ts';
import { endedText } from '../../events/verification-text.ts';
import { nextCommand, standingBelow, type stateOf } from '../../front/standing.ts';
import type { RunRow } from '../../ledger/port.ts';
import { personHere } from '../../library/person-here.ts';
import type { Project } from '../../project/project.ts';
import { asCalled, type CommandContext, callOf, usageError } from '../terminal/command.ts';
import { safeLine } from '../terminal/safe-text.ts';

export interface SaidToRun {
  readonly message: string;
  readonly standing: ReturnType<typeof stateOf>;
  /** A process drives the run, and will hear of it. */
  readonly live: boolean;
  readonly told: string;
}

export async function sayToRun(
  context: CommandContext,
  { ledger, engine }: Pick<Project, 'ledger' | 'engine'>,
  row: RunRow,
  text: string,
  where: Sender['where'],
): Promise<SaidToRun> {
  const outcome = await engine.send(row.run, text, { by: personHere(), where });
  const now = (await ledger.runs({ run: row.run }))[0] ?? row;
  const root = await rootOf(ledger, now);
  if (outcome.kind !== 'accepted') throw notSaid(context, now, root, outcome);
  const waits = await engine.waits(row.run);
  const standing = hears(standingBelow(root, now, await asksBelow(ledger, waits, now)), outcome.live);
  const who = `${safeLine(now.agent)} (${shortId(now.run)})`;
  if (standing === 'running')
    return { message: outcome.message, standing, live: outcome.live, told: `told ${who}: it hears it before its next turn` };
  const goesOn = nextCommand(standsStill(root, now, standing), questionsOf(waits, now));
  const how = goesOn === undefined ? '' : `: ${asCalled(goesOn, callOf(context))}`;
  return { message: outcome.message, standing, live: outcome.live, told: `kept for ${who}, ${HEARS[standing]}${how}` };
}

/** Whether it asks, or a run below it does. */
async function asksBelow(ledger: Project['ledger'], waits: readonly OpenWait[], { run }: RunRow): Promise<boolean> {
  for (const wait of waits)
    for (let up: RunId | null = wait.run; up !== null; up = (await ledger.runs({ run: up }))[0]?.parent ?? null)
      if (up === run) return true;
  return false;
}

/** On a cluster somebody is told of it also where nobody is at work on the run at this moment. */
const hears = (standing: SaidToRun['standing'], live: boolean): SaidToRun['standing'] =>
  live && standing === 'interrupted' ? 'running' : standing;

/** The run that a command has to name for it to go on: who asks answers for itself, anything else goes on from the top. */
function standsStill(root: RunRow, { run, state }: RunRow, standing: SaidToRun['standing']): RunRow {
  const asks = standing === 'waiting' && state === 'waiting';
  return { ...root, run: asks ? run : root.run, state: standing === 'interrupted' ? 'running' : standing };
}

const questionsOf = (waits: readonly OpenWait[], { run }: RunRow) =>
  waits
    .filter((wait) => wait.run === run)
    .map((wait) => ({ kind: wait.kind, missing: wait.kind === 'permission' ? wait.missing : 0 }));

const LATER = 'and hears it when it goes on';
const HEARS: Readonly<Record<Exclude<SaidToRun['standing'], 'running'>, string>> = {
  waiting: `which waits for an answer ${LATER}`,
  paused: `which is paused ${LATER}`,
  parked: `which is parked ${LATER}`,
  interrupted: `which nobody works on ${LATER}`,
  completed: 'which has just ended',
  completed_unverified: 'which has just ended',
  failed: 'which has just ended',
  budget_exhausted: 'which has just ended',
  cancelled: 'which has just ended',
};

function notSaid(
  context: CommandContext,
  row: RunRow,
  root: RunRow,
  outcome: Exclude<SendOutcome, { readonly kind: 'accepted' }>,
): TroupeError {
  const call = callOf(context);
  const who = `${safeLine(row.agent)} (${shortId(row.run)})`;
  switch (outcome.kind) {
    case 'ended': {
      const above = `the run above it goes on: ${call} send ${shortId(root.run)} "…"`;
      const after = `go on with the conversation: ${call} run --continue --session ${root.session} "…"`;
      return usageError(
        `${who} has ended (${endedText(row.state, null)}) and hears nothing any more`,
        root.endedAt === null ? above : after,
      );
    }
    case 'nobody':
      return usageError(
        `${who} has others work for it, and none of them speaks in its name: nobody would hear it`,
        `write to one of them: ${call} show ${shortId(row.run)} names them`,
      );
    case 'full':
      return usageError(
        `${limits.messagesUnheard} messages wait to be heard by ${who} (limit messagesUnheard)`,
        `see how it stands: ${call} show ${shortId(root.run)}`,
      );
    case 'too long':
      return usageError(
        `the message has ${outcome.bytes} bytes; at most ${limits.messageBytes} are allowed (limit messageBytes)`,
        'put it into a file of the workspace and name the file',
      );
    case 'reused':
    case 'unknown':
      return usageError(`There is no run ${row.run} any more`, `see what there is: ${call} ps --all`);
    default:
      return unreachable(outcome);
  }
}
