/** Every command of the package, and every one that is named here, is in the README. */
import { readFileSync } from 'node:fs';

const { bin } = JSON.parse(readFileSync('package.json', 'utf8'));
const readme = readFileSync('README.md', 'utf8');
const names = [...Object.keys(bin), ...process.argv.slice(2)];
const missing = names.filter((name) => !readme.includes(`\`${name}`));
if (missing.length > 0) throw new Error(`The README does not mention: ${missing.join(', ')}`);
