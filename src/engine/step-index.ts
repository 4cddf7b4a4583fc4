/**
 * Which step each message of a run came from, so that a request can say what it added by reference instead of by value.
 * Messages and results are known by identity: the loop passes on the very objects it was given.
 */
import type { Payloads } from '../events/catalogue.ts';
import type { Message, ToolResultPart } from '../events/messages.ts';

type Added = Payloads['model.request']['added'][number];

export interface StepIndex {
  place(item: Message | ToolResultPart, step: string): void;
  stepOf(item: Message | ToolResultPart): string | undefined;
  added(messages: readonly Message[]): Added[];
}

export function createStepIndex(): StepIndex {
  const steps = new WeakMap<object, string>();
  const reference = (message: Message): Added[] => {
    const step = steps.get(message);
    if (step !== undefined) return [{ step }];
    if (message.role !== 'tool') return [{ message }];
    return message.content.map((part) => {
      const partStep = steps.get(part);
      return partStep === undefined ? { message: { role: 'tool', content: [part] } } : { step: partStep };
    });
  };
  return {
    place: (item, step) => void steps.set(item, step),
    stepOf: (item) => steps.get(item),
    added: (messages) => messages.flatMap(reference),
  };
}
