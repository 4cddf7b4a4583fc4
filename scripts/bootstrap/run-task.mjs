/**
 * The tasks behind the npm scripts and ./troupe. Each runs in a child process under the right Node; its exit code and the
 * signals sent to us pass through.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { BootstrapError, root, say } from './checkout.mjs';
import { ensureInstalled } from './install.mjs';
import { environmentWith } from './npm.mjs';

const commandLine = 'src/cli/main.ts';

/** Script and leading arguments of each task; `here` keeps the folder the user is in, `folder` names it. */
const tasks = {
  // What it shows to be copied is copied here, in the checkout.
  demo: { run: [commandLine, 'demo'], env: { TROUPE_CALLED_AS: './troupe' } },
  // Of the folder that somebody is in, which npm tells: a checkout may serve any project.
  start: { run: [commandLine, 'serve', '--open'], folder: process.env.INIT_CWD, console: true },
  cli: { run: [commandLine], here: true },
  test: {
    run: ['scripts/pipeline.ts', 'test'],
    cluster: true,
    executors: true,
    codingAgents: true,
    console: true,
    browser: true,
  },
  check: { run: ['scripts/pipeline.ts', 'check'], console: true, browser: true },
  fix: { run: ['scripts/fix.ts'] },
  build: { run: ['scripts/build.ts'], console: true },
  console: { run: ['scripts/build-console.ts'], console: true },
  bench: { run: ['bench/run.ts'], cluster: true },
  mutations: { run: ['scripts/mutations.ts'], cluster: true, executors: true },
};

const EXIT_USAGE = 2;

export async function main(parameters) {
  const [name, ...rest] = parameters;
  try {
    // For ./troupe, which then replaces itself by that Node, so that nothing stands between the terminal and the program.
    if (name === 'where-is-node') {
      const node = await ensureInstalled({ cluster: rest[0] === 'with-servers' });
      return void process.stdout.write(`${node}\n`);
    }
    if (!Object.hasOwn(tasks, name)) {
      throw new BootstrapError(`There is no task '${name || ''}'. Fix: choose one of ${Object.keys(tasks).join(', ')}.`);
    }
    const task = tasks[name];
    const cluster = task.cluster === true || (task.run[0] === commandLine && rest[0] === 'cluster');
    const codingAgents = task.codingAgents === true && needsCodingAgents(rest, process.env);
    const { console = false, browser = false, executors = false } = task;
    await runTask(await ensureInstalled({ cluster, executors, codingAgents, console, browser }), task, rest);
  } catch (error) {
    if (!(error instanceof BootstrapError)) throw error;
    say(error.message);
    process.exitCode = EXIT_USAGE;
  }
}

/** In continuous integration they are let work; elsewhere where their tests are asked for by name. */
export function needsCodingAgents(paths, environment) {
  if (paths.length === 0) return Boolean(environment.CI);
  return paths.some((path) => path.includes('coding-agents'));
}

function runTask(node, task, rest) {
  const [script, ...first] = task.run;
  const child = spawn(node, [join(root, script), ...first, ...rest], {
    cwd: task.folder || (task.here ? process.cwd() : root),
    env: { ...environmentWith(node, join(root, 'node_modules', '.bin')), ...task.env },
    stdio: 'inherit',
  });
  const stopForwarding = forwardSignals(child);
  return new Promise((resolve, reject) => {
    child.on('error', reject);
    child.on('exit', (code, signal) => {
      stopForwarding();
      if (signal === null) process.exitCode = code;
      else process.kill(process.pid, signal);
      resolve();
    });
  });
}

/** A terminal sends Ctrl-C to the child as well; sending it once more would turn a graceful stop into a hard one. */
function forwardSignals(child) {
  const handlers = ['SIGINT', 'SIGTERM', 'SIGHUP'].map((signal) => {
    const handler = () => {
      if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
    };
    process.on(signal, handler);
    return () => process.removeListener(signal, handler);
  });
  return () => {
    for (const stop of handlers) stop();
  };
}
