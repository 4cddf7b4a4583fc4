/**
 * gRPC has no paths, so an agent has no address of its own there: its card names it as the tenant of the house's address, which
 * every request then carries. A task that came by this door is the caller's like any other, whichever way it is asked for.
 */
import type { A2ARequestHandler } from '@a2a-js/sdk/server';
import { agentInTenant } from '../a2a/cards.ts';
import type { Door } from '../a2a/doors.ts';

export function throughTenants(handlerOf: (door: Door) => A2ARequestHandler): A2ARequestHandler {
  const at = <Params extends { readonly tenant: string }>(params: Params): readonly [A2ARequestHandler, Params] => {
    const name = agentInTenant(params.tenant);
    return name === undefined
      ? [handlerOf({ kind: 'house' }), params]
      : [handlerOf({ kind: 'agent', name }), { ...params, tenant: '' }];
  };
  return {
    getAgentCard: () => handlerOf({ kind: 'house' }).getAgentCard(),
    getAuthenticatedExtendedAgentCard(given, context) {
      const [handler, params] = at(given);
      return handler.getAuthenticatedExtendedAgentCard(params, context);
    },
    sendMessage(given, context) {
      const [handler, params] = at(given);
      return handler.sendMessage(params, context);
    },
    sendMessageStream(given, context) {
      const [handler, params] = at(given);
      return handler.sendMessageStream(params, context);
    },
    resubscribe(given, context) {
      const [handler, params] = at(given);
      return handler.resubscribe(params, context);
    },
    getTask(given, context) {
      const [handler, params] = at(given);
      return handler.getTask(params, context);
    },
    listTasks(given, context) {
      const [handler, params] = at(given);
      return handler.listTasks(params, context);
    },
    cancelTask(given, context) {
      const [handler, params] = at(given);
      return handler.cancelTask(params, context);
    },
    createTaskPushNotificationConfig(given, context) {
      const [handler, params] = at(given);
      return handler.createTaskPushNotificationConfig(params, context);
    },
    getTaskPushNotificationConfig(given, context) {
      const [handler, params] = at(given);
      return handler.getTaskPushNotificationConfig(params, context);
    },
    listTaskPushNotificationConfigs(given, context) {
      const [handler, params] = at(given);
      return handler.listTaskPushNotificationConfigs(params, context);
    },
    deleteTaskPushNotificationConfig(given, context) {
      const [handler, params] = at(given);
      return handler.deleteTaskPushNotificationConfig(params, context);
    },
  };
}
