/**
 * What work was done with, so that it can be told whether it would come out the same elsewhere: system, tools, lockfiles, commit,
 * sandbox. The same environment has the same hash, on any machine. No value of a variable is in it, and no path of the machine.
 */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { arch, platform, release } from 'node:os';
import type { Environment } from '../../base/environment.ts';
import { canonicalJson, type Json } from '../../base/json.ts';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/present.ts';
import type { Environments, RecordedEnvironment } from '../port.ts';
import { environmentRef } from '../refs.ts';
import { openSourceFile } from '../source-file.ts';
import { gitState } from './git-state.ts';
import { toolVersions } from './tool-versions.ts';

/** Files that pin what a project depends on. */
const LOCKFILES = [
  ...['package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb', 'deno.lock'],
  ...['poetry.lock', 'uv.lock', 'Pipfile.lock', 'pdm.lock', 'requirements.txt', 'Cargo.lock', 'go.mod', 'go.sum'],
  ...['composer.lock', 'Gemfile.lock', 'gradle.lockfile', 'mix.lock', 'flake.lock', 'packages.lock.json', 'pubspec.lock'],
];

export interface EnvironmentsOptions {
  readonly environment: Environment;
  redact(text: string): string;
}

export function createEnvironments({ environment, redact }: EnvironmentsOptions): Environments {
  // Asking tools takes longer than the rest, and they stay what they are while a process lives.
  const tools = new Map<string, ReturnType<typeof toolVersions>>();
  const toolsFor = (workspace: string): ReturnType<typeof toolVersions> => {
    const known = tools.get(workspace);
    if (known !== undefined) return known;
    if (tools.size >= limits.environmentPlaces) tools.clear();
    const asked = toolVersions(workspace, environment);
    tools.set(workspace, asked);
    return asked;
  };
  return {
    async fingerprint(workspace, sandbox) {
      const [system, versions, lockfiles, git] = await Promise.all([
        systemName(),
        toolsFor(workspace),
        lockfilesIn(workspace),
        gitState(workspace, environment),
      ]);
      const found: Json = {
        os: { platform: platform(), arch: arch(), kernel: release(), ...present({ name: system }) },
        tools: versions,
        lockfiles,
        ...present({ git: git && { ...git }, sandbox }),
      };
      return recordedEnvironment(cleaned(found, redact));
    },
  };
}

export function recordedEnvironment(environment: Json): RecordedEnvironment {
  const sha256 = createHash('sha256').update(canonicalJson(environment)).digest('hex');
  return { ref: environmentRef(sha256), sha256, environment };
}

/** The distribution, where there is a file that says so. */
async function systemName(): Promise<string | undefined> {
  const text = await readFile('/etc/os-release', 'utf8').catch(() => '');
  return /^PRETTY_NAME="?([^"\n]{1,200})"?$/m.exec(text)?.[1];
}

async function lockfilesIn(workspace: string): Promise<Readonly<Record<string, string>>> {
  const hashes: Record<string, string> = {};
  for (const name of LOCKFILES) {
    const opened = await openSourceFile(workspace, name);
    if (!opened.ok) continue;
    const hash = createHash('sha256');
    try {
      if (opened.value.bytes > limits.environmentLockfileBytes) continue;
      for await (const part of opened.value.parts()) hash.update(part);
    } finally {
      await opened.value.close();
    }
    hashes[name] = hash.digest('hex');
  }
  return hashes;
}

function cleaned(value: Json, redact: (text: string) => string): Json {
  if (typeof value === 'string') return redact(value);
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: Json) => cleaned(item, redact));
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, item === undefined ? item : cleaned(item, redact)]));
}
