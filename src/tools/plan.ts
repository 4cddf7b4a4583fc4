/** `plan`: the agent's own list of what to do. It is kept nowhere but in the transcript, where its latest form stands. */
import { z } from 'zod';
import { defineBuiltIn } from './define-built-in.ts';
import { type OrdinaryTool, textResult } from './port.ts';

const input = z.strictObject({
  items: z
    .array(
      z.strictObject({
        text: z.string().min(1).max(500).describe('One step, in a few words.'),
        status: z.enum(['pending', 'active', 'done']),
      }),
    )
    .max(100)
    .describe('The whole list, every time: it replaces the last one.'),
});

const MARKS = { pending: '[ ]', active: '[>]', done: '[x]' } as const;

export function planTool(): OrdinaryTool {
  return defineBuiltIn({
    name: 'plan',
    description:
      'Writes down the steps of the task and how far they are. Use it for work of several steps, and again when a step is done.',
    input,
    replay: 'safe',
    readOnly: true,
    run: async ({ items }) => {
      if (items.length === 0) return textResult('The plan is empty.');
      const done = items.filter(({ status }) => status === 'done').length;
      const lines = items.map(({ text, status }) => `${MARKS[status]} ${text.replaceAll(/\s+/g, ' ')}`);
      return textResult(`Plan (${done} of ${items.length} done)\n${lines.join('\n')}`);
    },
  });
}
