/** `ask`: a question to the user. The runtime asks it and waits, if need be for days; the answer is the result. */
import { z } from 'zod';
import { defineAnsweredTool } from './define-built-in.ts';
import type { QuestionTool } from './port.ts';

const input = z.strictObject({
  question: z.string().min(1).max(4_000).describe('The question, complete in itself.'),
  choices: z.array(z.string().min(1).max(200)).min(2).max(20).optional().describe('Possible answers, if there are only a few.'),
});

export function askTool(): QuestionTool {
  return defineAnsweredTool('question', {
    name: 'ask',
    description: 'Asks the user a question and waits for the answer. Only for what you cannot find out or decide yourself.',
    input,
  });
}
