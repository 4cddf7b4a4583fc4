/** Routing: the agent's own model chooses from a catalogue, or the choice is the one that was made for the same before. */
import { createHash } from 'node:crypto';
import { filled } from '../../agents/definition/places.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { startOf } from '../../base/whole-words.ts';
import { counted } from '../../base/wording.ts';
import type { Payloads } from '../../events/catalogue.ts';
import type { UserMessage } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import { type AgentRun, wasStopped } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import type { RunResult } from '../steps.ts';
import { type Choice, choiceIn } from './choice.ts';
import { type Asked, catalogueText, routerSystem, routingPrompt } from './prompts.ts';
import type { DispatchSettings } from './settings.ts';

export type Chosen = Payloads['dispatch.chose'];

/** A choice that was recorded; or the end, where nobody could choose any more. */
export type Routed = { readonly chosen: Chosen } | { readonly ended: RunResult };

export interface Routing {
  readonly run: AgentRun;
  readonly settings: DispatchSettings;
  /** Who there is, as it was when the run began. */
  readonly catalogue: string;
}

export async function routingOf(run: AgentRun, settings: DispatchSettings): Promise<Routing> {
  const { agents } = settings;
  const skills = agents.length === 0 ? [] : await run.steps.step('catalogue', () => run.skills(agents));
  return { run, settings, catalogue: catalogueText(agents, skills, settings) };
}

/** `round` counts how often the request was put: once more for every question that was answered. */
export async function route(routing: Routing, asked: Asked, round: number): Promise<Routed> {
  const { run, settings } = routing;
  const key = `choice/${round}`;
  if (settings.agents.length === 0) return await record(routing, key, fallback(settings, 'there are no agents', round, 0));
  const remembered = await recallable(routing, asked, key);
  const known = await recalled(routing, remembered, key);
  if (known !== undefined)
    return await record(routing, key, { ...decided(settings, known, round, 0), ...remembered, recalled: true });
  const result = await choose(routing, asked, key);
  const out = ranOut(run, [result]);
  if (out !== undefined) return { ended: endedEmpty(run, out, []) };
  if (await wasStopped(run, key, [result])) return { ended: { ...result, finalAgent: run.agent.name, finalRun: run.run } };
  const choice = succeeded(result) ? choiceIn(result.report.body, settings.agents) : undefined;
  if (choice?.ok !== true) return await record(routing, key, fallback(settings, whyNot(result), round, result.turns));
  return await record(routing, key, { ...decided(settings, choice.value, round, result.turns), ...remembered });
}

/** Somebody whose only task is to choose did not fail at anything else. */
function whyNot({ error, status, turns }: RunResult): string {
  if (error?.code === 'no_report') {
    const said = counted(turns, 'answer');
    if (error.last === undefined) return `no choice could be read in ${said}`;
    const why = startOf(error.last.replace(/^Not taken: /, ''), limits.catalogueCharacters);
    return `no choice could be taken from ${said}: ${why}`;
  }
  return error?.message ?? status;
}

async function choose({ run, settings, catalogue }: Routing, asked: Asked, key: string): Promise<RunResult> {
  const text = routingPrompt(settings, catalogue, asked, await run.steps.nonce(`${key}/fence`));
  const input: UserMessage = { role: 'user', content: [{ type: 'text', text }, ...asked.images] };
  const handle = await run.steps.start(key, run.agent.name, input, {
    kind: 'loop',
    role: 'chooser',
    as: 'chooser',
    reason: 'chooses who answers',
    maxTurns: settings.maxAttempts,
    model: settings.model,
  });
  const [result] = await run.steps.settled([handle]);
  return result as RunResult;
}

/** At the threshold it is sure enough. Who was asked often enough is not asked again. */
function decided(settings: DispatchSettings, choice: Choice, round: number, attempts: number): Chosen {
  if (choice.confidence >= settings.confidenceThreshold) return { ...choice, decision: 'route', round, attempts };
  if (round > limits.dispatchClarifications) {
    const asked = counted(limits.dispatchClarifications, 'question');
    return fallback(settings, `it was not clear after ${asked} (limit dispatchClarifications)`, round, attempts);
  }
  const { agentId: proposed, confidence, reasoning } = choice;
  const said = { agentId: settings.clarificationId, confidence, ...present({ reasoning }), proposed };
  return { ...said, decision: 'clarification', round, attempts };
}

const FALLBACK_REASON = 'Nobody could be chosen: {reason}';

function fallback(settings: DispatchSettings, reason: string, round: number, attempts: number): Chosen {
  const { fallbackId: agentId, fallbackReasonTemplate = FALLBACK_REASON } = settings;
  const reasoning = filled(fallbackReasonTemplate, { reason, '0': reason });
  return { agentId, confidence: 0, reasoning, decision: 'fallback', round, attempts };
}

async function record({ run }: Routing, key: string, chosen: Chosen): Promise<Routed> {
  await run.steps.emit(`${key}/chose`, { type: 'dispatch.chose', payload: chosen });
  return { chosen };
}

/** Stands for all that the router would be told. Pictures are not compared, so a request with one is never remembered. */
async function recallable({ run, settings, catalogue }: Routing, asked: Asked, key: string): Promise<{ key?: string }> {
  if (!settings.cache || asked.images.length > 0) return {};
  const model = settings.model ?? run.agent.models ?? '';
  const told = [model, settings.temperature, routerSystem(settings, run.agent.prompt)];
  const text = JSON.stringify([...told, routingPrompt(settings, catalogue, { ...asked, request: asked.request.trim() }, '')]);
  return { key: await run.steps.step(`${key}/key`, async () => createHash('sha256').update(text).digest('hex')) };
}

/** The choice that was made for the same before, if it was a sure one. */
async function recalled({ run, settings }: Routing, { key }: { key?: string }, step: string): Promise<Choice | undefined> {
  if (key === undefined) return undefined;
  const found = await run.steps.step(`${step}/recalled`, async () => {
    const chosen = await run.recall('dispatch.chose', (one) => one.key === key && one.decision === 'route');
    if (chosen === undefined) return null;
    const { decision: _decision, round: _round, attempts: _attempts, key: _key, recalled: _recalled, ...choice } = chosen;
    return choice;
  });
  return found === null || found.confidence < settings.confidenceThreshold ? undefined : found;
}
