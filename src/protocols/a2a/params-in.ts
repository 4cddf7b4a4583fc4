/**
 * What transports hand over, looked at once more: those of the older version pass on what a peer wrote, whatever it is, and the
 * types only say what it should be.
 */
import type { Message, TaskPushNotificationConfig } from '@a2a-js/sdk';
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';

const text = z.string();
const perhaps = z.string().nullish();
const thing = z.looseObject({}).nullish();

const part = z.looseObject({
  content: z
    .discriminatedUnion('$case', [
      z.looseObject({ $case: z.literal('text'), value: text }),
      z.looseObject({ $case: z.literal('url'), value: text }),
      z.looseObject({ $case: z.literal('raw'), value: z.instanceof(Buffer) }),
      z.looseObject({ $case: z.literal('data') }),
    ])
    .nullish(),
  filename: text,
  mediaType: text,
  metadata: thing,
});
const message = z.looseObject({ messageId: text, taskId: text, contextId: text, parts: z.array(part), metadata: thing });
const push = z.looseObject({
  ...{ url: text, id: perhaps, token: perhaps },
  authentication: z.looseObject({ scheme: perhaps, credentials: perhaps }).nullish(),
});

export const checkMessage = (value: Message): void => checkForm(message, value, 'The message');
export const checkPush = (value: TaskPushNotificationConfig): void => checkForm(push, value, 'The push config');

/** Throws, with the place, what a peer is told. */
export function checkForm(shape: z.ZodType, value: unknown, what: string): void {
  const issue = shape.safeParse(value).error?.issues[0];
  if (issue === undefined) return;
  const place = issue.path.map(String).join('.').slice(0, 100);
  throw new RequestMalformedError(`${what} has not the form that the protocol gives it${place === '' ? '' : `, at ${place}`}.`);
}

/** The id of a task or of something in it. */
export function idIn(value: unknown, name: string): string {
  if (typeof value === 'string') return value;
  throw new RequestMalformedError(`${name} must be a text.`);
}

/** What may be left out is then empty. */
export const wordIn = (value: unknown, name: string): string => (value === undefined || value === null ? '' : idIn(value, name));
