/**
 * Scenes: a person's script, played at four widths, and what they saw, recorded in a text file beside the script. A test plays
 * each scene and compares; with TROUPE_RECORD=1 it records instead. How to write one is in docs/testing.md.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { TestProject } from '../../e2e/support-project.ts';
import { type Backstage, createBackstage, createStageProject, openStage, type Stage } from './stage.ts';

const WIDTHS = [60, 80, 120, 200];
const RECORDING = (process.env['TROUPE_RECORD'] ?? '') !== '';
/** Of a screen that is not as recorded: it may be on its way there, on a machine that is busy. */
const QUIET_MS = RECORDING ? 1_500 : 60_000;
const ENDING = '.screens.txt';

export interface Scene {
  /** What it shows, in a sentence. */
  readonly title: string;
  /** What is there before, made once and shared by all widths: for scenes that change nothing. */
  readonly before?: (project: TestProject, troupe: Backstage) => Promise<void>;
  readonly play: (stage: Stage) => Promise<void>;
}

/** Plays every scene of a folder beside the test that calls this. */
export function playScenes(folder: string): void {
  const names = readdirSync(folder);
  const scripts = names.filter((name) => name.endsWith('.ts'));
  describe(folder.split('/').at(-1) ?? folder, () => {
    it('has a script for every recorded scene', () => {
      expect(scripts.length).toBeGreaterThan(0);
      const recorded = names.filter((name) => name.endsWith(ENDING)).map((name) => name.replace(ENDING, '.ts'));
      expect(scripts).toEqual(expect.arrayContaining(recorded));
    });
    for (const script of scripts) {
      it(script.replace('.ts', ''), async () => {
        const { scene } = (await import(pathToFileURL(join(folder, script)).href)) as { readonly scene: Scene };
        const file = join(folder, script.replace('.ts', ENDING));
        const recorded = RECORDING ? '' : readFileSync(file, 'utf8');
        const seen = sceneText(scene, await playAtAllWidths(scene, sessionsIn(recorded)));
        if (RECORDING) writeFileSync(file, seen);
        else expect(seen).toBe(recorded);
      });
    }
  });
}

/** The widths side by side: they wait more than they work. */
async function playAtAllWidths(scene: Scene, recorded: ReadonlyMap<number, string>): Promise<ReadonlyMap<number, string>> {
  const shared = scene.before === undefined ? undefined : await createStageProject();
  try {
    const backstage = shared === undefined ? undefined : createBackstage(shared);
    if (shared !== undefined && backstage !== undefined) await scene.before?.(shared, backstage.troupe);
    const places = backstage?.places() ?? 0;
    // Also after one has failed the others come to their end: nobody is left playing.
    const played = await Promise.allSettled(
      WIDTHS.map(async (columns) => {
        const expected = recorded.get(columns);
        const project = shared ?? (await createStageProject());
        const expects = (session: string): boolean => expected?.startsWith(session) ?? false;
        const stage = openStage(project, { columns, expects, quietMs: QUIET_MS, places });
        try {
          await scene.play(stage);
        } catch (error) {
          throw new Error(`at ${columns} columns: ${String(error)}\n\nAll terminals:\n${stage.screens()}`, { cause: error });
        } finally {
          if (shared === undefined) await project[Symbol.asyncDispose]();
        }
        return [columns, stage.session()] as const;
      }),
    );
    const failed = played.flatMap((one) => (one.status === 'rejected' ? [String(one.reason)] : []));
    if (failed.length > 0) throw new Error(failed.join('\n\n'));
    return new Map(played.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])));
  } finally {
    await shared?.[Symbol.asyncDispose]();
  }
}

const HEAD = /^═══ ([\d, ]+) columns ═*$/;

/** Widths at which the same was seen are written down together. */
function sceneText({ title }: Scene, sessions: ReadonlyMap<number, string>): string {
  const groups = Map.groupBy(sessions, ([, session]) => session);
  const parts = [...groups].map(([session, widths]) => {
    const named = widths.map(([columns]) => columns).join(', ');
    return `${`═══ ${named} columns `.padEnd(60, '═')}\n${session}\n`;
  });
  return [`${title}\n`, ...parts].join('\n');
}

function sessionsIn(text: string): ReadonlyMap<number, string> {
  const sessions = new Map<number, string>();
  let widths: readonly number[] = [];
  let lines: string[] = [];
  const keep = (): void => {
    for (const columns of widths) sessions.set(columns, lines.join('\n').trimEnd());
  };
  for (const line of text.split('\n')) {
    const named = HEAD.exec(line)?.[1];
    if (named === undefined) {
      lines.push(line);
      continue;
    }
    keep();
    widths = named.split(', ').map(Number);
    lines = [];
  }
  keep();
  return sessions;
}
