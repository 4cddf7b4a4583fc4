/**
 * A permission, asked of the client: all of what would be done, and what "always" would write down. Whoever answers is known by
 * the client's name, and the answer counts for what was shown and nothing else.
 */
import type { PermissionOption, RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk';
import { present } from '../../base/present.ts';
import { judgedLine, judgedName, judgedText } from '../../base/visible-text.ts';
import type { PermissionWait } from '../../engine/port.ts';
import type { Answering } from '../../events/assistants.ts';
import type { Answer } from '../../events/catalogue.ts';
import { callOfWait, changeOf, kindOf, locationsOf, shownInput, textContent, titleOf } from './shown-calls.ts';

const OPTIONS = { once: 'allow_once', always: 'allow_always', no: 'reject_once' } as const;

export function permissionRequest(wait: PermissionWait, sessionId: string, workspace: string): RequestPermissionRequest {
  const { run, tool, input, request, rule } = wait;
  const always: PermissionOption[] =
    rule === undefined
      ? []
      : [{ optionId: OPTIONS.always, kind: 'allow_always', name: `Always in this session: ${judgedLine(rule)}` }];
  return {
    sessionId,
    toolCall: {
      ...{ toolCallId: callOfWait(run, wait.wait), title: titleOf(tool, input, wait.member ?? wait.agent), kind: kindOf(tool) },
      ...{ status: 'pending', rawInput: shownInput(input), locations: locationsOf(input, workspace) },
      // The request is what is approved; the difference beside it is for the eye.
      content: [textContent(request), ...changeOf(tool, input, workspace)],
    },
    options: [
      { optionId: OPTIONS.once, kind: 'allow_once', name: 'Allow once' },
      ...always,
      { optionId: OPTIONS.no, kind: 'reject_once', name: 'Reject' },
    ],
  };
}

/** Whether a server may be started: it is asked like a permission, and remembered like one that an agent's file declares. */
export function serverRequest({ server, shown }: { readonly server: string; readonly shown: string }, sessionId: string) {
  return {
    sessionId,
    toolCall: {
      ...{
        toolCallId: `server/${server}`,
        title: `Start the MCP server ${judgedName(server)}`,
        kind: 'execute',
        status: 'pending',
      },
      content: [textContent(judgedText(shown))],
    },
    options: [
      { optionId: OPTIONS.always, kind: 'allow_always', name: 'Allow exactly this server in this project' },
      { optionId: OPTIONS.no, kind: 'reject_once', name: 'Reject' },
    ],
  } satisfies RequestPermissionRequest;
}

/** Nothing when nobody has decided. */
export function permissionAnswer({ outcome }: RequestPermissionResponse): Answer | undefined {
  if (outcome.outcome !== 'selected') return undefined;
  switch (outcome.optionId) {
    case OPTIONS.once:
      return { kind: 'approved', whole: true };
    case OPTIONS.always:
      return { kind: 'approved', whole: true, remember: true };
    case OPTIONS.no:
      return { kind: 'denied' };
    default:
      return undefined;
  }
}

export const answeringClient = (by: string, shown?: string | undefined): Answering => ({
  by,
  where: 'acp',
  ...present({ shown }),
});
