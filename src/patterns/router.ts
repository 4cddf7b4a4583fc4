/**
 * Router: an agent like any other that may end by sending the request to one of its destinations, with a note if it likes.
 * It keeps its own report: an agent that answers itself has not routed anything.
 */

import { z } from 'zod';
import { fail, ok } from '../base/result.ts';
import { sentence } from '../base/wording.ts';
import { textOf, userText } from '../events/messages.ts';
import { succeeded } from '../events/succeeded.ts';
import type { Exit } from '../loop/port.ts';
import type { AgentRun, Answered } from './agent-run.ts';
import { delegate } from './handoff.ts';
import { routedRequest } from './prompts.ts';
import { resting } from './verification.ts';

export const ROUTE = 'handoff-to';

export function routeExit(destinations: readonly string[]): Exit {
  const choice = z.strictObject({ agent: z.enum(destinations as [string, ...string[]]), message: z.string().optional() });
  return {
    spec: {
      name: ROUTE,
      description: 'Sends the user and an optional note to the selected agent, which answers in your place. Ends your work.',
      inputSchema: {
        type: 'object',
        properties: {
          agent: { type: 'string', enum: destinations },
          message: { type: 'string', description: 'Optional context for the next agent' },
        },
        required: ['agent'],
        additionalProperties: false,
      },
    },
    take(call) {
      const parsed = choice.safeParse(call.input);
      if (!parsed.success)
        return fail(`Not routed: ${sentence(z.prettifyError(parsed.error))} The destinations are: ${destinations.join(', ')}.`);
      const { agent, message } = parsed.data;
      const value = message === undefined || message.trim() === '' ? { agent } : { agent, message };
      const body = `Routed to ${agent}.`;
      return ok({ success: true, report: { format: 'text', body }, claims: [], exit: { tool: ROUTE, value } });
    },
  };
}

export async function followRoute(run: AgentRun, answered: Answered): Promise<Answered> {
  const { route } = answered;
  if (route === undefined || run.agent.router === undefined || !succeeded(answered.result)) return answered;
  await run.steps.emit('router/chose', { type: 'router.chose', payload: route });
  const nonce = await run.steps.nonce('router/fence');
  const input = routedRequest(textOf(run.input.content), run.agent.name, route.message, nonce);
  const router = { name: run.agent.name, result: answered.result };
  return { result: resting(await delegate(run, 'router', route.agent, userText(input)), [router]) };
}
