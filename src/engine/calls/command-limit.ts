/**
 * What the commands of a task may use, where an agent with a shell of its own works on it: its terms say how many there may be
 * and how much memory they may take, and what is too much ends the task. Whoever it calls works for it too. What executors run
 * is counted where they are followed.
 */
import { limits } from '../../base/limits.ts';
import type { Tool, ToolContext } from '../../tools/port.ts';
import { TaskLimitOver } from '../hearing/stop-reason.ts';
import type { ExecutorAccess, TimeAndIds } from '../options.ts';
import { type DrivenRun, taskAbove } from '../record/driven-run.ts';

const SHELL = 'shell';

export interface CommandLimit {
  /** Why a call of this tool is not made any more; otherwise it counts. */
  refusal(tool: Pick<Tool, 'name'>): string | undefined;
  /** To be given to whatever starts processes. */
  processes(step: string): ToolContext['processes'];
}

type Follows = Pick<TimeAndIds, 'clock'> & Pick<ExecutorAccess, 'executorMemory'>;

/** What was used for a task by those who are driven here. */
interface Used {
  begun: number;
  readonly counted: WeakSet<DrivenRun>;
  readonly running: Set<number>;
}

const usedFor = new WeakMap<DrivenRun, Used>();

export function createCommandLimit(tree: Follows, node: DrivenRun): CommandLimit {
  const task = taskAbove(node);
  if (task === undefined) return { refusal: () => undefined, processes: () => undefined };
  const { by, terms } = task;
  const used = usedFor.get(by) ?? { begun: 0, counted: new WeakSet(), running: new Set() };
  usedFor.set(by, used);
  if (!used.counted.has(node)) {
    used.counted.add(node);
    used.begun += node.journal.past.filter((event) => event.event_type === 'tool.call' && event.payload.name === SHELL).length;
  }
  const stop = (category: TaskLimitOver['category'], most: number): string => {
    const over = new TaskLimitOver(by.started.agent, category, most);
    by.abort.abort(over);
    return over.message;
  };
  return {
    refusal({ name }) {
      if (name !== SHELL) return undefined;
      if (used.begun < terms.limits.maxCliCalls) {
        used.begun += 1;
        return undefined;
      }
      return `Not run: ${stop('cli_calls', terms.limits.maxCliCalls)}`;
    },
    processes(step) {
      const { executorMemory } = tree;
      const mark = `${node.run}/${step}`;
      if (executorMemory === undefined) return { mark, began: () => () => undefined };
      const most = terms.limits.maxMemoryMb;
      const isTooMuch = async () => (await usedBy(used.running, executorMemory)) > most;
      return { mark, began: (pid) => followed(tree, used.running, pid, isTooMuch, () => void stop('memory', most)) };
    },
  };
}

/** By all that are run for the task now. */
async function usedBy(running: ReadonlySet<number>, memory: NonNullable<Follows['executorMemory']>): Promise<number> {
  const each = await Promise.all([...running].map(memory));
  return each.reduce<number>((sum, one) => sum + (one ?? 0), 0);
}

/** Until what is given back is called. */
function followed(
  { clock }: Follows,
  running: Set<number>,
  pid: number,
  isTooMuch: () => Promise<boolean>,
  stop: () => void,
): () => void {
  running.add(pid);
  let forget = (): void => undefined;
  const look = async (): Promise<void> => {
    const isOver = await isTooMuch();
    if (!running.has(pid)) return;
    if (isOver) stop();
    else later();
  };
  const later = (): void => {
    forget = clock.after(limits.executorMemoryEveryMs, () => void look());
  };
  later();
  return () => {
    running.delete(pid);
    forget();
  };
}
