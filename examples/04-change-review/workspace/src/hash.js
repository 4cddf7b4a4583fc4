import { scrypt } from 'node:crypto';
import { promisify } from 'node:util';

export const hash = async (password) => (await promisify(scrypt)(password, 'pepper', 32)).toString('hex');
