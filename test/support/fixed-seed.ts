/**
 * Random tests are the same every time, so that a change is never blamed for another one's luck. For fresh ones set
 * TROUPE_SEED to a number: what fails then prints it, and becomes a test of its own.
 */
import fc from 'fast-check';

fc.configureGlobal({ ...fc.readConfigureGlobal(), seed: Number(process.env['TROUPE_SEED'] ?? 20_261_116) });
