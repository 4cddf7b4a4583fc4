/** Who uses this process, as answers record it: the person's name and the machine's. */
import { hostname, userInfo } from 'node:os';

export function personHere(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    // A container may run under an id that has no name.
    return `uid ${process.getuid?.() ?? 'unknown'}`;
  }
}
