/**
 * The embedded engine: runs are driven in this process, the journal is the ledger. Several processes may share one ledger;
 * a lease decides who drives a run, and a dead owner's lease is taken over.
 */
import { createEngine } from '../engine.ts';
import type { EngineOptions } from '../options.ts';
import type { Engine } from '../port.ts';
import { createEmbeddedDriver } from './embedded-driver.ts';

export const createEmbeddedEngine = (options: EngineOptions): Engine => createEngine(options, createEmbeddedDriver);
