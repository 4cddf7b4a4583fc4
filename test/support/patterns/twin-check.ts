/** What the hand-driven twin does beside steps: it checks claims, knows the agents, and recalls, all by hand. */
import type { AgentDefinition } from '../../../src/agents/definition/definition.ts';
import { newestEntries } from '../../../src/agents/text/newest-entries.ts';
import { limits } from '../../../src/base/limits.ts';
import { about, skills } from '../../../src/engine/run/pattern-support.ts';
import type { Claim, Payloads, Verification } from '../../../src/events/catalogue.ts';
import { type Message, toolCallsOf } from '../../../src/events/messages.ts';
import { type AgentRun, wantedBy } from '../../../src/patterns/agent-run.ts';
import { stagesOf, type Voice } from '../../../src/patterns/pattern.ts';
import { registeredPatterns } from '../../../src/patterns/registered.ts';
import { UNCHECKED, unverified } from '../../../src/patterns/verification.ts';
import type { ScenarioEvent } from './scenarios.ts';

/** A claim is backed by a command that was seen to succeed in this run, and by nothing else: here no files are changed. */
export function checked(claims: readonly Claim[], seen: ReadonlySet<string>): Verification {
  const open = claims.filter((claim) => claim.kind === 'file' || !seen.has(claim.command));
  if (claims.length === 0) return UNCHECKED;
  const reasons = open.map((claim) => (claim.kind === 'file' ? notChanged(claim.path) : notRun(claim.command)));
  return open.length === 0 ? { state: 'verified' } : unverified(reasons, open);
}

const notRun = (command: string): string => `command ${JSON.stringify(command)}: this command was not run`;
const notChanged = (path: string): string => `file ${JSON.stringify(path)}: no recorded change of this file`;

type Support = 'context' | 'about' | 'skills' | 'asksNobody' | 'recall' | 'progress' | 'checkAgain';

/** What groups ask beside steps. No files are here to read or to change, and nobody pauses. */
export function handSupport(agents: readonly AgentDefinition[], events: readonly ScenarioEvent[]): Pick<AgentRun, Support> {
  return {
    async context(kind, source) {
      if (source === undefined || typeof source === 'string') return undefined;
      return newestEntries(source.text, limits.contextCharacters, kind === 'routing' ? 'top' : 'end');
    },
    about: async (names) => names.map((name) => about(agents.find((one) => one.name === name))),
    skills: async (names) => names.map((name) => skills(agents.find((one) => one.name === name))),
    asksNobody: async () => undefined,
    recall: async (type, accepts) => {
      const said = events.flatMap((event) => (event.type === type ? [event.payload as Payloads[typeof type]] : []));
      return said.findLast(accepts);
    },
    progress: async () => ({ files: '', tests: '', pauses: 0 }),
    checkAgain: async () => ({ state: 'verified' }),
  };
}

/** How it speaks in the place that it was given. */
export const voiceOf = (started: Payloads['run.started'], agent: AgentDefinition): Voice | undefined =>
  stagesOf(registeredPatterns, { agent, ...wantedBy(started) }).place?.voice;

export const systemOf = (started: Payloads['run.started'], agent: AgentDefinition): string =>
  voiceOf(started, agent)?.system(agent.prompt) ?? agent.prompt;

/** The same conversation in a form that can go on: the call that ended it has a result. */
export function closed(messages: readonly Message[]): readonly Message[] {
  const last = messages.at(-1);
  if (last?.role !== 'assistant' || toolCallsOf(last).length === 0) return messages;
  const done = [{ type: 'text' as const, text: 'Done.' }];
  const content = toolCallsOf(last).map(({ id, name }) => ({ type: 'tool-result' as const, id, name, content: done }));
  return [...messages, { role: 'tool', content }];
}
