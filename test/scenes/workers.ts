/** Agents and scripts that several scenes have in common. */
import type { Stage } from '../support/terminal/stage.ts';

/** Asks before everything that changes something. */
export const WORKER = `---
name: w
tools: [shell, write, edit, fetch]
permissions: { shell: ask, write: ask, edit: ask, fetch: ask }
---
You work.
`;

/** A model that wants these calls in one turn, and then is done. */
export const asksFor = (...calls: readonly { readonly name: string; readonly input: Record<string, string> }[]) => [
  { toolCalls: calls },
  { text: 'Done.' },
];

/** A lead with three assistants who work side by side until the stage is told to go on. */
export async function teamAtWork(stage: Stage): Promise<{ readonly goOn: () => void }> {
  const held = Promise.withResolvers<void>();
  const names = ['historian', 'cartographer', 'translator'];
  await stage.project.write('agents/lead.md', `---\nname: lead\nagents: [${names.join(', ')}]\n---\nYou are lead.\n`);
  for (const name of names) await stage.project.write(`agents/${name}.md`, `---\nname: ${name}\n---\nYou are ${name}.\n`);
  const usage = { input: 1_200, output: 80 };
  await stage.project.serve(async ({ body, toolResults }) => {
    const [, who = ''] = /You are (\w+)/.exec(JSON.stringify(body)) ?? [];
    if (who === 'lead' && toolResults === 0)
      return { usage, calls: names.map((name) => ({ name, input: { prompt: 'Look it up.', reason: 'need' } })) };
    if (who !== 'lead') await held.promise;
    return { usage, text: `The ${who} has an answer.` };
  });
  return { goOn: held.resolve };
}
