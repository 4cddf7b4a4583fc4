/**
 * Examples that run without a key: their answers come from a script, everything else is real. Each plays in a copy of its own, in
 * a temporary folder; told to, in the ledger of somebody else's project, where it can be watched like any run.
 */
import { cp, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Environment } from '../../base/environment.ts';
import { messageOf } from '../../base/errors.ts';
import { runIdFrom } from '../../base/ids.ts';
import { present } from '../../base/present.ts';
import { fail, ok } from '../../base/result.ts';
import { userText } from '../../events/messages.ts';
import { openProject } from '../../project/open.ts';
import type { Project } from '../../project/project.ts';
import { firstCommit } from '../../workspaces/advance.ts';
import type { ActOutcome, CallerAct, StartedRun } from '../acts.ts';

export interface Demo {
  readonly example: string;
  /** The name of the agent, and its file within the example. */
  readonly agent: string;
  readonly file: string;
  readonly prompt: string;
  /** What somebody is about to see. */
  readonly title: string;
  /** A folder of it that is to be a repository; what is left to do with the result, then. */
  readonly repository?: string;
}

export const demos: Readonly<Record<string, Demo>> = {
  lead: {
    ...{ example: '22-architect', agent: 'lead', file: 'lead' },
    prompt: 'Add a CLI tool to this repo and cover it with tests.',
    title: 'One agent plans and judges, another does the work, and the runtime looks at what it did',
    repository: 'workspace',
  },
  fixer: {
    ...{ example: '01-first-run', agent: 'fixer', file: 'agents/fixer.md' },
    prompt: 'The tests of this project fail. Find out why, fix it, and show that they pass.',
    title: 'An agent repairs a small project',
  },
};

/** A copy to work in, and the environment for it. */
export interface DemoPlace {
  readonly folder: string;
  readonly env: Environment;
  readonly isRepository: boolean;
}

export async function placeDemo(demo: Demo, given: Environment): Promise<DemoPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'troupe-demo-'));
  await cp(fileURLToPath(new URL(`../../../examples/${demo.example}`, import.meta.url)), folder, { recursive: true });
  // State stays in the demo's folder, a model from outside would need a key, and the agent runs tests with this Node.
  const path = [dirname(process.execPath), given['PATH']].filter((part) => part !== undefined).join(delimiter);
  const env = { ...given, TROUPE_HOME: undefined, TROUPE_MODEL: undefined, PATH: path };
  const isRepository = demo.repository !== undefined && (await firstCommit(join(folder, demo.repository), env));
  return { folder, env, isRepository };
}

export interface Examples {
  /** Nothing of it is awaited but its start. */
  start(name: string, act: Pick<CallerAct, 'client' | 'key'>): ActOutcome<StartedRun>;
  /** Those that are under way are left where they are. */
  close(): Promise<void>;
}

export interface ExamplesOptions {
  readonly env: Environment;
  /** The ledger that they are recorded in. */
  readonly ledger: Project['config']['ledgerAddress'];
  onError(error: Error): void;
}

export function createExamples({ env, ledger, onError }: ExamplesOptions): Examples {
  const address = ledger.kind === 'sqlite' ? `sqlite:${ledger.location()}` : ledger.location();
  const open = new Map<string, () => Promise<void>>();
  return {
    async start(name, { client, key }) {
      const demo = Object.hasOwn(demos, name) ? demos[name] : undefined;
      if (demo === undefined) return fail({ why: 'unknown', code: 'unknown_example', message: `There is no example ${name}.` });
      const place = await placeDemo(demo, env);
      const { folder } = place;
      const project = await openProject({ cwd: folder, root: folder, env: { ...place.env, TROUPE_LEDGER: address } });
      open.set(folder, () => project.close());
      const close = async (): Promise<void> => {
        if (!open.delete(folder)) return;
        await project.close().catch((error: unknown) => onError(error instanceof Error ? error : new Error(messageOf(error))));
      };
      const run = key === undefined ? undefined : runIdFrom(JSON.stringify(['api example', client.name, name, key]));
      const [before] = run === undefined ? [] : await project.ledger.runs({ run });
      if (before !== undefined) {
        await close();
        return ok({ run: before.run, session: before.session, before: true });
      }
      const origin = { kind: 'person', client: 'api', name: client.name } as const;
      const { agent, prompt } = demo;
      const { workspace } = project.config;
      const started = await project.engine.start({ agent, input: userText(prompt), workspace, origin, ...present({ run }) });
      if (started.kind === 'refused') {
        await close();
        return fail({ ...started.error, why: 'never' });
      }
      const { handle } = started;
      void handle.done.then(close);
      return ok({ run: handle.run, session: handle.session, before: false });
    },
    async close() {
      const closing = [...open.values()];
      open.clear();
      await Promise.all(closing.map((end) => end()));
    },
  };
}
