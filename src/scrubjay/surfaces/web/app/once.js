// One at a time: what a button begins is not begun again by the second click of two.

/** Return the action as one that does nothing, and gives undefined, while it is under way. */
export function alone(action) {
  let isUnderWay = false;
  return async (...given) => {
    if (isUnderWay) return undefined;
    isUnderWay = true;
    try {
      return await action(...given);
    } finally {
      isUnderWay = false;
    }
  };
}
