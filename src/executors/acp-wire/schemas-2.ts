/** What an executor says in version 2, read with a light hand: what is not there or not usable is undefined. */
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { id, maybe, there, titleText, usableOf } from './schemas.ts';

export const greeted2 = z.object({
  protocolVersion: z.number(),
  info: maybe(z.object({ version: maybe(titleText) })),
  capabilities: maybe(
    z.object({
      session: maybe(
        z.object({
          prompt: maybe(z.object({ image: maybe(there) })),
          mcp: maybe(z.object({ stdio: maybe(there), http: maybe(there) })),
        }),
      ),
    }),
  ),
  authMethods: maybe(
    usableOf(z.object({ methodId: id, name: maybe(titleText), description: maybe(titleText) }), limits.executorModes),
  ),
});

export const permission2 = z.looseObject({
  title: titleText,
  description: maybe(titleText),
  subject: maybe(
    z.object({
      type: z.string(),
      toolCall: z.unknown().optional(),
      command: maybe(z.string()),
      cwd: maybe(z.string()),
      toolCallId: maybe(id),
    }),
  ),
});

export const stateUpdate2 = z.object({
  sessionId: id,
  update: z.looseObject({ sessionUpdate: z.literal('state_update'), state: z.string() }),
});

export const idle2 = z.object({
  stopReason: maybe(z.string()),
  error: maybe(z.object({ code: maybe(z.number()), message: maybe(titleText), data: z.unknown().optional() })),
});

/** The fields of all kinds; each has some of them. */
export const update2 = z.object({
  sessionId: id,
  update: z.looseObject({
    sessionUpdate: z.string(),
    messageId: maybe(id),
    toolCallId: maybe(id),
    terminalId: maybe(id),
    status: maybe(z.string()),
  }),
});

export const wholeMessage = z.object({ content: usableOf(z.object({ text: maybe(z.string()) }), limits.executorDiffs) });
export const messagePiece = z.object({ content: z.object({ text: maybe(z.string()) }) });
export const planItems = z.object({ plan: z.object({ type: z.literal('items'), entries: z.array(z.unknown()) }) });
export const terminalSaid = z.object({ output: maybe(z.object({ data: z.string() })), data: maybe(z.string()) });
export const noticeSaid = z.object({ title: titleText, description: maybe(titleText) });

const path = z.string().max(limits.pathCharacters);
export const callContent = z.object({
  type: z.string(),
  terminalId: maybe(id),
  changes: maybe(usableOf(z.object({ path, oldPath: maybe(path) }), limits.executorDiffs)),
  patch: maybe(z.object({ text: z.string() })),
});
