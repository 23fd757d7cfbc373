// Gestures on the map: drag, wheel, pinch and keys move the plane; clicks are reported.

const STEP = 1.4; // zoom factor of a key or a button
const CLICK_PX = 6; // a tap may move by this distance
const PAN_PX = 80;
/** Direction of each arrow key: right, up. */
export const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

/**
 * Add gestures to a canvas. They move `plane` and call `on`: moved(), over(left, top) and out() of the pointer,
 * click(left, top, isTouch), arrow(right, up), enter(), escape().
 */
export function addGestures(canvas, plane, on) {
  const down = new Map(); // position of each pointer
  let began = null;

  const at = (event) => {
    const box = canvas.getBoundingClientRect();
    return [event.clientX - box.left, event.clientY - box.top];
  };

  canvas.addEventListener("pointerdown", (event) => {
    if (event.button > 0) return;
    down.set(event.pointerId, at(event));
    began = down.size === 1 ? at(event) : null; // two fingers do not click
    if (event.isTrusted) canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    const before = down.get(event.pointerId);
    if (!before) {
      if (event.pointerType !== "touch") on.over(...at(event));
      return;
    }
    const now = at(event);
    const still = [...down.values()].find((place) => place !== before);
    if (down.size === 2) pinch(plane, still, before, now);
    else if (!began || distance(began, now) > CLICK_PX) {
      began = null;
      plane.pan(now[0] - before[0], now[1] - before[1]);
    } else return;
    down.set(event.pointerId, now);
    on.moved();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    canvas.addEventListener(end, (event) => {
      const known = down.delete(event.pointerId);
      if (known && began && end === "pointerup") on.click(...at(event), event.pointerType === "touch");
      began = null;
    });
  }
  canvas.addEventListener("pointerleave", () => on.out());
  canvas.addEventListener(
    "wheel",
    (event) => {
      if (plane.zoom === 1 && event.deltaY > 0) return; // everything is in view: let the page scroll
      event.preventDefault();
      const lines = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? 20 : 1;
      plane.zoomBy(Math.exp(-event.deltaY * lines * 0.002), ...at(event));
      on.moved();
    },
    { passive: false },
  );
  canvas.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const arrow = ARROWS[event.key];
    if (arrow && event.shiftKey) {
      plane.pan(-arrow[0] * PAN_PX, arrow[1] * PAN_PX);
      on.moved();
    } else if (arrow) on.arrow(...arrow);
    else if (event.key === "Enter") on.enter();
    else if (event.key === "Escape") on.escape();
    else return;
    event.preventDefault();
  });
}

/** Zoom in (1) or out (-1) by one step, around the centre. */
export function zoomStep(plane, direction) {
  plane.zoomBy(direction > 0 ? STEP : 1 / STEP);
}

function pinch(plane, still, before, now) {
  const middle = [(still[0] + now[0]) / 2, (still[1] + now[1]) / 2];
  plane.pan((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
  plane.zoomBy(distance(still, now) / Math.max(distance(still, before), 1), ...middle);
}

function distance(a, b) {
  return Math.hypot(a[0] - b[0], a[1] - b[1]);
}
