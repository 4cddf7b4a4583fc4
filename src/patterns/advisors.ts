/**
 * Advisors: run side by side on the same request before the agent's first turn. What they say is put under fixed headings,
 * as they said it; one that fails leaves a report of its failure in its place, and the agent goes on with what there is.
 */
import { textOf, type UserMessage, userText } from '../events/messages.ts';
import { reportText } from '../events/report-text.ts';
import { succeeded } from '../events/succeeded.ts';
import type { AgentRun } from './agent-run.ts';
import { endedEmpty, ranOut } from './out-of-budget.ts';
import { enrichedRequest, failedAdvice } from './prompts.ts';
import type { RunResult } from './steps.ts';
import type { NamedResult } from './verification.ts';

/** The request as the agent gets it, and what was put into it. */
export interface Advised {
  readonly request: UserMessage;
  readonly advice: readonly NamedResult[];
}

export async function withAdvice(run: AgentRun): Promise<Advised | { readonly ended: RunResult }> {
  const { steps, input } = run;
  const advisors = run.agent.advisors ?? [];
  if (advisors.length === 0) return { request: input, advice: [] };
  const handles = [];
  for (const name of advisors) {
    const options = { kind: 'pattern', role: 'advisor', reason: `advice for ${run.agent.name}` } as const;
    handles.push(await steps.start(`advisors/${name}`, name, input, options));
  }
  const results = await steps.settled(handles);
  for (const [index, result] of results.entries()) {
    const advisor = advisors[index] ?? '';
    const { finalAgent, status, verification } = result;
    const payload = { advisor, finalAgent, status, verification };
    await steps.emit(`advisors/${advisor}/reported`, { type: 'advisor.reported', payload });
  }
  const out = ranOut(run, results);
  if (out !== undefined) {
    const said = results.filter(succeeded).map(({ finalAgent, report }) => ({ who: finalAgent, text: report.body }));
    return { ended: endedEmpty(run, out, said) };
  }
  const advice = results.map((result, index) => ({
    label: result.finalAgent,
    text: adviceText(advisors[index] ?? '', result),
    verification: succeeded(result) ? result.verification : undefined,
  }));
  const text = enrichedRequest(textOf(input.content), advice, await steps.nonce('advisors/fence'));
  const images = input.content.filter((part) => part.type === 'image');
  return {
    request: { ...userText(text), content: [{ type: 'text', text }, ...images] },
    advice: results.map((result, index) => ({ name: advisors[index] ?? '', result })),
  };
}

function adviceText(advisor: string, result: RunResult): string {
  return succeeded(result) ? reportText(result.report) : failedAdvice(advisor, result.error?.message ?? result.status);
}
