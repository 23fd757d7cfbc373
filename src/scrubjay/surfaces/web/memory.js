// To be made.

/** Open one memory, whole, in a dialog, from any view; `changed()` is called when it was edited or forgotten. */
export async function openMemory(id, { query = "", changed = () => {} } = {}) {}
