/**
 * How long the tests wait before they call something stuck. Nothing is measured with these: a passing test never waits for
 * one, and each is many times what a machine with one busy core needs. vitest.config.ts makes the first two the default of
 * every wait and every test.
 */

/** For one condition: `expect.poll`, an answer of a server, the end of a process. */
export const PATIENCE_MS = 180_000;

/** Longer than a test lasts: for what somebody else has to bring to its end. */
export const FOR_EVER_MS = 3_600_000;

/** For one test, or one preparation. */
export const TEST_MS = 600_000;

/** For a test that plays hundreds of lives, or installs a package. */
export const LONG_TEST_MS = 3_600_000;
