/**
 * Dispatch: a model chooses who answers, and how sure it is; those who were chosen work side by side; their answers become one.
 * Where it is not sure the user is asked, and where nobody can be chosen there is somebody to fall back on.
 */
import { shortId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { answerText } from '../../events/answer-text.ts';
import { textOf, type UserMessage } from '../../events/messages.ts';
import { goesOnAsItIs } from '../../events/outside-reason.ts';
import type { AgentRun } from '../agent-run.ts';
import { endedEmpty, ranOut } from '../out-of-budget.ts';
import { checkedTogether } from '../side-by-side.ts';
import type { RunResult } from '../steps.ts';
import { UNCHECKED, withVerification } from '../verification.ts';
import { aggregate, displayName, failureText, inOrder } from './aggregate.ts';
import { type Asked, clarificationPrompt, isQuestion, userQuestion } from './prompts.ts';
import { type Chosen, route, routingOf } from './route.ts';
import { type DispatchConfig, type DispatchSettings, dispatchSettings } from './settings.ts';
import {
  begin,
  createWork,
  type Errand,
  errandFor,
  isAtWork,
  oneTurn,
  type Response,
  type Work,
  type Worked,
  workSideBySide,
} from './work.ts';

export async function runDispatch(run: AgentRun, config: DispatchConfig, message: UserMessage): Promise<RunResult> {
  const settings = dispatchSettings(config);
  const routing = await routingOf(run, settings);
  const images = message.content.filter((part) => part.type === 'image');
  let asked: Asked = { request: textOf(message.content), exchanges: [], images };
  for (let round = 1; ; round += 1) {
    const routed = await route(routing, asked, round);
    if ('ended' in routed) return routed.ended;
    const { chosen } = routed;
    if (settings.dryRun === true) return chosenOnly(run, chosen);
    if (chosen.decision !== 'clarification') return await handOut(run, settings, asked, chosen);
    const cleared = await clarify(run, settings, asked, chosen);
    if ('result' in cleared) return cleared.result;
    asked = { ...asked, exchanges: [...asked.exchanges, cleared] };
  }
}

function chosenOnly(run: AgentRun, chosen: Chosen): RunResult {
  const report = { format: 'json' as const, body: JSON.stringify(chosen) };
  return { ...failed(run, ''), status: 'completed', report };
}

/** What the user was asked and answered; or the answer of the run, where nobody is asked or nobody answers. */
type Cleared = Asked['exchanges'][number] | { readonly result: RunResult };

async function clarify(run: AgentRun, settings: DispatchSettings, asked: Asked, chosen: Chosen): Promise<Cleared> {
  const { round, reasoning = '' } = chosen;
  const key = `clarification/${round}`;
  let question = userQuestion(settings, asked, reasoning);
  if (settings.clarifier !== undefined) {
    const text = (nonce: string): string => clarificationPrompt(settings, asked, reasoning, nonce);
    const errand = { agent: settings.clarifier, text, images: asked.images, reason: 'asks what was meant' };
    const worked = await workSideBySide(run, settings, key, [errand]);
    const [said] = worked.responses;
    const isOver = worked.stopped || ranOut(run, resultsOf(worked.responses)) !== undefined;
    const hasSaid = said?.success === true && said.content.trim() !== '';
    // What is no question is its answer: it knew what to do.
    if (isOver || (hasSaid && !isQuestion(said.content))) return { result: await together(run, settings, worked, key) };
    // Who cannot put it into words keeps nobody from being asked. The template was for that agent.
    question = hasSaid ? said.content : userQuestion({ ...settings, clarificationPromptTemplate: undefined }, asked, reasoning);
  }
  const answer = await run.steps.wait(`${key}/question`, { question });
  if (answer !== undefined) return { question, answer: answerText(answer) };
  return { result: failed(run, question, { code: 'not_clear', message: `Nobody has answered: ${question}` }) };
}

/** Everybody who was chosen gets the request and its own part, also when only one was. */
async function handOut(run: AgentRun, settings: DispatchSettings, asked: Asked, chosen: Chosen): Promise<RunResult> {
  const { agentId, additionalAgents = [], agentInstructions = [], decision, confidence, reasoning = '' } = chosen;
  if (decision === 'fallback' && settings.fallback === undefined)
    return inOwnWords(failed(run, settings.fallbackMessage, { code: 'no_fallback', message: reasoning }));
  const reason = decision === 'fallback' ? 'nobody else could be chosen' : `chosen with confidence ${confidence}`;
  const errands = [agentId, ...additionalAgents].map((id) => {
    const instruction = agentInstructions.find((one) => one.agentId === id)?.instruction;
    return errandFor(id, { asked, instruction, others: additionalAgents.length > 0 }, reason);
  });
  return await untilAnswered(run, settings, asked, errands);
}

/** A question of an agent that nobody has answered yet. */
interface Open {
  readonly agentId: string;
  readonly pass: number;
  readonly key: string;
}

/**
 * What agents want to know is asked, all of it at once, and each goes on when its own answer is there; what the others gave is
 * kept meanwhile.
 */
async function untilAnswered(
  run: AgentRun,
  settings: DispatchSettings,
  asked: Asked,
  errands: readonly Errand[],
): Promise<RunResult> {
  const { responses, stopped } = await workSideBySide(run, settings, 'dispatch/1', errands);
  const latest = new Map(responses.map((one) => [one.agentId, one]));
  const passes = new Map<string, number>();
  const work = createWork();
  work.stopped = stopped;
  let open = await put(run, settings, latest, passes, responses, work);
  for (let turn = 1; open.length > 0 || isAtWork(work); turn += 1) {
    const waits = open.map(({ key }) => key);
    const came = await oneTurn(run, settings, work, `dispatch/on/${turn}`, waits);
    const over = !isAtWork(work) && came.responses.length === 0 && came.answered.length === 0;
    // Whoever is to end waits for nobody.
    if (over) break;
    for (const { index, answer } of came.answered) {
      const { agentId, pass } = open[index] as Open;
      passes.set(agentId, pass + 1);
      const errand = errandFor(agentId, { asked, answer: answerText(answer) }, 'its question was answered');
      await begin(run, settings, work, `dispatch/${pass + 1}`, errand);
    }
    for (const response of came.responses) latest.set(response.agentId, response);
    const left = open.filter((_one, index) => !came.answered.some((one) => one.index === index));
    const more = await put(run, settings, latest, passes, came.responses, work);
    open = work.stopped || ranOut(run, resultsOf([...latest.values()])) !== undefined ? [] : [...left, ...more];
  }
  return await together(run, settings, { responses: [...latest.values()], stopped: work.stopped }, 'dispatch');
}

/** Puts what these ask, unless nothing is to go on any more. */
async function put(
  run: AgentRun,
  settings: DispatchSettings,
  latest: ReadonlyMap<string, Response>,
  passes: ReadonlyMap<string, number>,
  responses: readonly Response[],
  { stopped }: Work,
): Promise<Open[]> {
  const all = [...latest.values()];
  if (stopped || ranOut(run, resultsOf(all)) !== undefined) return [];
  const open: Open[] = [];
  for (const response of inOrder(responses, settings)) {
    const { agentId, needsInput } = response;
    const pass = passes.get(agentId) ?? 1;
    if (!needsInput || pass > limits.dispatchQuestions) continue;
    const key = `dispatch/${pass}/${agentId}/question`;
    await run.steps.ask(key, { question: carriedUp(all, response, settings) });
    open.push({ agentId, pass, key });
  }
  return open;
}

/** The question, after what the others have done: whoever answers sees both. */
function carriedUp(responses: readonly Response[], asking: Response, settings: DispatchSettings): string {
  const others = responses.filter(({ needsInput }) => !needsInput);
  if (others.length === 0) return responses.length === 1 ? asking.content : `${displayName(asking.agentId)}: ${asking.content}`;
  const told = others.some(({ success }) => success) ? aggregate(others, settings) : failureText(inOrder(others, settings));
  return `${told}\n\n${displayName(asking.agentId)}: ${asking.content}`;
}

const resultsOf = (responses: readonly Response[]): RunResult[] => responses.map(({ result }) => result);

async function together(run: AgentRun, settings: DispatchSettings, worked: Worked, key: string): Promise<RunResult> {
  const responses = inOrder(worked.responses, settings);
  const out = ranOut(run, resultsOf(responses));
  if (out !== undefined) {
    const said = responses.filter(({ success }) => success).map(({ agentId, content }) => ({ who: agentId, text: content }));
    return endedEmpty(run, out, said);
  }
  const body = aggregate(responses, settings);
  if (worked.stopped)
    return { ...failed(run, body, { code: 'cancelled', message: 'The run was cancelled.' }), status: 'cancelled' };
  const [only, ...others] = responses;
  // The words of one agent alone are the answer as it gave it, with all that it claims.
  if (only?.success === true && others.length === 0 && only.content.trim() !== '') return only.result;
  if (!responses.some(({ success }) => success))
    return inOwnWords(
      failed(run, body, { code: 'all_agents_failed', message: failureText(responses), ...wayOn(run, responses) }),
    );
  const answer = { ...failed(run, body), status: 'completed' as const, report: { format: 'markdown' as const, body } };
  const parts = responses.map(({ agentId, result }) => ({ name: agentId, result }));
  return withVerification(answer, await checkedTogether(run, `${key}/together`, parts));
}

/** Those who failed for a reason outside go on once that is mended. */
function wayOn({ run }: AgentRun, responses: readonly Response[]): { readonly fix?: string } {
  if (!resultsOf(responses).some(goesOnAsItIs)) return {};
  return { fix: `When that is mended, go on where it stopped: troupe resume ${shortId(run)}` };
}

/** What the file has for it is said to whoever asked, like an answer. */
const inOwnWords = (result: RunResult): RunResult => ({ ...result, report: { format: 'text', body: result.report.body } });

function failed(run: AgentRun, body: string, error?: RunResult['error']): RunResult {
  return {
    status: 'failed',
    report: { format: 'text', body, synthetic: true },
    finalAgent: run.agent.name,
    finalRun: run.run,
    turns: 0,
    error,
    verification: UNCHECKED,
  };
}
