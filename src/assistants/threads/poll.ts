/** How a process stands, in counts and times only: cheap enough to be asked again and again. */
import { assert } from '../../base/errors.ts';
import { threadOf } from '../../base/ids.ts';
import { ok } from '../../base/result.ts';
import { hasEnded, type Process } from '../../projections/processes.ts';
import type { PollInput, PollOutput } from '../../tools/assistants/schemas.ts';
import type { AssistantCallOptions, Outcome } from '../port.ts';
import { type Access, partyOf } from './family.ts';
import { cancelled, type ServiceNeeds } from './service-needs.ts';
import type { SessionState } from './session-state.ts';
import { waitFor } from './waiting.ts';

export async function poll(
  needs: ServiceNeeds,
  access: Access,
  input: PollInput,
  options: AssistantCallOptions,
): Outcome<PollOutput> {
  const { owner, caller } = access;
  const state = await needs.sessions.open(owner.session);
  const before = processIn(state, access);
  await needs.idle(before);
  const reader = partyOf(caller);
  const summary = () => state.threads.summary(threadOf(owner.run), reader);
  const told = needs.told.last(reader, owner.run) ?? { status: before.status, received: summary().received - summary().unread };
  const waited = await waitFor(needs.clock, state, {
    milliseconds: input.wait_ms,
    signal: options.signal,
    isOver: () => {
      const process = processIn(state, access);
      return hasEnded(process) || process.status !== told.status || summary().received > told.received;
    },
    onTick: (milliseconds) => {
      const process = processIn(state, access);
      options.onProgress?.({ done: milliseconds, message: `${owner.agent} is ${process.status}` });
      needs.touch(process);
    },
  });
  if (waited === 'cancelled') return cancelled();
  const process = onTheWire(processIn(state, access));
  needs.told.tell(reader, owner.run, { status: process.status, received: summary().received });
  if (!input.include_summary) return ok({ process });
  const { total, unread, lastAt } = summary();
  return ok({ process, message_summary: { total_messages: total, unread_messages: unread, last_message_at: lastAt } });
}

function processIn({ processes }: SessionState, { owner }: Access): Process {
  const process = processes.find(owner.run);
  assert(process !== undefined, 'a run that has started is in its session');
  return process;
}

function onTheWire({ run, agent, status, startedAt, finishedAt, exitCode, verification }: Process): PollOutput['process'] {
  return {
    process_id: run,
    assistant_id: agent,
    thread_id: threadOf(run),
    status,
    started_at: startedAt,
    ...(finishedAt === null ? {} : { finished_at: finishedAt }),
    ...(exitCode === null ? {} : { exit_code: exitCode }),
    ...(verification === null ? {} : { verification }),
  };
}
