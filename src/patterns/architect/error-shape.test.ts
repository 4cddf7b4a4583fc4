import { describe, expect, it } from 'vitest';
import { errorShape } from './error-shape.ts';

describe('the same error', () => {
  it.each([
    ['at another time', 'Failed at 2026-01-20T12:34:56Z', 'Failed at 2026-01-20T12:41:02.113Z'],
    ['at another hour', 'timeout at 12:04', 'timeout at 9:15:33 pm'],
    ['in another worktree', 'ENOENT /var/troupe/worktrees/ses_1/task-0a1b2c3d4e/x.js', 'ENOENT /srv/task-ffeeddccbb/x.js'],
    ['in another place of a file', 'src/a.js:10:4 unexpected token', 'src/a.js:12:1 unexpected token'],
    ['after another time', 'test took 153.2ms and failed', 'test took 2 s and failed'],
    ['of another process', 'process 4711 died', 'process 12 died'],
    ['at another commit', 'cannot merge 3f2a91c0d4', 'cannot merge 00aa11bb22cc33dd44ee55ff66aa77bb88cc99dd'],
    ['at another address', 'segfault at 0x7ffe12ab', 'segfault at 0x55aa01'],
    [
      'with another id',
      'session 9b2e8c1a-1111-4222-8333-944455556666 is gone',
      'session 0a1b2c3d-aaaa-4bbb-8ccc-dddddddddddd is gone',
    ],
    ['of another task', 'task-0a1b2c3d4e was refused', 'task-ffeeddccbb was refused'],
    ['painted', '\u001b[31mError\u001b[0m: no', 'Error: no'],
    ['with other blanks and capitals', 'Error:  no\n  such file', 'error: no such FILE'],
    ['of another size', 'used 4097 MB', 'used 5.2 GB'],
  ])('%s has the same shape', (_how, one, other) => expect(errorShape(one)).toBe(errorShape(other)));
});

describe('another error', () => {
  it.each([
    ['Cannot find module "a"', 'Cannot find module "b"'],
    ['expected true to be false', 'expected undefined to be false'],
    ['TypeError: x is not a function', 'TypeError: y is not a function'],
    ['permission denied', 'connection refused'],
    ['not ok - greets', 'not ok - leaves'],
  ])('%j is not %j', (one, other) => expect(errorShape(one)).not.toBe(errorShape(other)));

  it('is bounded however long it is', () => expect(errorShape('no '.repeat(10_000)).length).toBeLessThanOrEqual(400));
});
