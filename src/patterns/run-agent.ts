/**
 * One run of one agent, through the patterns that its file declares. The core is exactly one of its own loop and the patterns
 * that take its place. All of it recurses: any agent named anywhere may declare any pattern.
 */
import type { UserMessage } from '../events/messages.ts';
import { type AgentRun, type Answered, resultOf } from './agent-run.ts';
import { type Pattern, type Prepared, type Stages, stagesOf } from './pattern.ts';
import { registeredPatterns } from './registered.ts';
import type { RunResult } from './steps.ts';
import { type NamedResult, resting } from './verification.ts';

export async function runAgent(run: AgentRun, patterns: readonly Pattern[] = registeredPatterns): Promise<RunResult> {
  const stages = stagesOf(patterns, run);
  const prepared = await prepare(run, stages);
  if ('ended' in prepared) return prepared.ended;
  const made = await core(run, prepared.request, stages);
  const own = { ...made, result: resting(made.result, prepared.from) };
  // What was said to others has gone where it belongs: nothing follows.
  const answered = own.result.spoke === undefined ? await follow(run, own, stages) : own;
  const said = answered === own ? stages.place?.said : undefined;
  return said === undefined ? answered.result : await said(run, answered.result);
}

async function prepare(run: AgentRun, { preparing }: Stages): Promise<Prepared> {
  let request = run.input;
  const from: NamedResult[] = [];
  for (const pattern of preparing) {
    const prepared = await pattern.prepare?.(run, request);
    if (prepared === undefined) continue;
    if ('ended' in prepared) return prepared;
    request = prepared.request;
    from.push(...prepared.from);
  }
  return { request, from };
}

async function core(run: AgentRun, request: UserMessage, { place, cores, following }: Stages): Promise<Answered> {
  for (const pattern of cores) {
    const result = pattern.core?.(run, request);
    if (result !== undefined) return { result: await result };
  }
  // Whoever answers last has the place: here, or at the end of the chain.
  const here = place !== undefined && (place.applies !== 'all' || following.length === 0);
  if (here) return await place.loop(run, request);
  const exits = following.flatMap((pattern) => pattern.exits?.(run) ?? []);
  const checked = await run.loop({ input: request, exits, reports: true });
  return { result: resultOf(run, checked), exit: checked.exit };
}

async function follow(run: AgentRun, own: Answered, { following }: Stages): Promise<Answered> {
  let answered = own;
  for (const [index, pattern] of following.entries())
    answered = (await pattern.follow?.(run, answered, index === following.length - 1)) ?? answered;
  return answered;
}
