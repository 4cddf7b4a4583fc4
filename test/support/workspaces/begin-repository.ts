/** Makes a folder a repository, for tests and for the programs that they start. */
import { execFileSync } from 'node:child_process';

/** Whatever the user of this machine has set. */
export const SAFE = [
  '-c',
  'user.name=a',
  '-c',
  'user.email=a@example.com',
  '-c',
  'commit.gpgsign=false',
  '-c',
  'protocol.file.allow=always',
];

/**
 * A repository of what is in the folder, with one commit. All in one shell: what starts a process has much memory here, and
 * pays for it each time.
 */
export function beginRepository(top: string): void {
  const git = ['git', ...SAFE, '-c', 'maintenance.auto=false'].join(' ');
  const line = `${git} init -q -b main && ${git} add -A && ${git} commit -q -m first --allow-empty`;
  execFileSync('sh', ['-c', line], { cwd: top, stdio: ['ignore', 'ignore', 'pipe'] });
}
