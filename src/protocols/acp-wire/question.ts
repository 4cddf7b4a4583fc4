/** A question in words, for a client that can show a form; any other has it as text, and answers with its next prompt. */
import type { CreateElicitationRequest, CreateElicitationResponse, ElicitationPropertySchema } from '@agentclientprotocol/sdk';
import { limits } from '../../base/limits.ts';
import type { QuestionWait } from '../../engine/port.ts';
import type { Answer } from '../../events/catalogue.ts';

const ANSWER = 'answer';
const CHOICE = 'choice';

export function questionForm(wait: QuestionWait, sessionId: string): CreateElicitationRequest {
  const choices = wait.choices ?? [];
  const text: ElicitationPropertySchema = { type: 'string', title: 'Answer', maxLength: limits.messageBytes };
  const choice: ElicitationPropertySchema = { type: 'string', title: 'Choose', enum: [...choices] };
  const other: ElicitationPropertySchema = { ...text, title: 'Or in your own words' };
  return {
    ...{ mode: 'form', sessionId, message: `${wait.member ?? wait.agent}: ${wait.question}` },
    requestedSchema: {
      type: 'object',
      // Any other answer is taken too.
      properties: choices.length === 0 ? { [ANSWER]: text } : { [CHOICE]: choice, [ANSWER]: other },
      ...(choices.length === 0 ? { required: [ANSWER] } : {}),
    },
  };
}

/** Nothing when nobody has answered. */
export function answerIn(response: CreateElicitationResponse): Answer | undefined {
  if (response.action !== 'accept' || !('content' in response)) return undefined;
  const content: Readonly<Record<string, unknown>> = Object(response.content);
  const said = [content[ANSWER], content[CHOICE]].find((value) => typeof value === 'string' && value.trim() !== '');
  return typeof said === 'string' ? { kind: 'text', text: said } : undefined;
}
