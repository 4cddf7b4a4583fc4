/**
 * A seat in a team: the agent speaks by broadcast and hears the others' broadcasts. Members have no report; the supervisor
 * may report, which ends the team.
 */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { fail, ok, type Result } from '../../base/result.ts';
import type { UserMessage } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import type { Seat } from '../../events/run-origin.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Ending, Exit } from '../../loop/port.ts';
import { type AgentRun, type Answered, resultOf } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';

export const BROADCAST = 'team_broadcast';

const broadcast = z.strictObject({ message: z.string().min(1), final: z.boolean().optional() });

export async function seatedLoop(run: AgentRun, request: UserMessage, seat: Seat): Promise<Answered> {
  const supervisor = seat.role === 'supervisor';
  const exits = seat.alone === true ? [] : [broadcastExit(!supervisor)];
  const checked = await run.loop({
    input: request,
    hears: true,
    turnsBefore: seat.turnsBefore,
    exits,
    reports: supervisor,
    // A member that just says it has said it to the team; a supervisor's plain answer is its report.
    ...(supervisor ? {} : { plain: (text: string) => spoken(text, false) }),
  });
  const spoke =
    checked.exit?.tool === BROADCAST
      ? { spoke: checked.exit.value['final'] === true ? ('final' as const) : ('update' as const) }
      : {};
  return { result: { ...resultOf(run, checked), ...spoke } };
}

/** Records what the member or the supervisor said, where it was said: the others hear it from there. */
export async function announce(run: AgentRun, seat: Seat, result: RunResult): Promise<RunResult> {
  const speaks = seat.role === 'member' || result.spoke !== undefined;
  if (!speaks || !succeeded(result)) return result;
  await run.steps.broadcast('broadcast', {
    team: seat.team,
    cycle: seat.cycle,
    type: 'update',
    memberId: seat.member,
    message: reportText(result.report),
    turnCount: seat.turnsBefore + result.turns,
    ...(result.spoke === 'final' ? { final: true } : {}),
  });
  return { ...result, spoke: result.spoke ?? 'update' };
}

function broadcastExit(mayLeave: boolean): Exit {
  const leave = { final: { type: 'boolean', description: 'true when this is your last word and you leave the team' } };
  return {
    // Members speak until the end; a supervisor's broadcast only begins another cycle.
    goesOn: !mayLeave,
    spec: {
      name: BROADCAST,
      description: 'Says something to everybody in the team. Your turn in this cycle ends with it.',
      inputSchema: {
        type: 'object',
        properties: { message: { type: 'string', description: 'All that the others need to know' }, ...(mayLeave ? leave : {}) },
        required: ['message'],
        additionalProperties: false,
      },
    },
    take(call) {
      const parsed = broadcast.safeParse(call.input);
      if (!parsed.success) return fail(`Not sent: ${z.prettifyError(parsed.error)}`);
      return spoken(parsed.data.message, mayLeave && parsed.data.final === true);
    },
  };
}

function spoken(message: string, final: boolean): Result<Ending, string> {
  if (Buffer.byteLength(message) > limits.broadcastBytes) {
    return fail(
      `Not sent: a broadcast may have at most ${limits.broadcastBytes} bytes. Say it shorter, and put long material into a file.`,
    );
  }
  return ok({
    success: true,
    report: { format: 'text', body: message },
    claims: [],
    exit: { tool: BROADCAST, value: { final } },
  });
}
