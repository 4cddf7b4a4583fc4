/**
 * Goes on with what is unfinished in a session: a prompt to a run that asked something is the answer; to one that was cut off,
 * paused or parked it is what it hears next.
 */
import { unreachable } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import type { RunHandle } from '../../engine/port.ts';
import { textOf, type UserMessage } from '../../events/messages.ts';
import { modeSaid } from '../../events/run-origin.ts';
import type { RunRow } from '../../ledger/port.ts';
import { acpError } from '../acp-wire/errors.ts';
import { answeringClient } from '../acp-wire/permission.ts';
import type { AcpClient } from './client.ts';
import type { AcpMode, AcpProject, Choices } from './needs.ts';

interface Going {
  readonly project: AcpProject;
  readonly client: AcpClient;
  readonly id: SessionId;
  readonly chosen: Choices;
}

/** How free a mode is. */
const FREEDOM: Readonly<Record<AcpMode, number>> = { 'read-only': 0, ask: 1, full: 2 };

/** Nothing when the last run has ended: a new one begins. */
export async function goOn(going: Going, input: UserMessage): Promise<RunHandle | undefined> {
  const { project, id, chosen } = going;
  const { engine, ledger } = project;
  const [newest] = await ledger.runs({ session: id, roots: true, limit: 1 });
  if (newest === undefined || newest.endedAt !== null) return undefined;
  if (newest.owner !== null)
    throw acpError({
      code: 'held',
      message: `Process ${newest.owner.pid} on ${newest.owner.host} works in this session now.`,
      fix: 'Wait until it is done, and say it again.',
    });
  const mode = await modeOfRun(project, newest);
  if (FREEDOM[chosen.mode] < FREEDOM[mode])
    throw acpError({
      code: 'busy',
      message: `The run before has not ended, and was started in the mode "${mode}".`,
      fix: 'Choose that mode again to go on with it, or end it: session/cancel.',
    });
  await say(going, newest, textOf(input.content));
  const resumed = await engine.resume(newest.run, chosen.model === undefined ? undefined : { model: chosen.model });
  switch (resumed.kind) {
    case 'resumed':
      return resumed.handle;
    case 'ended':
    case 'unknown':
      return undefined;
    case 'refused':
      throw acpError(resumed.error);
    case 'held':
      throw acpError({
        code: 'held',
        message: `Process ${resumed.owner.pid} on ${resumed.owner.host} works in this session now.`,
      });
    default:
      return unreachable(resumed);
  }
}

async function modeOfRun({ ledger }: Pick<AcpProject, 'ledger'>, { session, run }: RunRow): Promise<AcpMode> {
  const [started] = await ledger.read({ session, run, types: ['run.started'], limit: 1 });
  return (started?.event_type === 'run.started' ? modeSaid(started.payload) : undefined) ?? 'ask';
}

async function say({ project: { engine }, client }: Going, { run }: RunRow, text: string): Promise<void> {
  if (text.trim() === '') return;
  const question = (await engine.waits(run)).find((wait) => wait.kind === 'question');
  if (question !== undefined) {
    // Somebody may have been faster: then their answer counts, and the run goes on with it.
    await engine.answer(question.run, question.wait, { kind: 'text', text }, answeringClient(client.by));
    return;
  }
  const sent = await engine.send(run, text, { by: client.by, where: 'acp' });
  if (sent.kind === 'full' || sent.kind === 'too long')
    throw acpError({ code: 'limit', message: 'The run before has not ended, and cannot be told more now.', fix: 'Say less.' });
}
