/**
 * How many commands a task may run, where an agent with a shell of its own works on it: its terms say so, and the command that
 * would be one too many ends the run. What executors run is counted where they are followed.
 */
import { taskTermsOf } from '../../events/run-origin.ts';
import type { Tool } from '../../tools/port.ts';
import { CommandsOver } from '../hearing/stop-reason.ts';
import type { DrivenRun } from '../record/driven-run.ts';

const SHELL = 'shell';

export interface CommandLimit {
  /** Why a call of this tool is not made any more; otherwise it counts. */
  refusal(tool: Pick<Tool, 'name'>): string | undefined;
}

export function createCommandLimit({ started, journal, abort }: Pick<DrivenRun, 'started' | 'journal' | 'abort'>): CommandLimit {
  const most = taskTermsOf(started)?.limits.maxCliCalls;
  const before = journal.past.filter((event) => event.event_type === 'tool.call' && event.payload.name === SHELL);
  let begun = before.length;
  return {
    refusal({ name }) {
      if (most === undefined || name !== SHELL) return undefined;
      if (begun < most) {
        begun += 1;
        return undefined;
      }
      const over = new CommandsOver(started.agent, most);
      abort.abort(over);
      return `Not run: ${over.message}`;
    },
  };
}
