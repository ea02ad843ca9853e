/**
 * A short stand-in for a long text, so that a hostile page cannot fill the memory with its states. It only has to tell
 * states of one run apart; nothing is trusted because of it, so a plain mixing hash of 106 bits is enough.
 */
export function digest(text: string): string {
  return mix(text, 0x9e3779b1, 0x85ebca77) + mix(text, 0x27d4eb2f, 0x165667b1);
}

function mix(text: string, seedA: number, seedB: number): string {
  let a = seedA ^ text.length;
  let b = seedB ^ text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 2654435761);
    b = Math.imul(b ^ unit, 1597334677);
  }
  a = Math.imul(a ^ (a >>> 16), 2246822507) ^ Math.imul(b ^ (b >>> 13), 3266489909);
  b = Math.imul(b ^ (b >>> 16), 2246822507) ^ Math.imul(a ^ (a >>> 13), 3266489909);
  return (4294967296 * (2097151 & b) + (a >>> 0)).toString(36);
}
