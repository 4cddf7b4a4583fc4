import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { packageYaml, type TaskPackage } from './task-package.ts';

const example: TaskPackage = {
  session_id: 'session-xxx',
  task_id: 'task-yyy',
  context_ref: 'event://session/task.snapshot/abcd',
  instruction: {
    goal: 'Add a CLI command and tests',
    scope: { include_paths: ['cmd/', 'internal/cli/'], exclude_paths: ['migrations/'] },
    acceptance: ['go test ./... passes', 'new command is documented'],
    constraints: {
      max_cli_calls: 8,
      max_duration_seconds: 900,
      no_touch: ['docs/error-experience.md', 'docs/error-experience/summary.md'],
    },
  },
  runtime: { cwd: '/workspace/project', tool_mode: 'full', environment_fingerprint: 'env://hash/1234' },
};

it('is the YAML that executors expect, key by key and in this order', () => {
  expect(packageYaml(example)).toBe(`session_id: session-xxx
task_id: task-yyy
context_ref: event://session/task.snapshot/abcd
instruction:
  goal: "Add a CLI command and tests"
  scope:
    include_paths:
      - cmd/
      - internal/cli/
    exclude_paths:
      - migrations/
  acceptance:
    - "go test ./... passes"
    - "new command is documented"
  constraints:
    max_cli_calls: 8
    max_duration_seconds: 900
    no_touch:
      - docs/error-experience.md
      - docs/error-experience/summary.md
runtime:
  cwd: /workspace/project
  tool_mode: full
  environment_fingerprint: env://hash/1234
`);
});

describe('whatever stands in it, it is read as it was written:', () => {
  const words = [
    ...['', '~', 'null', 'yes', 'No', '1', '1.5', '.5', '0x1f', '1e3', '-', '- a', '? a', 'a: b', 'a #b', '#a', '*a', '&a', '!a'],
    ...[
      '"',
      "'",
      'a"b',
      '[a]',
      '{a}',
      'a\nb: c',
      '```',
      '---',
      '...',
      ' a ',
      'ünï',
      '日本/',
      '@a',
      '`a`',
      '%a',
      '|',
      '>',
      'a\tb',
    ],
    ...[
      '2026-01-01',
      '12:30',
      '.inf',
      '.NaN',
      '<<',
      '=',
      'C:\\a\\b',
      '/a b/c',
      'true',
      'on',
      'y',
      '\u0000',
      '\u2028',
      '\u{1f600}',
    ],
  ];

  it.each(words)('%j', (word) => {
    const given: TaskPackage = {
      ...{ session_id: word, task_id: word, context_ref: word },
      instruction: {
        goal: word,
        scope: { include_paths: [word, word], exclude_paths: [] },
        acceptance: [word],
        constraints: { max_cli_calls: 1, max_duration_seconds: 1, no_touch: [word] },
      },
      runtime: { cwd: word, tool_mode: 'read-only', environment_fingerprint: word },
    };
    const yaml = packageYaml(given);
    expect(parse(yaml)).toEqual(given);
    // Nothing that somebody wrote begins a line, so none of it can end the block that it is shown in.
    expect(yaml.split('\n').filter((line) => line.startsWith('```'))).toEqual([]);
  });
});
