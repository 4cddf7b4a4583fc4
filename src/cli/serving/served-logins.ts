/**
 * Logins that outlive the server, and the note by which `troupe console` finds it; where nothing can be kept they end with it.
 */
import { messageOf } from '../../base/errors.ts';
import { present } from '../../base/present.ts';
import { systemRandom } from '../../base/random.ts';
import { keptKeys } from '../../http/kept-logins.ts';
import type { LoginKeys } from '../../http/logins.ts';
import type { CommandContext } from '../terminal/command.ts';
import { safeLine } from '../terminal/safe-text.ts';
import { leaveNote, loginsFolder } from './running-servers.ts';

export interface ServedLogins {
  readonly kept: { readonly keys: LoginKeys; readonly server: string } | undefined;
  /** Where the server can be reached from now on. */
  tell(origin: string, url: string | undefined): void;
  leave(): void;
}

const NAME_BYTES = 16;

export function createServedLogins({ terminal: { env, progress }, clock }: CommandContext, root: string): ServedLogins {
  const server = Buffer.from(systemRandom.bytes(NAME_BYTES)).toString('base64url');
  const attempt = <Value>(what: string, work: () => Value): Value | undefined => {
    try {
      return work();
    } catch (error) {
      progress.line(`warning: ${what}: ${safeLine(messageOf(error))}`);
      return undefined;
    }
  };
  const keys = attempt('logins of the console end with this server', () =>
    keptKeys(loginsFolder(root, env), clock, systemRandom),
  );
  let leave: (() => void) | undefined;
  return {
    kept: keys && { keys, server },
    tell(origin, url) {
      if (keys === undefined) return;
      leave = attempt('troupe console does not find this server', () =>
        leaveNote(root, env, { server, origin, ...present({ url }) }),
      );
    },
    leave: () => leave?.(),
  };
}
