/** `troupe measure`: how well an agent with `dispatch` chooses, with requests of which it is known who should do them. */
import { resolve } from 'node:path';
import { TroupeError } from '../../base/errors.ts';
import type { SessionId } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { counted } from '../../base/wording.ts';
import { userText } from '../../events/messages.ts';
import { foldSession } from '../../ledger/pages.ts';
import type { Project } from '../../project/project.ts';
import { type CallCosts, foldCosts, initialCosts } from '../../projections/costs.ts';
import { readableCost, readableDuration, readableInAndOut } from '../../projections/readable.ts';
import { type CommandContext, type JsonOption, printJson, usageError, withProject } from '../terminal/command.ts';
import { type ExitCode, exitCodes } from '../terminal/exit-codes.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { printTable } from '../view/table.ts';
import { type LabelledRequest, readRequests } from './requests.ts';
import { accuracyOf, compared, confusion, type Measured, quantile } from './score.ts';

export interface MeasureOptions extends JsonOption {
  readonly model?: string | undefined;
  readonly atLeast?: number | undefined;
}

export async function measureCommand(
  context: CommandContext,
  agent: string,
  file: string,
  { json, model, atLeast = 0 }: MeasureOptions,
): Promise<ExitCode> {
  return withProject(context, { flags: { model, onlyChoose: true } }, async (project) => {
    const requests = await requestsFor(project, agent, resolve(context.cwd, file), file);
    const { results, session } = await measureAll(context, project, agent, requests);
    const { total } = await foldSession(project.ledger, session, initialCosts(), foldCosts);
    const accuracy = accuracyOf(results);
    if (json === true) printJson(context, 'measure', asJson(agent, session, results, total));
    else print(context, results, total);
    return accuracy >= atLeast ? exitCodes.completed : exitCodes.failed;
  });
}

async function requestsFor(project: Project, agent: string, path: string, file: string): Promise<readonly LabelledRequest[]> {
  const { agents } = await project.agents();
  const definition = agents.find((one) => one.definition.name === agent && !one.disabled)?.definition;
  if (definition === undefined)
    throw usageError(`There is no agent ${agent}`, '`troupe agents list` shows those that there are.');
  if (definition.dispatch === undefined)
    throw usageError(`${agent} does not choose among agents`, 'Name an agent whose file has the key `dispatch`.');
  const read = await readRequests(path, definition.dispatch.agents);
  if (!read.ok)
    throw usageError(
      `The requests in ${file} cannot be used: ${read.error}`,
      'docs/dispatch.md shows what such a file looks like.',
    );
  return read.value;
}

/** One after the other, as a run each, all in one session: what they cost is counted like everything else. */
async function measureAll(
  context: CommandContext,
  project: Project,
  agent: string,
  requests: readonly LabelledRequest[],
): Promise<{ readonly results: readonly Measured[]; readonly session: SessionId }> {
  const { clock, terminal } = context;
  const results: Measured[] = [];
  let session: SessionId | undefined;
  for (const labelled of requests) {
    const began = clock.elapsed();
    const started = await project.engine.start({
      agent,
      input: userText(labelled.request),
      workspace: project.config.workspace,
      ...present({ session }),
    });
    if (started.kind === 'refused') throw refusal(started.error);
    session = started.handle.session;
    const end = await started.handle.done;
    const body = end.kind === 'ended' ? end.result.report.body : '';
    const result = compared(labelled, body, Math.round(clock.elapsed() - began));
    if (result === undefined) {
      const error = end.kind === 'ended' ? end.result.error : 'error' in end ? end.error : undefined;
      throw refusal(
        error ?? { code: end.kind, message: `The run of ${JSON.stringify(labelled.request)} did not end (${end.kind}).` },
      );
    }
    results.push(result);
    terminal.progress.line(`${results.length}/${requests.length} ${mark(result)} ${safeLine(labelled.request)}`);
  }
  if (session === undefined) throw usageError('There are no requests');
  return { results, session };
}

const refusal = ({
  code,
  message,
  fix,
}: {
  readonly code: string;
  readonly message: string;
  readonly fix?: string | undefined;
}) => new TroupeError(code, message, { fix });

const mark = ({ right }: Measured): string => (right ? 'right' : 'wrong');

const ofDecision = (results: readonly Measured[], decision: Measured['decision']): number =>
  results.filter((one) => one.decision === decision).length;

function summary(results: readonly Measured[]) {
  const durations = results.map(({ durationMs }) => durationMs);
  return {
    requests: results.length,
    right: results.filter(({ right }) => right).length,
    accuracy: accuracyOf(results),
    belowThreshold: ofDecision(results, 'clarification'),
    fallbacks: ofDecision(results, 'fallback'),
    durationMs: { median: quantile(durations, 0.5), p95: quantile(durations, 0.95) },
  };
}

const asJson = (agent: string, session: string, results: readonly Measured[], total: CallCosts) => ({
  agent,
  session,
  ...summary(results),
  confusion: confusion(results),
  total,
  results: results.map(({ proposed, reasoning, ...result }) => ({
    ...result,
    proposed: proposed ?? null,
    reasoning: reasoning ?? null,
  })),
});

function print({ terminal }: CommandContext, results: readonly Measured[], total: CallCosts): void {
  const { out } = terminal;
  const { requests, right, accuracy, belowThreshold, fallbacks, durationMs } = summary(results);
  const wrong = results.filter((one) => !one.right);
  if (wrong.length > 0) {
    const rows = wrong.map(({ request, expected, chosen, decision, confidence, proposed }) => [
      safeLine(request),
      safeLine(expected.join(', ') || 'clarification'),
      safeLine(chosen.join(', ') || (proposed === undefined ? decision : `${decision} (${proposed})`)),
      String(confidence),
    ]);
    printTable(out, ['REQUEST', 'EXPECTED', 'CHOSEN', 'CONFIDENCE'], rows);
    out.line('');
    for (const { expected, chosen, count } of confusion(results))
      out.line(`${counted(count, 'time')}: ${safeLine(expected)} was taken for ${safeLine(chosen)}`);
    out.line('');
  }
  out.line(`accuracy         ${(accuracy * 100).toFixed(1)} % (${right} of ${requests})`);
  out.line(`below threshold  ${belowThreshold}`);
  out.line(`fallbacks        ${fallbacks}`);
  out.line(`time             ${readableDuration(durationMs.median)} (median), ${readableDuration(durationMs.p95)} (95 %)`);
  out.line(`tokens           ${readableInAndOut(total)}`);
  out.line(`cost             ${readableCost(total)}`);
}
