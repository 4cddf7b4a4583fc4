/**
 * One measurement in one fresh process. The arguments are plain words and everything else is loaded when needed, so that the
 * cold start measures the system and not the benchmark. Says one line, `@@` and a JSON report.
 */
import { FINAL_MARK } from './common.ts';
import { type SystemEntry, streamingSystems, systems } from './systems/list.ts';

const [, , name = '', workload = '', origin = '', folder = '', turns = '0', warmMs = '0', measureMs = '0', delayedRuns = '0'] =
  process.argv;

const open = (entry: SystemEntry, at: string, scripts: Parameters<SystemEntry['open']>[0]['scripts']) =>
  entry.open({ baseUrl: `${origin}/v1`, apiKey: 'dummy-key', folder: at, scripts });

async function coldStart(entry: SystemEntry): Promise<void> {
  const script = { turns: 1 };
  const system = await open(entry, folder, [script]);
  const answer = await system.run('cold', script);
  const errors = answer.includes(FINAL_MARK) ? [] : [`wrong answer: ${answer.slice(0, 200)}`];
  say({ peakRssMb: process.resourceUsage().maxRSS / 1_024 }, errors);
}

async function measure(entry: SystemEntry): Promise<void> {
  const [{ workloads }, { createControl }] = await Promise.all([import('./workloads.ts'), import('./meter.ts')]);
  const run = workloads[workload];
  if (run === undefined) throw new Error(`unknown workload ${workload}`);
  const errors: string[] = [];
  const figures = await run({
    open: (at, scripts) => open(entry, at, scripts),
    control: createControl(origin),
    folder,
    warmMs: Number(warmMs),
    measureMs: Number(measureMs),
    delayedRuns: Number(delayedRuns),
    turns: Number(turns),
    errors,
  });
  say(figures, errors);
}

function say(figures: object, errors: readonly string[]): void {
  const { user, system } = process.cpuUsage();
  const report = { figures, errors, cpuTotalMs: (user + system) / 1_000 };
  process.stdout.write(`\n@@${JSON.stringify(report)}\n`, () => process.exit(0));
}

const entry = [...systems, ...streamingSystems].find((one) => one.name === name);
if (entry === undefined) throw new Error(`unknown system ${name}`);
await (workload === 'w5' ? coldStart(entry) : measure(entry));
