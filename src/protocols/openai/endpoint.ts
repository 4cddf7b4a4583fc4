/**
 * Agents for clients of OpenAI: the same addresses, the same bodies. Nothing is decided here; `src/front/chat` says who may talk
 * with whom, where a conversation goes on, and what it may cost.
 */
import type { EdgeReply, EdgeRequest, ServedEdge } from '../edges/edge.ts';
import { answerChat } from './chat.ts';
import { errorReply, errorValue, refusedAtDoor } from './errors.ts';
import { answerModels } from './models-out.ts';
import type { OpenAiNeeds } from './needs.ts';
import { answerResponses } from './responses.ts';

export function createOpenAiEdge(needs: OpenAiNeeds): ServedEdge {
  return {
    answer: async (request) => (await answered(needs, request)) ?? nothingThere(request),
    refused: (refusal) => errorValue(refusedAtDoor(refusal)),
  };
}

async function answered(needs: OpenAiNeeds, request: EdgeRequest): Promise<EdgeReply | undefined> {
  const { method, path } = request;
  const place = `${method} ${path.join('/')}`;
  if (method === 'GET' && path[0] === 'models') return await answerModels(needs, request);
  if (place === 'POST chat/completions') return await answerChat(needs, request);
  return path[0] === 'responses' ? await answerResponses(needs, request) : undefined;
}

const nothingThere = ({ method, path }: EdgeRequest): EdgeReply =>
  errorReply({
    ...{ status: 404, type: 'invalid_request_error', code: 'unknown_url' },
    message: `There is no ${method} /v1/${path.join('/').slice(0, 100)}; there are models, chat/completions and responses.`,
  });
