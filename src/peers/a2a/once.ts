/** A card with this extension promises that a message is taken once, however often it is sent: `troupe serve` does. */
export const ONCE = 'urn:troupe:a2a:once';
