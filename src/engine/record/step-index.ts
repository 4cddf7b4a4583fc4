/**
 * Which step each message of a run came from, so that a request can say what it added by reference instead of by value.
 * Messages and results are known by identity: the loop passes on the very objects it was given.
 */
import { present } from '../../base/present.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { Message, ToolResultPart } from '../../events/messages.ts';

type Added = Payloads['model.request']['added'][number];

export interface StepIndex {
  /** `run` when the message is another run's, such as a broadcast. */
  place(item: Message | ToolResultPart, step: string, run?: string): void;
  stepOf(item: Message | ToolResultPart): string | undefined;
  placeOf(item: Message | ToolResultPart): { readonly step?: string; readonly run?: string };
  added(messages: readonly Message[]): Added[];
}

export function createStepIndex(): StepIndex {
  const steps = new WeakMap<object, { readonly step: string; readonly run?: string }>();
  const reference = (message: Message): Added[] => {
    const known = steps.get(message);
    if (known !== undefined) return [known];
    if (message.role !== 'tool') return [{ message }];
    return message.content.map((part) => {
      return steps.get(part) ?? { message: { role: 'tool', content: [part] } };
    });
  };
  return {
    place: (item, step, run) => void steps.set(item, { step, ...present({ run }) }),
    placeOf: (item) => steps.get(item) ?? {},
    stepOf: (item) => steps.get(item)?.step,
    added: (messages) => messages.flatMap(reference),
  };
}
