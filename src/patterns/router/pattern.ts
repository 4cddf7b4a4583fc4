/**
 * Router: an agent like any other that may end by sending the request to one of its destinations, with a note if it likes.
 * It keeps its own report: an agent that answers itself has not routed anything.
 */

import { z } from 'zod';
import { fenced } from '../../base/fence.ts';
import { fail, ok } from '../../base/result.ts';
import { sentence } from '../../base/wording.ts';
import { textOf, userText } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { Exit } from '../../loop/port.ts';
import type { AgentRun, Answered } from '../agent-run.ts';
import { delegate } from '../delegate.ts';
import type { Pattern } from '../pattern.ts';
import { resting } from '../verification.ts';

const ROUTE = 'handoff-to';
const STAGE = 'router';
const choice = z.strictObject({ agent: z.string(), message: z.string().optional() });

export const routerPattern = {
  key: 'router',
  tools: [ROUTE],
  answeredBy: [STAGE],
  exits: (run) => (run.agent.router === undefined ? [] : [routeExit(run, run.agent.router.destinations)]),
  follow: followRoute,
} as const satisfies Pattern;

function routeExit(run: AgentRun, destinations: readonly string[]): Exit {
  const known = choice.extend({ agent: z.enum(destinations as [string, ...string[]]) });
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
    async take(call) {
      const parsed = known.safeParse(call.input);
      if (!parsed.success)
        return fail(`Not routed: ${sentence(z.prettifyError(parsed.error))} The destinations are: ${destinations.join(', ')}.`);
      const { agent, message } = parsed.data;
      const closed = await run.asksNobody(`router/closed/${agent}`, agent, 'router.chose');
      if (closed !== undefined)
        return fail(`Not routed: ${agent} cannot be asked now. ${sentence(closed)} ${elseThan(agent, destinations)}`);
      const value = message === undefined || message.trim() === '' ? { agent } : { agent, message };
      const body = `Routed to ${agent}.`;
      return ok({ success: true, report: { format: 'text', body }, claims: [], exit: { tool: ROUTE, value } });
    },
  };
}

function elseThan(agent: string, destinations: readonly string[]): string {
  const others = destinations.filter((one) => one !== agent);
  return others.length === 0 ? 'Answer yourself.' : `The other destinations are: ${others.join(', ')}. Or answer yourself.`;
}

async function followRoute(run: AgentRun, answered: Answered, isLast: boolean): Promise<Answered> {
  if (answered.exit?.tool !== ROUTE || !succeeded(answered.result)) return answered;
  const route = choice.parse(answered.exit.value);
  await run.steps.emit('router/chose', { type: 'router.chose', payload: route });
  const { name } = run.agent;
  const nonce = await run.steps.nonce('router/fence');
  const input = userText(routedRequest(textOf(run.input.content), name, route.message, nonce));
  const reason = `${name} routed the request here`;
  const result = await delegate(run, { stage: STAGE, agent: route.agent, input, reason, isLast });
  return { result: resting(result, [{ name, result: answered.result }]) };
}

function routedRequest(request: string, router: string, message: string | undefined, nonce: string): string {
  const original = ['## ORIGINAL USER REQUEST', fenced('request', nonce, request)];
  if (message === undefined) return original.join('\n\n');
  const heading = `## MESSAGE FROM AGENT \`${router}\` WHO ROUTED THIS REQUEST TO YOU`;
  return [...original, heading, fenced('message', nonce, message)].join('\n\n');
}
