/** The events about executors, as readable lines. What one says of itself is told as its word. */
import { unreachable } from '../../base/errors.ts';
import { counted } from '../../base/wording.ts';
import type { EventOf } from '../../events/envelope.ts';
import type { executorEvents } from '../../events/tasks/executor-events.ts';
import { firstLine } from '../readable.ts';

type ExecutorType = keyof typeof executorEvents;
type ExecutorEvent = { [Type in ExecutorType]: EventOf<Type> }[ExecutorType];

const TEXT_CHARACTERS = 160;

export function executorLine(event: ExecutorEvent): ['info' | 'detail' | 'warn', string] {
  switch (event.event_type) {
    case 'executor.session': {
      const { executor, version, restored, without = [] } = event.payload;
      const how = { new: 'begins', loaded: 'takes its session up again', live: 'goes on' }[restored];
      const lacks = without.length === 0 ? '' : `; it cannot do: ${without.join(', ')}`;
      return [lacks === '' ? 'detail' : 'warn', shown(`${executor}${version === undefined ? '' : ` ${version}`} ${how}${lacks}`)];
    }
    case 'executor.prompted':
      return ['detail', PROMPTED[event.payload.how]];
    case 'executor.call':
      return ['info', `its executor says that it does: ${shown(event.payload.title)}`];
    case 'executor.result': {
      const { status, output } = event.payload;
      const said = output === '' ? '' : `: ${shown(output)}`;
      if (status === 'completed') return ['detail', `its executor says that it is done${said}`];
      return ['warn', `its executor says that it failed${said}`];
    }
    case 'executor.decided': {
      const { title, decision, by, why } = event.payload;
      const whose = decision === 'cancelled' ? '' : by === 'person' ? ', as was answered' : ' by the rules';
      return [
        decision === 'denied' ? 'warn' : 'detail',
        shown(`${DECIDED[decision]}${whose}: ${title}${why === undefined ? '' : ` (${why})`}`),
      ];
    }
    case 'executor.planned':
      return ['detail', `its executor says that it plans ${counted(event.payload.entries.length, 'step')}`];
    case 'executor.ended': {
      const { executor, exitCode, signal, survivors = [], notices = [] } = event.payload;
      const how = exitCode === undefined ? (signal === undefined ? '' : ` by ${signal}`) : ` with exit code ${exitCode}`;
      const left = survivors.length === 0 ? '' : `; it had left ${counted(survivors.length, 'process', 'processes')} behind`;
      const odd = notices.length === 0 ? '' : `; ${notices.join(' ')}`;
      // Why it had to end is told by what failed.
      return [left === '' && odd === '' ? 'detail' : 'warn', shown(`${executor} ended${how}${left}${odd}`)];
    }
    default:
      return unreachable(event);
  }
}

const DECIDED = {
  allowed: 'what its executor wants is allowed',
  denied: 'what its executor wants is refused',
  cancelled: 'what its executor wants is not answered any more',
} as const;

const PROMPTED = {
  request: 'the request goes to its executor',
  'go-on': 'its executor was cut off, and is told to go on',
  again: 'another session of its executor is told the request, with what is known to be done',
  words: 'its executor is told what was not allowed, and why',
} as const;

const shown = (text: string): string => firstLine(text, TEXT_CHARACTERS);
