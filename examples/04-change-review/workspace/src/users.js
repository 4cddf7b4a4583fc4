const users = new Map();

/** The user with this address, or undefined. */
export const findUser = async (email) => users.get(email.toLowerCase());
export const saveUser = async (user) => void users.set(user.email.toLowerCase(), user);
