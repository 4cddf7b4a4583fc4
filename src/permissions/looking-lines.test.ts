import { describe, expect, it } from 'vitest';
import { onlyLooksLine } from './looking-lines.ts';

describe('a command line', () => {
  it.each([
    ...['ls', 'ls -la src', 'cat a.txt | head -3', 'git diff HEAD~1 -- src', 'git log --oneline | wc -l', 'rg -n "a b" src'],
    ...['find . -name "*.ts"', 'cat a 2>/dev/null && echo yes', 'sort a | uniq -c', 'git status', 'time ls'],
  ])('only looks: %s', (line) => {
    expect(onlyLooksLine(line)).toBe(true);
  });

  it.each([
    ...[
      'touch a',
      'ls > a',
      'cat a >> b',
      'npm test',
      'git commit -m x',
      'git branch x',
      'find . -delete',
      'find . -exec rm {} ;',
    ],
    ...[
      'sort -o a b',
      'ls; rm a',
      'ls && touch a',
      'cat $(touch a)',
      'LD_PRELOAD=x ls',
      './ls',
      '/tmp/cat a',
      'xargs rm',
      'xargs cat',
      'sh -c ls',
    ],
    ...['git -c core.pager=x log', 'git diff --output=a', 'sed -i s/a/b/ c', 'tee a', 'ls | tee a', 'node -e 1', '', 'ls "'],
    ...['uniq a b', 'echo a\ntouch b', 'rg --pre x y', 'tree -o a', 'mkdir a', 'git grep -O x', 'awk 1 a', 'env ls'],
  ])('does not, or nobody knows: %s', (line) => {
    expect(onlyLooksLine(line)).toBe(false);
  });
});
