/**
 * Where the time goes: `node bench/profile.ts [--system troupe] [--workload w1] [--turns 200] [--top 30]`.
 * Runs one workload under V8's sampling profiler and prints self time by package and folder, then by function.
 * Warming up is part of the picture, idling is not.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { z } from 'zod';
import { parseJson } from '../src/base/json.ts';
import { build, builtFolder } from './build.ts';
import { type Pace, paces } from './measurement.ts';
import { runWorker, startServer, withFolder } from './processes.ts';
import { number, table } from './table.ts';

const profileSchema = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number() }),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
});
type Profile = z.infer<typeof profileSchema>;
type CallFrame = Profile['nodes'][number]['callFrame'];

/** Long enough that samples say something, once. */
const pace: Pace = { ...paces.full, warmMs: 1_000, measureMs: 4_000 };

function readProfile(folder: string): Profile {
  const file = readdirSync(folder).find((name) => name.endsWith('.cpuprofile'));
  if (file === undefined) throw new Error('Node wrote no profile');
  const parsed = parseJson(readFileSync(`${folder}/${file}`, 'utf8'));
  if (!parsed.ok) throw new Error(`the profile cannot be read: ${parsed.error}`);
  return profileSchema.parse(parsed.value);
}

/** A package, a folder of ours, or a part of Node itself. */
function groupOf({ url, functionName }: CallFrame): string {
  if (url === '') return functionName.startsWith('(') ? functionName : 'native functions';
  if (url.startsWith('node:')) return `node:${url.slice(5).split('/').slice(0, 2).join('/')}`;
  const dependency = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url)?.[1];
  if (dependency !== undefined) return dependency;
  return placeOf(url).split('/').slice(0, -1).join('/');
}

function placeOf(url: string): string {
  const built = url.indexOf(builtFolder);
  if (built !== -1) return url.slice(built + builtFolder.length + 1);
  return url.replace(/.*\/node_modules\//, '').replace(/^file:\/\//, '');
}

function selfTimes(profile: Profile, keyOf: (frame: CallFrame) => string): Map<string, number> {
  const keys = new Map(profile.nodes.map((node) => [node.id, keyOf(node.callFrame)]));
  const times = new Map<string, number>();
  for (const [index, sample] of profile.samples.entries()) {
    const key = keys.get(sample);
    if (key === undefined || key.startsWith('(idle)')) continue;
    times.set(key, (times.get(key) ?? 0) + (profile.timeDeltas[index] ?? 0) / 1_000);
  }
  return times;
}

function show(title: string, times: Map<string, number>, top: number): string {
  const total = [...times.values()].reduce((sum, time) => sum + time, 0);
  const rows = [...times].sort(([, left], [, right]) => right - left).slice(0, top);
  return table(
    [title, 'self ms', 'share'],
    rows.map(([key, time]) => [key, number(time, 0), `${number((100 * time) / total, 1)} %`]),
  );
}

const { values } = parseArgs({
  options: {
    system: { type: 'string', default: 'troupe' },
    workload: { type: 'string', default: 'w1' },
    turns: { type: 'string', default: '200' },
    top: { type: 'string', default: '30' },
  },
});

build();
const server = await startServer();
try {
  const profile = await withFolder(async (folder) => {
    const report = await runWorker(server.origin, pace, {
      system: values.system,
      workload: values.workload,
      turns: Number(values.turns),
      folder,
      timeoutMs: pace.jobMs,
      nodeOptions: ['--cpu-prof', '--cpu-prof-dir', `${folder}/profile`],
    });
    if (report.errors.length > 0) throw new Error(report.errors.join('\n'));
    console.error(JSON.stringify(report.figures));
    return readProfile(`${folder}/profile`);
  });
  const functionOf = (frame: CallFrame) =>
    frame.url === ''
      ? frame.functionName
      : `${frame.functionName || '(anonymous)'} ${placeOf(frame.url)}:${frame.lineNumber + 1}`;
  console.log(show('package or folder', selfTimes(profile, groupOf), Number(values.top)));
  console.log(`\n${show('function', selfTimes(profile, functionOf), Number(values.top))}`);
} finally {
  server.stop();
}
