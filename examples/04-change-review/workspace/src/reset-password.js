import { hash } from './hash.js';
import { findUser, saveUser } from './users.js';

/** Sets a new password for whoever holds the token that was mailed. */
export async function resetPassword(email, token, password) {
  const user = await findUser(email);
  if (user.resetToken !== token) return 'wrong';
  user.password = await hash(password);
  await saveUser(user);
  return 'done';
}
