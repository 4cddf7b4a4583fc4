/**
 * Advisors: run side by side on the same request before the agent's first turn. What they say is put under fixed headings,
 * as they said it; one that fails leaves a report of its failure in its place, and the agent goes on with what there is.
 */
import { fenced, fenceNote } from '../../base/fence.ts';
import type { Verification } from '../../events/catalogue.ts';
import { textOf, type UserMessage, userText } from '../../events/messages.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import { verificationLine } from '../../events/verification-text.ts';
import type { AgentRun } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { Pattern, Prepared } from '../pattern.ts';
import type { RunResult } from '../steps.ts';

export const advisorsPattern = { key: 'advisors', prepare: withAdvice } as const satisfies Pattern;

async function withAdvice(run: AgentRun, input: UserMessage): Promise<Prepared> {
  const { steps } = run;
  const advisors = run.agent.advisors ?? [];
  if (advisors.length === 0) return { request: input, from: [] };
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
    from: results.map((result, index) => ({ name: advisors[index] ?? '', result })),
  };
}

function adviceText(advisor: string, result: RunResult): string {
  if (succeeded(result)) return reportText(result.report);
  return `Advisor consultation failed for ${advisor}: ${result.error?.message ?? result.status}`;
}

interface Advice {
  /** The agent whose words these are, after its own handoffs. */
  readonly label: string;
  readonly text: string;
  /** Absent when it failed: then there is nothing to build on. */
  readonly verification: Verification | undefined;
}

function enrichedRequest(request: string, advice: readonly Advice[], nonce: string): string {
  return [
    '## ORIGINAL USER REQUEST',
    fenced('request', nonce, request),
    '## ANALYSIS GATHERED',
    fenceNote(nonce),
    ...advice.flatMap(({ label, text, verification }) => [
      `### From ${label}`,
      ...(verification === undefined ? [] : [verificationLine(verification)]),
      fenced('analysis', nonce, text),
    ]),
  ].join('\n\n');
}
