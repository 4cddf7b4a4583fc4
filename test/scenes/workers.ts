/** Agents and scripts that several scenes have in common. */

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
