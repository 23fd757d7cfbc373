// To be made: the form of a memory.

/** Let somebody write a memory; gives what was stored, or undefined. */
export async function added() {
  return undefined;
}
