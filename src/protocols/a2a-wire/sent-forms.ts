/**
 * What comes as JSON, before the SDK reads it: that makes a text of what is none, leaves out what it cannot decode and passes
 * over what stands in the wrong place, so that something else would be worked on than what was sent. Left out is the same as
 * `null`, and names are taken in either spelling, as JSON of protocol buffers has them.
 */
import { RequestMalformedError } from '@a2a-js/sdk/errors';
import { z } from 'zod';
import { isJsonObject } from '../../base/json.ts';
import { checkForm } from '../a2a/params-in.ts';

const text = z.string().nullish();
const texts = z.array(z.string()).nullish();
const thing = z.custom(isJsonObject).nullish();
const flag = z.boolean().nullish();
/** A number may be written as a text. */
const count = z.union([z.number().int(), z.string().regex(/^-?\d{1,9}$/)]).nullish();
const word = z.union([z.string(), z.number()]).nullish();
const bytes = z.string().refine(isBase64).nullish();

/** In either alphabet, with its padding or without. */
function isBase64(value: string): boolean {
  const [, digits, padding = ''] = /^([\w+/-]*)(={0,2})$/.exec(value) ?? [];
  if (digits === undefined || digits.length % 4 === 1) return false;
  return padding === '' || (digits.length + padding.length) % 4 === 0;
}

const isSet = (value: unknown): boolean => value !== undefined && value !== null;

/** One of these, and no other beside it. */
const oneOf =
  (...names: readonly string[]) =>
  (value: object): boolean =>
    names.filter((name) => isSet(Reflect.get(value, name))).length === 1;

/** Each field under both of its names. */
function form<Shape extends z.ZodRawShape>(shape: Shape): z.ZodType<object> {
  const spelled = Object.entries(shape).flatMap(([name, field]) => [
    [name, field],
    [name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`), field],
  ]);
  return z.looseObject(Object.fromEntries(spelled) as z.ZodRawShape);
}

const push = form({
  ...{ tenant: text, id: text, taskId: text, url: text, token: text },
  authentication: form({ scheme: text, credentials: text }).nullish(),
});
const part = form({ text, raw: bytes, url: text, filename: text, mediaType: text, metadata: thing }).refine(
  oneOf('text', 'raw', 'url', 'data'),
);
const message = form({
  ...{ messageId: text, contextId: text, taskId: text, role: word, metadata: thing },
  ...{ parts: z.array(part), extensions: texts, referenceTaskIds: texts },
});
const send = form({
  ...{ tenant: text, message: message.nullish(), metadata: thing },
  configuration: form({
    ...{ acceptedOutputModes: texts, taskPushNotificationConfig: push.nullish(), historyLength: count, returnImmediately: flag },
  }).nullish(),
});
const task = form({ tenant: text, id: text, historyLength: count, metadata: thing });
const config = form({ tenant: text, taskId: text, id: text, pageSize: count, pageToken: text });

const legacyPush = z.looseObject({
  ...{ url: text, id: text, token: text },
  authentication: z.looseObject({ schemes: texts, credentials: text }).nullish(),
});
const legacyFile = z.looseObject({ bytes, uri: text, name: text, mimeType: text }).refine(oneOf('bytes', 'uri'));
const legacyPart = z
  .looseObject({ kind: z.enum(['text', 'file', 'data']), text, file: legacyFile.nullish(), data: thing, metadata: thing })
  .refine(oneOf('text', 'file', 'data'))
  .refine((value) => isSet(value[value.kind]));
const legacySend = z.looseObject({
  message: z.looseObject({
    ...{ messageId: text, contextId: text, taskId: text, role: word, metadata: thing },
    ...{ parts: z.array(legacyPart), extensions: texts, referenceTaskIds: texts },
  }),
  configuration: z
    .looseObject({
      ...{ acceptedOutputModes: texts, blocking: flag, historyLength: count, pushNotificationConfig: legacyPush.nullish() },
    })
    .nullish(),
  metadata: thing,
});
const legacyTask = z.looseObject({ id: text, historyLength: count, metadata: thing });

/** By the methods of JSON-RPC. */
const FORMS: Readonly<Record<string, z.ZodType>> = {
  SendMessage: send,
  SendStreamingMessage: send,
  GetTask: task,
  ListTasks: form({
    ...{ tenant: text, contextId: text, status: word, pageSize: count, pageToken: text, historyLength: count },
    ...{ statusTimestampAfter: text, includeArtifacts: flag },
  }),
  CancelTask: task,
  SubscribeToTask: task,
  CreateTaskPushNotificationConfig: push,
  GetTaskPushNotificationConfig: config,
  ListTaskPushNotificationConfigs: config,
  DeleteTaskPushNotificationConfig: config,
};
const LEGACY_FORMS: Readonly<Record<string, z.ZodType>> = {
  'message/send': legacySend,
  'message/stream': legacySend,
  'tasks/get': legacyTask,
  'tasks/cancel': legacyTask,
  'tasks/resubscribe': legacyTask,
  'tasks/pushNotificationConfig/set': z.looseObject({ taskId: text, pushNotificationConfig: legacyPush.nullish() }),
};

/** Throws when what a method is given is not what its version says it is. Methods that are not known are the SDK's matter. */
export function checkSent(method: string, params: unknown, { legacy }: { readonly legacy: boolean }): void {
  const forms = legacy ? LEGACY_FORMS : FORMS;
  const shape = Object.hasOwn(forms, method) ? forms[method] : undefined;
  if (shape !== undefined && isJsonObject(params)) checkForm(shape, params, 'The request');
}

/** What stands in an address, where there are only texts. */
export function flagIn(query: URLSearchParams, name: string): boolean {
  const said = query.get(name) ?? '';
  if (said === '' || said === 'false') return false;
  if (said === 'true') return true;
  throw new RequestMalformedError(`${name} must be true or false.`);
}
