/** Permissions and questions as callbacks, and a run that waits for days without them: `node examples/17-approvals/run.ts`. */
import { z } from 'zod';
import { createTroupe, defineAgent, defineTool, type PermissionWait } from '../../src/index.ts';

const sent: string[] = [];
const mail = defineTool({
  name: 'mail',
  description: 'Sends a letter.',
  input: z.object({ to: z.string(), text: z.string() }),
  // Not readOnly: each call needs a permission, and one that was cut off is never made again.
  run: ({ to }) => {
    sent.push(to);
    return `sent to ${to}`;
  },
});

const secretary = defineAgent({
  name: 'secretary',
  prompt: 'You invite people. Ask for the day first, then write one letter to each guest.',
  tools: ['ask', 'mail'],
});

await using troupe = await createTroupe({
  root: import.meta.dirname,
  model: 'scripted:replies.yaml',
  agents: [secretary],
  tools: [mail],
});

// Without callbacks the run stops where it needs somebody, and says what for. Nothing is held meanwhile.
const waiting = await troupe.run('secretary', 'Invite everybody.');
if (waiting.status !== 'waiting') throw new Error(`not waiting: ${waiting.status}`);
for (const { agent, question } of waiting.waits) process.stdout.write(`${agent}: ${question}\n`);

// Later, perhaps in another process: go on with somebody who decides.
const onlyFriends = ({ tool, input }: PermissionWait) => {
  const { to } = z.object({ to: z.string() }).parse(input);
  process.stdout.write(`may ${tool} ${to}? ${to.endsWith('@friends.example')}\n`);
  return to.endsWith('@friends.example') || { deny: 'only friends are invited' };
};
const result = await troupe.resume(waiting.run, { answer: ({ choices }) => choices?.[0], approve: onlyFriends });

process.stdout.write(`${result.status}: ${'report' in result ? result.report.body : ''}\n`);
process.stdout.write(`sent: ${sent.join(', ')}\n`);
