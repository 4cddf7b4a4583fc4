/** Bundles that come over the API: the same check and the same import as of `troupe import`. */
import type { Clock } from '../../base/clock.ts';
import type { Environment } from '../../base/environment.ts';
import { badBundle } from '../../bundles/refusals.ts';
import { publicKey } from '../../bundles/sign.ts';
import type { TakeBundle } from '../../http/api/ledger-routes.ts';
import type { Project } from '../../project/project.ts';
import { bundleAt } from '../export/bundle-file.ts';
import { bundleImported, takeBundle } from '../export/take-bundle.ts';

interface Needs {
  readonly project: Pick<Project, 'config'>;
  readonly env: Environment;
  readonly clock: Clock;
}

export function createTakeBundle({ project, env, clock }: Needs): TakeBundle {
  return async ({ path, name }, { check, key }) => {
    const found = await bundleAt(path);
    if (found === undefined) throw badBundle('its first bytes are those of something else');
    const into = { address: project.config.ledgerAddress, env, clock };
    const trusted = key === undefined ? undefined : publicKey(key);
    return bundleImported(await takeBundle(into, { ...found, name }, { check, key: trusted }));
  };
}
