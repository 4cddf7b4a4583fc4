/** The events about assistants, their messages and their processes as readable lines. */
import { unreachable } from '../base/errors.ts';
import type { assistantEvents, Party } from '../events/assistants.ts';
import type { EventOf } from '../events/envelope.ts';
import { firstLine } from './readable.ts';

type AssistantType = keyof typeof assistantEvents;
export type AssistantEvent = { [Type in AssistantType]: EventOf<Type> }[AssistantType];

const TEXT_CHARACTERS = 160;

export function assistantLine(event: AssistantEvent): ['info' | 'error', string] {
  switch (event.event_type) {
    case 'message.sent': {
      const { from, to, content, person } = event.payload;
      if (person !== undefined) return ['info', `${person.by} says to ${name(to)}: ${firstLine(content, TEXT_CHARACTERS)}`];
      return ['info', `message from ${name(from)} to ${name(to)}: ${firstLine(content, TEXT_CHARACTERS)}`];
    }
    case 'message.included':
      return ['info', `message ${event.payload.message} reached its reader (${event.payload.request})`];
    case 'message.read':
      return ['info', `message ${event.payload.message} read by ${name(event.payload.reader)}`];
    case 'context.noted':
      return ['info', `told: ${firstLine(event.payload.text.replaceAll('\n', ' '), TEXT_CHARACTERS)}`];
    case 'process.started':
      return ['info', `hosted by process ${event.payload.pid}${event.payload.attempt > 1 ? ', after the last one ended' : ''}`];
    case 'process.ended':
      return processEnded(event.payload);
    default:
      return unreachable(event);
  }
}

function processEnded({ pid, exitCode, signal, why }: EventOf<'process.ended'>['payload']): ['info' | 'error', string] {
  const how = signal === null ? `exit ${exitCode}` : signal;
  if (why === 'done' || why === 'stopped') return ['info', `process ${pid} ended (${how})`];
  return ['error', `process ${pid} ${why === 'too_old' ? 'was ended: it had lived too long' : 'crashed'} (${how})`];
}

const name = ({ assistant }: Party): string => assistant;
