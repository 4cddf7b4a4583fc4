/**
 * The engine on many machines. Restate decides which worker works on which run, keeps the timers and starts work again that was
 * cut off; what happened is only in the ledger. See restate-services.ts for what it calls.
 */
import { createEngine } from '../engine.ts';
import type { Engine } from '../port.ts';
import type { EngineParts } from '../tree.ts';
import type { RestateAddress } from './address.ts';
import { createRestateDriver } from './driver.ts';
import { createIngress } from './ingress.ts';

export function createRestateEngine(parts: EngineParts, address: RestateAddress): Engine {
  const ingress = createIngress(address, parts.clock);
  return createEngine(parts, () => createRestateDriver(parts, ingress));
}
