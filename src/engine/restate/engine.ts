/**
 * The engine on many machines. Restate decides which worker works on which run, keeps the timers and starts work again that was
 * cut off; what happened is only in the ledger. See services.ts for what it calls.
 */
import { createEngine } from '../engine.ts';
import type { EngineOptions } from '../options.ts';
import type { Engine } from '../port.ts';
import type { RestateAddress } from './address.ts';
import { createRestateDriver } from './driver.ts';
import { createIngress } from './ingress.ts';

export function createRestateEngine(options: EngineOptions, address: RestateAddress): Engine {
  const ingress = createIngress(address, options.clock);
  return createEngine(options, () => createRestateDriver(options, ingress));
}
