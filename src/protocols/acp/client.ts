/**
 * The client at the other end of a connection. Updates go out in order; one that does not read them is let go of, because what
 * it does not take would have to be kept. What is asked of it is bounded, and taken back when somebody else has answered.
 */
import {
  type AgentContext,
  type ClientCapabilities,
  methods,
  type RequestPermissionRequest,
  type SessionUpdate,
} from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import type { PermissionWait, QuestionWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';
import { permissionAnswer, permissionRequest, serverRequest } from '../acp-wire/permission.ts';
import { answerIn, questionForm } from '../acp-wire/question.ts';

export interface AcpClient {
  /** As answers record it. */
  readonly by: string;
  /** The program itself, in a few words. */
  readonly name: string;
  update(session: string, update: SessionUpdate): void;
  /** Nothing when nobody has decided, or `gone` has aborted. */
  permission(session: string, wait: PermissionWait, workspace: string, gone: AbortSignal): Promise<Answer | undefined>;
  /** Whether a person allows that this server is started. */
  allowsServer(session: string, server: { readonly server: string; readonly shown: string }, gone: AbortSignal): Promise<boolean>;
  /** Nothing when it cannot be put, or nobody has answered. */
  question(session: string, wait: QuestionWait, gone: AbortSignal): Promise<Answer | undefined>;
}

interface Wire {
  readonly context: Pick<AgentContext, 'request' | 'notify'>;
  readonly name: string;
  readonly capabilities: ClientCapabilities;
  /** It does not read what is sent to it. */
  stuck(): void;
  onError(error: Error): void;
}

export function createAcpClient({ context, name, capabilities, stuck, onError }: Wire): AcpClient {
  let unsent = 0;
  let asking = 0;
  let free = Promise.withResolvers<void>();
  const among = async <Value>(gone: AbortSignal, ask: () => Promise<Value>): Promise<Value | undefined> => {
    while (asking >= limits.acpRequests) await free.promise;
    if (gone.aborted) return undefined;
    asking += 1;
    try {
      return await ask();
    } catch (error) {
      // Taken back, refused, or the client has gone: nobody has decided.
      if (!gone.aborted && error instanceof Error) onError(error);
      return undefined;
    } finally {
      asking -= 1;
      free.resolve();
      free = Promise.withResolvers();
    }
  };
  const permissionOf = (request: RequestPermissionRequest, gone: AbortSignal) =>
    among(gone, () => context.request(methods.client.session.requestPermission, request, options(gone)));
  const options = (gone: AbortSignal) => ({ cancellationSignal: gone, stopWaitingOnCancel: true });
  return {
    name,
    by: `acp client ${name}`,
    update(sessionId, update) {
      if (unsent >= limits.acpUnsent) return stuck();
      unsent += 1;
      const sent = (): void => {
        unsent -= 1;
      };
      context.notify(methods.client.session.update, { sessionId, update }).then(sent, sent);
    },
    async permission(session, wait, workspace, gone) {
      const answered = await permissionOf(permissionRequest(wait, session, workspace), gone);
      return answered === undefined ? undefined : permissionAnswer(answered);
    },
    async allowsServer(session, server, gone) {
      const answered = await permissionOf(serverRequest(server, session), gone);
      return answered !== undefined && permissionAnswer(answered)?.kind === 'approved';
    },
    async question(session, wait, gone) {
      if (!capabilities.elicitation?.form) return undefined;
      const form = questionForm(wait, session);
      const answered = await among(gone, () => context.request(methods.client.elicitation.create, form, options(gone)));
      return answered === undefined ? undefined : answerIn(answered);
    },
  };
}
