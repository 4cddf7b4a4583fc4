import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.ts'],
    exclude: ['**/node_modules/**', 'bench/results/**'],
    setupFiles: ['test/support/fixed-seed.ts'],
    testTimeout: 20_000,
    pool: 'forks',
    // Many tests wait for processes and timers: also with two cores, two at a time.
    maxWorkers: Math.max(2, availableParallelism() - 1),
  },
});
