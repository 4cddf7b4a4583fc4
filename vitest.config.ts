import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS, TEST_MS } from './test/support/patience.ts';
import { ROOM_FOR_THE_YOUNG } from './test/support/programs/programs.ts';

/**
 * Files with a process of their own: they start and kill processes, or work for long. Starting a process costs the more the
 * more memory whoever starts it has, and those that many files share have much.
 */
const ALONE_IN_SOURCES = [
  'src/{cluster,process,runner,sandbox,workspaces}/**/*.test.ts',
  'src/engine/evidence/{evidence-table,verify}.test.ts',
  'src/{executors/acp,project/places,cli/tasks}/**/*.test.ts',
  // Among those that follow each other they came last, and one core had nothing to do.
  'src/engine/restate/{conformance,steps}.test.ts',
  'src/ledger/*/store.test.ts',
];
const ALONE = ['test/**/*.test.ts', 'bench/**/*.test.ts', ...ALONE_IN_SOURCES];

/** Those among them that start nothing and are soon done: most of their cost is a process, and what is imported into it. */
const SHORT = [
  'test/{architecture,engine-guards,events-page,json-page,limits,mutations,pages,pattern-rooms,pins,tidy,words}.test.ts',
  'test/e2e/{a2a-conformance,agents-add-card,answer-beside-cancel,measure,only-reads,tasks}.test.ts',
  'test/regressions/*.test.ts',
  'test/scenes/commands.test.ts',
  'test/sim/{assistants,condensed,fork,reopened,sealed,sent}-crash.test.ts',
  'test/sim/{condensed-message,crash-sweep,folds,intent-first}.test.ts',
];
const NEVER = ['**/node_modules/**', 'bench/results/**'];

export default defineConfig({
  test: {
    globalSetup: 'test/support/run-folder.ts',
    setupFiles: ['test/support/fixed-seed.ts', 'test/support/cpu-log.ts'],
    // Nets for what hangs, not limits on what is slow: test/support/patience.ts.
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    // What everything waits for may hang, a server for one: then each test would wait for its net, and the run last for hours.
    bail: 20,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    pool: 'forks',
    execArgv: [...ROOM_FOR_THE_YOUNG],
    // Node loads tests and sources as it loads the product, by stripping types: nothing is transformed.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    // Tests wait for processes and disks more than they work: one more at a time than there are cores.
    maxWorkers: availableParallelism() + 1,
    // Begun in the order of their names: the long files must not come last.
    projects: [
      { extends: true, test: { name: 'alone', include: ALONE, exclude: [...SHORT, ...NEVER] } },
      // A process for each would cost more than most of these do: they follow each other in the same few processes.
      {
        extends: true,
        test: {
          name: 'together',
          include: ['{src,console}/**/*.test.ts', ...SHORT],
          exclude: [...ALONE_IN_SOURCES, ...NEVER],
          isolate: false,
        },
      },
    ],
  },
});
