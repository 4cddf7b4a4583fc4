/**
 * Architect: an agent without hands. It looks, plans and asks; work goes out as tasks to executors, and what the runtime saw of
 * it comes back to be judged. All that the architect says in a session is one conversation, over tasks, prompts and kills.
 */
import type { RunId } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import { answerText } from '../../events/answer-text.ts';
import { textOf, type UserMessage, userText } from '../../events/messages.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { AgentRun } from '../agent-run.ts';
import type { RunResult } from '../steps.ts';
import { restsOn, together, withVerification } from '../verification.ts';
import { type ArchitectDecision, CLARIFY, DELEGATE, decisionOf, JUDGE, type WantedTask } from './exits.ts';
import {
  type Done,
  forEachOpen,
  isProved,
  judgedPayload,
  type Open,
  restsOnTasks,
  type TaskVerdict,
  verdictProblem,
} from './judging.ts';
import { mergeAccepted } from './merging.ts';
import { cutOff, type Next, type Progressing, takeNotices } from './progressing.ts';
import { answersPrompt, type ClarifyAnswer, noticePrompt, refusedPrompt } from './prompts.ts';
import { type ArchitectConfig, architectSettings } from './settings.ts';
import type { KnownFact } from './snapshot.ts';
import type { Unit } from './units.ts';
import { workThrough } from './work.ts';

export async function runArchitect(run: AgentRun, config: ArchitectConfig, message: UserMessage): Promise<RunResult> {
  const settings = architectSettings(config);
  const request: KnownFact = {
    ref: { run: run.run, step: 'input', type: 'run.started' },
    text: `What was asked for:\n${textOf(message.content)}`,
  };
  const state: Progressing = {
    ...{
      run,
      settings,
      queue: [],
      open: [],
      done: [],
      known: [request],
      notices: [],
      before: new Map(),
      from: undefined,
      base: undefined,
      together: undefined,
      leftOut: [],
    },
    ...{ units: 0, waves: 0, merged: 0 },
  };
  const most = Math.min(run.agent.maxTurns ?? limits.maxTurns, run.maxTurns ?? limits.maxTurns);
  let next: Next = { prompt: message };
  let rounds = 0;
  let continues: RunId | undefined;
  for (let round = 1, turns = 0; ; round += 1) {
    const key = `architect/${round}`;
    const closed = closedNow(state, rounds);
    const asked = { continues, closed, maxTurns: Math.max(1, most - turns), turnsBefore: turns };
    const result = await ask(state, key, next.prompt, asked);
    turns += result.turns;
    continues = result.finalRun;
    const decision = succeeded(result) ? decisionOf(result.exit, settings) : undefined;
    if (decision === undefined) return await answer(state, key, { ...result, turns });
    if (decision.kind === CLARIFY) rounds += 1;
    if (decision.kind === DELEGATE) rounds = 0;
    const then = await carryOut(state, key, decision, rounds);
    if ('ended' in then) return then.ended;
    next = then;
  }
}

function closedNow({ open, settings }: Progressing, rounds: number): string[] {
  return [
    ...(rounds >= settings.clarifyRounds ? [CLARIFY] : []),
    // First things first: what came back is judged before anything else goes out.
    open.length === 0 ? JUDGE : DELEGATE,
  ];
}

interface Asked {
  readonly continues: RunId | undefined;
  readonly closed: string[];
  readonly maxTurns: number;
  readonly turnsBefore: number;
}

async function ask({ run, settings }: Progressing, key: string, prompt: UserMessage, asked: Asked): Promise<RunResult> {
  const events = await run.steps.step(`${key}/events`, () => run.tasks.events());
  const handle = await run.steps.start(key, run.agent.name, prompt, {
    ...{ kind: 'loop', role: 'architect', as: 'architect', member: run.agent.name, ...asked },
    ...(events >= settings.summarizeEvents ? { condense: true } : {}),
  });
  const [result] = await run.steps.settled([handle]);
  return result as RunResult;
}

async function carryOut(state: Progressing, key: string, decision: ArchitectDecision, rounds: number): Promise<Next> {
  switch (decision.kind) {
    case CLARIFY:
      return await clarify(state, key, decision.questions, rounds);
    case DELEGATE:
      state.queue = [...state.queue, ...decision.tasks.map((wanted) => newUnit(state, wanted))];
      return await goOn(state, key);
    case JUDGE:
      return await judge(state, key, decision.tasks);
  }
}

function newUnit(state: Progressing, wanted: WantedTask): Unit {
  state.units += 1;
  const [executor = ''] = state.settings.executors;
  return { key: `task/${state.units}`, wanted, attempt: 1, executor, errors: new Map(), mustShrink: false };
}

async function clarify(
  state: Progressing,
  key: string,
  questions: Extract<ArchitectDecision, { kind: typeof CLARIFY }>['questions'],
  round: number,
): Promise<Next> {
  const { run, settings } = state;
  const answered: ClarifyAnswer[] = [];
  for (const [index, { question, choices }] of questions.entries()) {
    const wait = `${key}/clarify/${index}`;
    const said = await run.steps.wait(wait, {
      question,
      ...present({ choices }),
      round: { number: round, most: settings.clarifyRounds },
    });
    const answer = said === undefined ? undefined : answerText(said);
    answered.push({ question, answer });
    state.known = [
      ...state.known,
      { ref: { run: run.run, step: wait, type: 'task.clarify' } },
      {
        ref: { run: run.run, step: wait, type: 'approval.answered' },
        text: `Asked: ${question}\nAnswered: ${answer ?? 'nobody did'}`,
      },
    ];
  }
  const nonce = await run.steps.nonce(`${key}/fence`);
  return { prompt: userText(answersPrompt(answered, settings.clarifyRounds - round, nonce)) };
}

async function judge(state: Progressing, key: string, given: readonly TaskVerdict[]): Promise<Next> {
  const verdicts = forEachOpen(given, state.open);
  for (const verdict of verdicts) {
    const problem = verdictProblem(verdict, state.open);
    if (problem !== undefined) return { prompt: userText(refusedPrompt(problem)) };
  }
  const ids = verdicts.map(({ task_id }) => task_id);
  if (new Set(ids).size < ids.length) return { prompt: userText(refusedPrompt('a task is judged twice.')) };
  for (const verdict of verdicts) {
    const open = state.open.find(({ attempt }) => attempt.task === verdict.task_id);
    if (open !== undefined) await settle(state, open, 'architect', verdict);
  }
  const merged = await mergeAccepted(state, key);
  if (merged !== undefined) return { ended: merged };
  if (state.open.length > 0) {
    const left = state.open.map(({ attempt }) => attempt.task).join(', ');
    return { prompt: userText([...takeNotices(state), `Still to be judged: ${left}.`].join('\n\n')) };
  }
  return await goOn(state, key);
}

/** A word about a task, recorded. */
async function settle(state: Progressing, open: Open, by: 'architect' | 'acceptance', verdict: TaskVerdict): Promise<void> {
  const { attempt, unit } = open;
  const payload = judgedPayload(open, by, verdict);
  await state.run.steps.emit(`${attempt.key}/judged`, { type: 'task.judged', payload });
  state.open = state.open.filter((one) => one !== open);
  const ref = { run: state.run.run, step: `${attempt.key}/judged`, type: 'task.judged' };
  state.known = [...state.known, { ref, text: `${attempt.task} (${unit.wanted.goal}): ${verdict.verdict}: ${verdict.why}` }];
  if (verdict.verdict === 'again' && verdict.task !== undefined) {
    const before = `${verdict.why}${open.failed === undefined ? '' : ` What was seen: ${open.failed.message}`}`;
    const again: Unit = {
      ...{ ...unit, wanted: verdict.task, attempt: unit.attempt + 1, mustShrink: false, again: attempt.task, before },
    };
    state.queue = [again, ...state.queue];
    return;
  }
  const { why } = verdict;
  const done = { task: attempt.task, unit, why, verification: payload.verification, ended: open };
  state.done = [...state.done, { ...done, verdict: verdict.verdict === 'accepted' ? 'accepted' : 'given_up' }];
}

/** Works on what was handed over; when nothing is left of it, the architect says what is next. */
async function goOn(state: Progressing, key: string): Promise<Next> {
  const worked = await workThrough(state);
  if (worked !== undefined) return worked;
  const { run } = state;
  const stopped = await run.steps.step(`${key}/over`, async ({ signal }) => signal.aborted);
  if (stopped) return { ended: cutOff(state) };
  return { prompt: userText(noticePrompt(takeNotices(state))) };
}

/** The architect's own report. What it left unjudged counts by its acceptance alone. */
async function answer(state: Progressing, key: string, result: RunResult): Promise<RunResult> {
  const { run } = state;
  const own = { ...result, finalAgent: run.agent.name };
  if (!succeeded(result)) return own;
  for (const open of state.open) {
    const proved = isProved(open);
    const why = proved ? 'Every line of its acceptance was run and passed.' : 'It was not judged.';
    await settle(state, open, 'acceptance', { task_id: open.attempt.task, verdict: proved ? 'accepted' : 'given_up', why });
  }
  const ended = await mergeAccepted(state, key);
  if (ended !== undefined) return ended;
  const parts = restsOnTasks(state.done, state.together);
  const found = together(parts);
  const whole = { ...own, report: withGaps(own.report, state.done) };
  // Nothing of what was asked for is there, whatever the architect says of it.
  if (state.done.length > 0 && state.done.every(({ verdict }) => verdict === 'given_up'))
    return withVerification(whole, { state: 'unverified', reasons: ['Every task was given up.'] });
  // The architect claims nothing: its answer is worth what its tasks are.
  return withVerification(whole, own.verification.state === 'unchecked' ? found : restsOn(own, parts));
}

/** The runtime says itself what was given up: the architect's words may not. */
function withGaps(report: RunResult['report'], done: readonly Done[]): RunResult['report'] {
  const gaps = done.filter(({ verdict }) => verdict === 'given_up');
  if (gaps.length === 0 || report.format === 'json') return report;
  const lines = gaps.map(({ task, unit, why }) => `- ${task}: ${unit.wanted.goal.split('\n')[0]} (${why})`);
  return { ...report, body: `${report.body}\n\n---\nGiven up:\n${lines.join('\n')}` };
}
