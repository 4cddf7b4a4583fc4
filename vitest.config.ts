import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';
import { PATIENCE_MS, TEST_MS } from './test/support/patience.ts';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'bench/results/**'],
    setupFiles: ['test/support/fixed-seed.ts'],
    // Nets for what hangs, not limits on what is slow: test/support/patience.ts.
    testTimeout: TEST_MS,
    hookTimeout: TEST_MS,
    expect: { poll: { timeout: PATIENCE_MS, interval: 20 } },
    pool: 'forks',
    // Many tests wait for processes and timers: also with two cores, two at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
