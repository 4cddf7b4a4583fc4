/**
 * What each event and each field means, in words. The types make the table complete: an event or a field without a line
 * here does not compile, nor does a line without its field.
 */
import type { EventType, Payloads } from '../src/events/catalogue.ts';
import { approvalMeanings } from './approval-meanings.ts';
import { artifactMeanings } from './artifact-meanings.ts';
import { assistantMeanings } from './assistant-meanings.ts';
import { executorMeanings } from './executor-meanings.ts';
import { organisationMeanings } from './organisation-meanings.ts';
import { pushMeanings } from './push-meanings.ts';
import { sessionMeanings } from './session-meanings.ts';
import { taskMeanings } from './task-meanings.ts';
import { workspaceMeanings } from './workspace-meanings.ts';

export type Meaning<Type extends EventType> = {
  readonly says: string;
  readonly fields: { readonly [Field in keyof Required<Payloads[Type]>]: string };
};

export const eventMeanings: { readonly [Type in EventType]: Meaning<Type> } = {
  'session.config': {
    says: 'How an agent was set up when its run started. A resumed run uses this, not the file, which may have changed since.',
    fields: {
      agent: 'its name',
      source: 'the file it came from',
      definition: 'the checked frontmatter',
      system: 'the system prompt, includes and variables filled in',
      tools: 'the tools it was offered',
      config: 'the limits of the tasks that it hands over, and what happens when they fail',
    },
  },
  ...sessionMeanings,
  'run.started': {
    says: 'An agent began to work on a request.',
    fields: {
      agent: 'its name',
      input: 'the request',
      origin: 'how it came to be: asked for by a person, a client or a group, or by the run above it, and as what',
      depth: 'how many runs are above it',
      budget: 'its own budget; those of its ancestors hold as well',
      timeLimit: 'the setting that its wall time comes from, when it is not its own budget',
      continues: 'the earlier run of the same agent in this session whose transcript it continues',
      retries: 'the earlier run of this session whose work it does again',
      model: 'takes the place of the agent’s own models',
      tree: 'what it was started with for every agent of its tree, in later lives too: the model, the turns, variables',
      planOnly: 'says what it would hand over, and waits with it until it is resumed',
      condense: 'it begins with what was said before condensed, whether there is room or not',
      workspace: 'the folder that tools may touch, when it is not the session’s; holds for the runs below too',
      forked: 'in a session that was forked: the run’s id where it all began, and the session that ids are made with',
      open: 'changes of earlier prompts that weaken tests and nobody has put back, as it began; of a root run only',
    },
  },
  'run.resumed': {
    says: 'A process took the run up again.',
    fields: {
      owner: 'which process',
      heard: 'how far what came from outside was known: a pause asked for later still counts',
      takenOver: 'the process before it had died holding the lease',
    },
  },
  'run.paused': { says: 'The run stopped for now; `troupe resume` goes on.', fields: { reason: 'why' } },
  'run.signalled': {
    says: 'Somebody outside the run asked for something.',
    fields: { signal: 'what', reason: 'why', by: 'who, where that is known', where: 'where they said it' },
  },
  'run.parked': {
    says: 'The run stands still: its provider, its key or its quota is not there. `troupe resume` goes on.',
    fields: { reason: 'what is missing', error: 'what was said about it' },
  },
  'run.ended': {
    says: 'The end of a run, unless it is reopened. Every run has a report, if need be one that the runtime wrote.',
    fields: {
      status: 'how it ended',
      report: 'the answer',
      finalAgent: 'whose answer it is, after routing and handoffs',
      finalRun: 'the run whose answer it is, when it is not this one',
      turns: 'model calls of the answering agent',
      spoke: 'in a team: ended with a broadcast instead of a report',
      error: 'what went wrong, unless it completed',
      exit: 'the tool that its loop ended with, where that is for whoever asked for the run, and what it carries',
      exhausted: 'whose budget has nothing left, when that ended it: a run, or the project',
      reason: 'why, where it lies outside of the run: once that is mended, `troupe resume` goes on',
      claims: 'what the report says was done, in a form that can be checked',
      verification: 'what the runtime found when it held the result, and what it rests on, against what it saw',
      facts: 'what later runs of the session go by: remembered rules, the latest run of each member, weakened tests',
    },
  },
  'model.request': {
    says: 'A model is about to be asked. It holds what is new and refers to the rest, so that the ledger grows linearly.',
    fields: {
      turn: 'which turn of the run, from 1',
      model: 'which model is asked first',
      added: 'what this request adds to the transcript: the step whose outcome it is, or a message of the runtime’s own',
      tools: 'the tools that were offered, when not all of the setup’s',
    },
  },
  'model.response': {
    says: 'A model answered.',
    fields: {
      turn: 'which turn of the run',
      message: 'the answer: text, reasoning, tool calls',
      finish: 'why the model stopped',
      usage: 'tokens as the provider counted them; a count it did not give is absent',
      requested: 'the model that was asked for',
      served: 'the model that answered, as the provider named it',
      attempts: 'how many calls it took',
      cost: 'the price in billionths of a dollar and the version of the price table; absent when the price is not known',
      durationMs: 'how long it took',
      forked: 'it was asked, and is counted, in the session that this one was forked from',
    },
  },
  'model.failed': {
    says: 'A model call failed.',
    fields: {
      forked: 'it happened, and is counted, in the session that this one was forked from',
      turn: 'which turn of the run',
      model: 'which model was asked',
      attempt: 'which try, from 1',
      error: 'what went wrong',
      final: 'nothing more is tried for this turn',
      nextInMs: 'how long is waited before the next attempt',
      inDoubt: 'the provider may have charged for it, and nobody knows how much; absent where it certainly cost nothing',
      usage: 'what it took until then, of an executor that said so',
      cost: 'what that cost',
    },
  },
  'tool.call': {
    says: 'A tool is about to be called. Written before the call, so that a crash leaves a trace of what was under way.',
    fields: {
      turn: 'which turn of the run',
      id: 'the id the model gave the call',
      name: 'which tool',
      replay: '`safe`: may be called again after a crash; `never`: may not',
      input: 'the arguments, only when they differ from what the model asked for',
    },
  },
  'tool.result': {
    says: 'A tool returned. Only the runtime writes this.',
    fields: {
      id: 'which call',
      name: 'which tool',
      content: 'what the model sees',
      isError: 'the call failed',
      wholeBytes: 'set when `content` is cut; the whole is the event’s attachment',
      inDoubt: 'the call was under way when the process died, and it was not made again',
      gone: 'the call was not made: its exact arguments held a secret, and the key that they were sealed with is not here',
      durationMs: 'how long it took',
      saw: 'the versions of files, by their SHA-256, that the agent knows from this; `null` for none; `lines`: those shown whole',
      child: 'the sub-agent that answered, and whether it can be asked again',
    },
  },
  'handoff.made': {
    says: 'The agent has answered and another one answers in its place.',
    fields: { to: 'who', include: '`report`: it gets the answer; `request`: also the original request' },
  },
  'router.chose': {
    says: 'A router sent the request to one of its destinations.',
    fields: { agent: 'which', message: 'its note for that agent' },
  },
  'advisor.reported': {
    says: 'An advisor has ended, before the first turn of the agent it advises.',
    fields: {
      advisor: 'as it is named',
      finalAgent: 'who answered, after its own handoffs',
      status: 'how it ended',
      verification: 'what its report was found to be worth',
    },
  },
  'dispatch.chose': {
    says: 'Somebody was chosen for a request, or it was found that nobody can be.',
    fields: {
      agentId:
        'whom; where a clarification or a fallback is due, the agent for that, or `clarification-agent` and `fallback-agent`',
      confidence: 'how sure the choice is, from 0 to 1',
      reasoning: 'why, in the words of whoever chose',
      additionalAgents: 'who else works on it, at the same time',
      agentInstructions: 'what each of them is to do',
      decision: '`route` when it is sure enough',
      round: 'grows with every question that was answered',
      attempts: 'answers of the model that it took; 0 when it was not asked',
      proposed: 'who would have been chosen with more confidence',
      leftOut: 'ids that were named and that nobody has, or that were given nothing to do',
      key: 'with `cache: true`, stands for all that the choice rests on',
      recalled: 'set when the choice is the one that was made for the same before',
    },
  },
  'dispatch.responded': {
    says: 'An agent that was chosen has answered, or has failed for good.',
    fields: {
      agentId: 'who',
      content: 'its answer; empty when it failed',
      success: 'whether it gave one',
      errorMessage: 'why not; null when it did',
      executionTimeMs: 'how long all its attempts were worked on, without pauses and without a person',
      attempts: 'how often it was asked',
      status: 'how its last run ended',
      verification: 'what its answer was found to be worth',
      needsInput: 'set when it ends with a question for whoever asked',
    },
  },
  'team.broadcast': {
    says: 'Somebody in a team said something to the others. It is heard when a recorded model request contains it.',
    fields: {
      team: 'the run of the team',
      cycle: 'in which cycle',
      type: '`update`, or `failure` for a notice of the runtime',
      memberId: 'who said it, or whom it is about',
      message: 'what',
      turnCount: 'turns the member has taken so far',
      timestamp: 'when',
      final: 'the member leaves with this',
      replaces: 'the broadcast that was too large for one reader, and which reader',
    },
  },
  'member.exited': {
    says: 'A member left its team.',
    fields: { team: 'the run of the team', memberId: 'who', cycle: 'in which cycle', reason: 'why' },
  },
  'group.planned': {
    says: 'An orchestrator has divided the work, or failed to.',
    fields: {
      iteration: 'in which iteration',
      assignments: 'who gets which task',
      unknown: 'names that no worker has',
      nudges: 'how often it had to be told to delegate before',
      accepted: 'set when these tasks were handed out',
      direct: "set when nothing was assigned and the orchestrator's own words are the answer",
    },
  },
  'group.evaluated': {
    says: 'The result of an iteration was judged.',
    fields: {
      iteration: 'which',
      score: 'from 0 to 1; 0.9 and more means that the goal is met',
      rationale: 'why, and what would have to change',
      dimensions: 'the scores behind the score',
      trend: 'compared with the iteration before',
      evaluator: 'who judged',
      goalMet: 'whether the loop ends here',
      advice: 'what could be done better in the next iteration',
    },
  },
  'group.stalled': {
    says: 'An iteration said nearly the same as the one before, and nothing was achieved.',
    fields: {
      iteration: 'which',
      similarity: 'shared words over all words',
      consecutive: 'how many in a row',
      stops: 'whether it ends the loop',
    },
  },
  'group.ended': {
    says: 'A reflect loop has ended.',
    fields: {
      outcome: 'whether it met its goal, missed it, or was cut off before that could be told',
      reason: 'which rule ended it',
      iterations: 'how many there were',
      summary: 'the same for people',
    },
  },
  'agent.dismissed': {
    says: 'A sub-agent that had answered cannot be asked any more.',
    fields: { id: 'its clarification id', agent: 'its name', run: 'its last run' },
  },
  'task.summary': {
    says: 'Earlier messages are replaced by a summary from here on. The originals stay where they are.',
    fields: {
      turn: 'the turn it was made for',
      text: 'the summary',
      left: 'what is left of the conversation, in order, with the summary in its place',
      unsent: 'how many of the last of these no request has carried yet',
      ending: 'why the turn must be the last, and how often the agent was told so before',
      goesOn: 'whether a run that is taken up again goes on from here',
      cut: 'what a root run has to know of everything before: it is read from here on',
    },
  },
  'task.error': {
    says: 'Something went wrong that did not end the run.',
    fields: {
      code: 'stable, for programs',
      message: 'what is wrong',
      fix: 'what to do about it',
      last: 'of one that took too long: what was known last of the agent elsewhere that it waited for',
      left: 'a task that was begun elsewhere may still be at work',
      category: 'what sort of failure it is: which limit an executor was stopped for, for one',
    },
  },
  'approval.asked': {
    says: 'A tool call needs somebody’s permission, and waits.',
    fields: {
      wait: 'what `troupe approve` and `troupe deny` take',
      tool: 'which tool',
      input: 'its arguments',
      why: 'which rule asks',
      preview: 'what the call would come to as things were then, a diff for one; shown in place of the arguments',
      shown: 'the SHA-256 of all of what is shown',
      again: 'it was approved before, and would come to something else now',
      rule: 'what “always” would allow: the tool, and behind a blank which of its calls',
    },
  },
  ...approvalMeanings,
  ...artifactMeanings,
  'cli.run': {
    says: 'A command ran to its end.',
    fields: {
      command: 'as it was given to the shell',
      cwd: 'in which folder',
      exitCode: 'its exit code; null when a signal ended it',
      signal: 'the signal that ended it, or null',
      durationMs: 'how long it took',
      sandbox: 'The walls it ran in, such as `sandbox-runtime/linux`; absent where there were none',
      stopped: 'ended from outside, and why: whatever the exit code, it did not come to its own end',
      proves: 'the commands of the line that ended with 0 for sure, as claims are compared with them',
      unproved: 'the commands of the line that its exit code says nothing about, and why',
      workspace: 'fingerprints of the workspace before and after, or why there are none',
      protected: 'files that are closed to agents and changed meanwhile',
    },
  },
  'cli.stdout': {
    says: 'What a command wrote to its standard output. The whole is the attachment.',
    fields: { bytes: 'how much', head: 'the beginning' },
  },
  'cli.stderr': {
    says: 'What a command wrote to its standard error. The whole is the attachment.',
    fields: { bytes: 'how much', head: 'the beginning' },
  },
  'file.diff': {
    says: 'A file was changed: by a tool, by a command, or by somebody else meanwhile.',
    fields: {
      path: 'which file, from the workspace',
      before: 'its SHA-256 before; null when it did not exist',
      after: 'its SHA-256 after; null when it was removed',
      addedLines: 'how many lines came',
      removedLines: 'how many lines went',
      diff: 'the change, as a unified diff',
      by: 'found by comparing the workspace: changed by the command of this step, or by somebody else before it',
      program: 'it is a program that is run by its name, and no installer left it so: what is wrong about it',
      more: 'on the last that is recorded: how many more were found with it, too many to be recorded',
    },
  },
  'test.report': {
    says: 'A command that runs tests ended.',
    fields: {
      command: 'which',
      exitCode: 'its exit code; null when a signal ended it',
      passed: 'the exit code was 0, and says so of the tests',
      tests: 'how many passed, where the output says so',
      early: 'what the output shows of tests that ended before they had run',
      why: 'why an exit code of 0 does not count',
    },
  },
  'evidence.checked': {
    says: 'The claims of a final report were held against the evidence, or the commands of `verify` were run.',
    fields: {
      claims: 'each with the event that backs it, or why none does',
      verified: 'all of them are backed, and all that was demanded holds',
      demanded: 'each command of `verify`, and why it does not hold',
    },
  },
  'budget.reserved': {
    says: 'The worst case of one attempt at a call was set aside, before the attempt.',
    fields: { scopes: 'the budgets it counts against: the run and its ancestors', amounts: 'how much' },
  },
  'budget.settled': {
    says:
      'An attempt ended, or nobody knows how, and its reservation was exchanged for what it took. ' +
      'Or a run was given its first limit, and what it spent before was put on its account.',
    fields: {
      scopes: 'the same budgets',
      reserved: 'what was set aside',
      spent: 'what it took',
      inDoubt: 'the provider may have charged (a crash, a time-out): all of the reservation is taken as spent',
      assumed: 'the provider did not count all of it: the rest is taken at its reserved value',
    },
  },
  'step.recorded': {
    says: 'A step of a pattern has this outcome, now and on every resume.',
    fields: { value: 'what it returned' },
  },
  ...assistantMeanings,
  ...organisationMeanings,
  ...workspaceMeanings,
  ...pushMeanings,
  ...executorMeanings,
  ...taskMeanings,
};
