/** Tells a command that runs tests from one that does not. Its outcome is then recorded as a test report. */

const RUNNERS = [
  /^(?:npm|pnpm|yarn|bun)\s+(?:run\s+|-s\s+|--silent\s+)*(?:t|tst|test)(?:[:\s]|$)/,
  /^(?:(?:npx|pnpm|yarn|bunx)\s+(?:exec\s+|-y\s+|--yes\s+)*)?(?:vitest|jest|mocha|ava|tap|playwright\s+test|cypress\s+run)(?:\s|$)/,
  /^node\s+(?:\S+\s+)*--test(?:\s|$)/,
  /^deno\s+test(?:\s|$)/,
  /^(?:python[\d.]*\s+-m\s+|uv\s+run\s+|poetry\s+run\s+)?(?:pytest|unittest|tox|nox)(?:\s|$)/,
  /^cargo\s+(?:\+\S+\s+)?(?:test|nextest\s+run)(?:\s|$)/,
  /^go\s+test(?:\s|$)/,
  /^(?:g?make|just|task|rake|ninja)\s+(?:-\S+\s+)*(?:test|tests|check)(?:\s|$)/,
  /^(?:\.\/)?(?:mvnw?|gradlew?)\s+(?:\S+\s+)*(?:test|check|verify)(?:\s|$)/,
  /^(?:dotnet|swift|mix|flutter|dart|zig\s+build|bazel|ctest|rspec|bundle\s+exec\s+rspec|phpunit)(?:\s+test)?(?:\s|$)/,
];
/** These need the word `test` to mean tests. */
const NEEDS_TEST = /^(?:dotnet|swift|mix|flutter|dart|zig\s+build|bazel)(?!\s+test(?:\s|$))/;

export function looksLikeTestRun(command: string): boolean {
  return command
    .slice(0, 4_096)
    .split(/&&|\|\||[;\n|]/)
    .map(bareCommand)
    .some((part) => !NEEDS_TEST.test(part) && RUNNERS.some((runner) => runner.test(part)));
}

/** Without variables set in front, without `time` or `env`, and out of what stands around it: `if npm test`, `(npm test`. */
function bareCommand(part: string): string {
  return part
    .trim()
    .replace(/^(?:(?:time|env|command|exec|if|elif|then|else|while|until|do|!|\{)\s+|\(\s*|[A-Za-z_]\w*=\S*\s+)*/, '');
}
