/** Every command of the package is in the README. */
import { readFileSync } from 'node:fs';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8'));
const readme = readFileSync('README.md', 'utf8');
const missing = Object.keys(bin).filter((name) => !readme.includes(`\`${name}`));
if (missing.length > 0) throw new Error(`The README does not mention: ${missing.join(', ')}`);
