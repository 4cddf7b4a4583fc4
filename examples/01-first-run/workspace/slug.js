/** Turns a title into the part of an address that names it. */
export function slug(title) {
  return title.toLowerCase().replace(' ', '-');
}
