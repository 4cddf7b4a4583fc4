/** What a spawned run tells whoever spawned it when it ends: its report, as a message in its own thread. */
import { type RunId, threadOf } from '../../base/ids.ts';
import { limits } from '../../base/limits.ts';
import type { Party } from '../../events/assistants.ts';
import type { Payloads } from '../../events/catalogue.ts';
import { reportText } from '../../events/report-text.ts';
import { succeeded } from '../../events/succeeded.ts';
import type { RunResult } from '../../patterns/steps.ts';
import { boundResult } from '../../tools/bounded.ts';
import type { LedgerAccess, TimeAndIds } from '../options.ts';
import type { DrivenRun } from '../record/driven-run.ts';

export interface ReportMessage {
  readonly step: string;
  readonly payload: Payloads['message.sent'];
}

/** `parent` is the run that spawned it; without one it was a client outside, whose name the run's start tells. */
export function reportMessage(
  tree: TimeAndIds & LedgerAccess,
  parent: DrivenRun | undefined,
  run: RunId,
  agent: string,
  result: RunResult,
  client = '',
  /** How often the run was reopened: each time it ends it reports. */
  reopened = 0,
): ReportMessage {
  const to: Party = parent === undefined ? { assistant: client } : { assistant: parent.started.agent, run: parent.run };
  const message = `report_${run.slice('run_'.length)}${reopened === 0 ? '' : `_${reopened}`}`;
  return {
    step: `message/${message}`,
    payload: {
      message,
      thread: threadOf(run),
      from: { assistant: agent, run },
      to,
      content: cut(wordsOf(result, agent), limits.messageBytes, tree.redact),
      fence: tree.ids.nonce(),
      kind: 'report',
      ...(succeeded(result) ? { verification: result.verification } : {}),
    },
  };
}

/** What has to be cut is redacted first: half of a secret would not be recognised. */
function cut(text: string, maxBytes: number, redact: (text: string) => string): string {
  return boundResult(text, maxBytes).wholeBytes === undefined ? text : boundResult(redact(text), maxBytes).text;
}

function wordsOf(result: RunResult, agent: string): string {
  if (succeeded(result)) return reportText(result.report);
  const why = `${agent} did not succeed (${result.status})${result.error === undefined ? '.' : `: ${result.error.message}`}`;
  return result.report.body === result.error?.message ? why : `${why}\n\n${result.report.body}`;
}
