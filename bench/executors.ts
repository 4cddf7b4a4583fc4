/**
 * What it costs to have an executor work through us: `node bench/executors.ts [--rounds 5] [--turns 6] [--delay 300] [--many 20]
 * [--executor <name>]`. The same executor does the same prompt, driven bare (`bare-executor.ts`) and by a run; in one process, in
 * turn, so that a ratio is of two things that happened beside each other. CPU is that of this process and all below it, but for
 * the model's server. Other executors than the built-in one only answer, because each has tools of other names. Linux only.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { knownExecutors } from '../src/executors/known/entries.ts';
import { createTroupe, type Troupe } from '../src/index.ts';
import { driveBare } from './bare-executor.ts';
import { familyCpuMs, processCpuMs } from './process-cpu.ts';
import { median, number, spread, table } from './table.ts';

const AIMS = { wall: 1.1, cpu: 1.5 };
const PROMPT = 'Write the notes, part by part.';
const MAIN = fileURLToPath(new URL('../src/cli/main.ts', import.meta.url));

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '5' },
    turns: { type: 'string', default: '6' },
    delay: { type: 'string', default: '300' },
    many: { type: 'string', default: '20' },
    executor: { type: 'string', default: 'builtin' },
  },
});
const isOwn = values.executor === 'builtin';
const rounds = Number(values.rounds);
const many = Number(values.many);
const turns = isOwn ? Number(values.turns) : 1;

const top = mkdtempSync(join(tmpdir(), 'troupe-bench-executors-'));
const model = spawn(process.execPath, [join(import.meta.dirname, 'executor-model.ts'), String(turns), values.delay]);
const port = await new Promise<string>((resolve) => {
  model.stdout.on('data', (chunk: Buffer) => resolve(/PORT (\d+)/.exec(String(chunk))?.[1] ?? ''));
});
const origin = `http://127.0.0.1:${port}`;
const env: NodeJS.ProcessEnv = {
  ...{ PATH: process.env['PATH'], HOME: join(top, 'home'), TMPDIR: tmpdir(), TROUPE_SANDBOX: 'off' },
  ...{ OPENAI_API_KEY: 'sk-bench-0123456789', OPENAI_BASE_URL: `${origin}/v1`, TROUPE_MODEL: 'openai/bench' },
  ...{ ANTHROPIC_API_KEY: 'sk-ant-bench-0123456789', ANTHROPIC_BASE_URL: origin },
  ...{ GEMINI_API_KEY: 'bench-0123456789', GOOGLE_GEMINI_BASE_URL: origin },
  ...{ CODEX_API_KEY: 'sk-bench-0123456789', MODEL_PROVIDER: 'here', CODEX_CONFIG: JSON.stringify(codexAt(`${origin}/v1`)) },
};

/** It asks its own provider, whatever its variables say, unless it is told of another one. */
function codexAt(base: string) {
  const here = { name: 'here', base_url: base, wire_api: 'responses', env_key: 'OPENAI_API_KEY', requires_openai_auth: false };
  return { model: 'bench', model_provider: 'here', model_providers: { here } };
}

function project(): { readonly root: string; readonly work: string } {
  const root = join(top, 'project');
  const work = join(root, 'work');
  for (const folder of [join(top, 'home'), join(root, 'agents'), work]) mkdirSync(folder, { recursive: true });
  writeFileSync(join(root, 'troupe.yaml'), 'workspace: work\nmodel: openai/bench\n');
  const rights = 'permissions: { write: allow, edit: allow, shell: allow }';
  writeFileSync(join(root, 'agents/coder.md'), `---\nname: coder\nexecutor: ${values.executor}\n${rights}\n---\n`);
  writeFileSync(join(work, 'README.md'), '# Notes\n');
  return { root, work };
}

const { root, work } = project();
const known = knownExecutors[values.executor];
const command = isOwn
  ? [process.execPath, MAIN, 'acp', '--executor', '--settings', root, '--home', join(top, 'bare')]
  : [...(known?.command ?? [values.executor])];
const bareEnv = { ...env, ...known?.env };

interface Figures {
  readonly wallMs: number;
  readonly cpuMs: number;
}

const cpuSoFar = (): number => familyCpuMs() - processCpuMs(model.pid ?? 0);

async function measured(workOn: () => Promise<string>): Promise<Figures> {
  const [before, startedAt] = [cpuSoFar(), performance.now()];
  const said = await workOn();
  const wallMs = performance.now() - startedAt;
  if (!said.includes('FINAL-ANSWER')) throw new Error(`not done: ${said.slice(0, 300)}`);
  const written = readdirSync(work).filter((name) => name.startsWith('notes-'));
  if (written.length !== turns - 1) throw new Error(`${written.length} files were written, not ${turns - 1}`);
  for (const name of written) rmSync(join(work, name));
  return { wallMs, cpuMs: cpuSoFar() - before };
}

async function ours(troupe: Troupe, workspace = work): Promise<string> {
  const outcome = await troupe.run('coder', PROMPT, { workspace });
  return outcome.status === 'completed' ? outcome.report.body : JSON.stringify(outcome);
}

/** Resident memory of everything below this process, in MiB. */
function familyMib(): number {
  const all = readdirSync('/proc').flatMap((name) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const status = readFileSync(`/proc/${name}/status`, 'utf8');
      const [, parent = '0'] = /^PPid:\s+(\d+)/m.exec(status) ?? [];
      const [, kib = '0'] = /^VmRSS:\s+(\d+)/m.exec(status) ?? [];
      return [{ pid: Number(name), parent: Number(parent), mib: Number(kib) / 1_024 }];
    } catch {
      return [];
    }
  });
  const family = new Set([process.pid]);
  for (const above of family) for (const { pid, parent } of all) if (parent === above) family.add(pid);
  return all.reduce((sum, { pid, mib }) => (family.has(pid) && pid !== model.pid ? sum + mib : sum), 0);
}

/** So many at once, each in a folder of its own. */
async function atOnce(drive: (folder: string) => Promise<string>): Promise<Figures & { readonly mib: number }> {
  const folders = Array.from({ length: many }, (_one, index) => join(top, `many-${index}`));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  let mib = 0;
  const look = setInterval(() => {
    mib = Math.max(mib, familyMib());
  }, 500);
  const [before, startedAt] = [cpuSoFar(), performance.now()];
  const said = await Promise.all(folders.map(drive));
  const figures = { wallMs: performance.now() - startedAt, cpuMs: cpuSoFar() - before };
  clearInterval(look);
  const failed = said.filter((one) => !one.includes('FINAL-ANSWER'));
  if (failed.length > 0) throw new Error(`${failed.length} of ${many} did not end: ${failed[0]?.slice(0, 300)}`);
  for (const folder of folders) {
    // A lock is left beside them.
    const notes = readdirSync(folder).filter((name) => !name.startsWith('.'));
    if (notes.length !== turns - 1) throw new Error(`not all notes are in ${folder}`);
    rmSync(folder, { recursive: true });
  }
  return { ...figures, mib };
}

const troupe = await createTroupe({ root, env });
try {
  const load = loadavg()[0] ?? Number.NaN;
  const bare = () => measured(() => driveBare({ command, env: bareEnv, cwd: work }, PROMPT));
  const run = () => measured(() => ours(troupe));
  await bare();
  await run();
  const rows: { readonly bare: Figures; readonly ours: Figures }[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // Who begins changes, so that neither always follows the other.
    const first = round % 2 === 0 ? await bare() : await run();
    const second = round % 2 === 0 ? await run() : await bare();
    rows.push(round % 2 === 0 ? { bare: first, ours: second } : { bare: second, ours: first });
  }
  const all = (who: 'bare' | 'ours', figure: keyof Figures) => rows.map((row) => row[who][figure]);
  const ratios = (figure: keyof Figures) => rows.map((row) => row.ours[figure] / row.bare[figure]);
  const line = (what: string, figure: keyof Figures, aim: number) => [
    ...[what, spread(all('bare', figure), 0), spread(all('ours', figure), 0), spread(ratios(figure), 2)],
    `${aim}, ${median(ratios(figure)) <= aim ? 'met' : '**missed**'}`,
  ];
  const head = [`${values.executor}, ${turns} model calls of ${values.delay} ms`, 'bare', 'by a run', 'ratio', 'aim, at most'];
  const lines = [line('wall time, ms', 'wallMs', AIMS.wall), line('CPU, ms', 'cpuMs', AIMS.cpu)];
  process.stdout.write(`load ${number(load)}, ${rounds} rounds in turn\n\n${table(head, lines)}\n\n`);
  if (many > 0) {
    const free = await atOnce((cwd) => driveBare({ command, env: bareEnv, cwd }, PROMPT));
    const kept = await atOnce((cwd) => ours(troupe, cwd));
    const each = (figure: 'wallMs' | 'cpuMs' | 'mib', digits = 0) => [
      ...[number(free[figure], digits), number(kept[figure], digits), number(kept[figure] / free[figure], 2)],
    ];
    const crowd = [
      ['wall time of all, ms', ...each('wallMs')],
      ['CPU of all, ms', ...each('cpuMs')],
      ['memory of all, MiB', ...each('mib')],
    ];
    process.stdout.write(`${table([`${many} at once`, 'bare', 'by runs', 'ratio'], crowd)}\n`);
  }
} finally {
  await troupe.close();
  model.kill();
  rmSync(top, { recursive: true, force: true });
}
