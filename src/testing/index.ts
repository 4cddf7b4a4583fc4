/** For tests of teams: what Troupe's own tests are made with. Works with every test runner (docs/library.md). */

// First, before what such a Node would fail at.
import '../base/node-version.ts';

export type { Clock } from '../base/clock.ts';
export type { ModelRequest } from '../models/port.ts';
export type { ReplyInput } from '../models/scripted/script-file.ts';
export { type Replies, scriptedModel, type TestModel } from '../models/scripted/scripted.ts';
export { type KeptTestCase, type KeptTestsOptions, keptTests } from './kept-tests.ts';
export { createTemporaryProject, type TemporaryProject, type TemporaryProjectOptions } from './temporary-project.ts';
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts';
