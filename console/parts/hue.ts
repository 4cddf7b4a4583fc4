/** A hue for a name, always the same: only for a thin bar, never to say how something stands. */
export function hueOf(name: string): number {
  let sum = 2_166_136_261;
  for (const sign of name) sum = Math.imul(sum ^ (sign.codePointAt(0) ?? 0), 16_777_619) >>> 0;
  return sum % 360;
}
