/** Runs npm quietly under a chosen Node. What npm printed is shown only when it failed. */
import { spawn } from 'node:child_process';
import { lstatSync, readlinkSync } from 'node:fs';
import { basename, delimiter, dirname, join } from 'node:path';
import { BootstrapError } from './checkout.mjs';

const OUTPUT_MAX_CHARACTERS = 20_000;
/** npm ends its errors with pages of usage; what matters comes first. */
const SHOWN_LINES = 30;

/** The surroundings of a child process that finds `node` first. */
export function environmentWith(node, ...folders) {
  const environment = { ...process.env };
  // On Windows the variable is spelled `Path`; two spellings at once would confuse the child.
  const name = Object.keys(environment).find((key) => key.toUpperCase() === 'PATH') || 'PATH';
  environment[name] = [dirname(node), ...folders, environment[name] || ''].join(delimiter);
  return environment;
}

/** `npm ci` in `folder`: exactly what the lockfile says, development dependencies too, without install scripts. */
export async function npmInstall(node, folder) {
  refuseLink(join(folder, 'node_modules'));
  const options = ['--include=dev', '--include=optional', '--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
  const { code, output } = await runNpm(node, folder, ['ci', ...options]);
  if (code === 0) return;
  const shown = output.trim().split('\n').slice(0, SHOWN_LINES).join('\n');
  throw new BootstrapError(`npm could not install in ${folder}:\n${shown}\nFix: see npm's message above, then run again.`);
}

/** npm begins by removing what is in node_modules, also where a link leads, and that is somebody else's. */
function refuseLink(path) {
  const seen = lstatSync(path, { throwIfNoEntry: false });
  if (seen === undefined || !seen.isSymbolicLink()) return;
  throw new BootstrapError(
    `${path} is a link to ${readlinkSync(path)}, and what is there does not fit this checkout. Nothing was installed: npm would empty it.\n` +
      'Fix: install in the folder that the link names, or remove the link and run again.',
  );
}

function runNpm(node, folder, parameters) {
  const environment = environmentWith(node);
  // Left behind by an outer `npm run`, these would point the inner npm at the wrong folder.
  for (const name of Object.keys(environment))
    if (/^npm_config_(local_prefix|workspaces?)$/i.test(name)) delete environment[name];
  const [command, first] = npmCommand(node);
  return new Promise((resolve, reject) => {
    const child = spawn(command, [...first, ...parameters], {
      cwd: folder,
      env: environment,
      stdio: ['ignore', 'pipe', 'pipe'],
      shell: process.platform === 'win32' && first.length === 0,
    });
    let output = '';
    const keep = (chunk) => {
      output = (output + chunk).slice(0, OUTPUT_MAX_CHARACTERS);
    };
    child.stdout.on('data', keep);
    child.stderr.on('data', keep);
    child.on('error', (error) => reject(new BootstrapError(`npm did not start: ${error.message}\nFix: install npm.`)));
    child.on('close', (code) => resolve({ code, output }));
  });
}

/** The npm that started us, run by `node` itself; otherwise the one on the PATH, which finds `node` there too. */
function npmCommand(node) {
  const outer = process.env.npm_execpath;
  return outer !== undefined && basename(outer) === 'npm-cli.js' ? [node, [outer]] : ['npm', []];
}
