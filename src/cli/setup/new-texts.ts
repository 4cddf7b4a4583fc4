/** What `troupe new` writes: files that are right as they are, with the other settings beside them to be taken up. */

const SETTINGS = `# The model, if it is not the project's; of a list the next is tried when one fails.
# model: anthropic/claude-sonnet-5
# No run of it may use more than this.
# budget: { usd: 0.50, wall: 10m }
# Words that it is found by: troupe agents search …
# tags: [example]`;

export function agentText(name: string): string {
  return `---
# What it is for, in a sentence: shown to people, and to agents that may call it.
description: ${JSON.stringify(`${name}: say here what it is for.`)}
# What it may use. There are also edit, write, shell, fetch, plan, ask and mcp:<server>.
tools: [read, list, search]
# Model calls before it must report.
maxTurns: 10
${SETTINGS}
# What it may do: allow, ask or deny, for a tool or by rules.
# permissions: { shell: { "git diff*": allow, "*": ask } }
# Commands that must succeed before "done" is believed.
# verify: [npm test]
# Other agents, by name: "agents" has those that it may call, "advisors" are asked before it begins, "handoff" answers after it.
---
You are \${AGENT}. Today is \${DATE}.

Say here what the agent has to do, how it should go about it, and what a good answer looks like.
Look before you answer, and say which files your answer rests on.
`;
}

export function teamText(name: string, members: readonly string[]): string {
  return `---
# What it is for, in a sentence: shown to people, and to agents that may call it.
description: ${JSON.stringify(`${name}: say here what the team is for.`)}
# They work at the same time and talk by broadcast; this agent hears them after each round, and ends it.
team:
  members: [${members.map((member) => JSON.stringify(member)).join(', ')}]
  # Model calls of each member, and of this agent, over all rounds.
  memberMaxTurns: 12
  supervisorMaxTurns: 5
maxTurns: 5
${SETTINGS}
---
You lead a team: ${members.map((member) => `\`${member}\``).join(', ')}. You see only what they broadcast. After each round, decide:

- Another round, with \`team_broadcast\`, when an answer would change the result: say what is settled, and give each member by name
  one question that it can answer.
- The report, with \`final_report\`, as soon as the question is answered, or when nobody here can answer it.
`;
}

export function memberText(team: string, task: string): string {
  return `---
description: ${JSON.stringify(`A member of ${team}: ${task}.`)}
# What it may use. There are also edit, write, shell, fetch, plan, ask and mcp:<server>.
tools: [read, list, search]
maxTurns: 12
${SETTINGS}
---
You work in a team with others. Your part: you are the one who ${task}.

Say what you found and where. Answer what the others ask when you can, and say so when you cannot. Keep a broadcast under fifteen
lines. Leave with \`final: true\` when your part is done.
`;
}
