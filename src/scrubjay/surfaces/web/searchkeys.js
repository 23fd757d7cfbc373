// The keys of the search.

/** Return the keys of a search. What is about one result is done to that with the focus; without one, the first gets it. */
export function keysOf(view) {
  const ofOne = (act) => () => (view.cards.current() ? act(view.cards.current().dataset.id) : view.cards.focus(0));
  return [
    { keys: "/", does: "To the box", act: () => view.form.focus() },
    { keys: "Escape", does: "Back to the box, or out of it", act: () => view.form.focus() },
    { keys: "j", does: "Next result (or ↓)", act: () => view.cards.move(1) },
    { keys: "k", does: "Previous result (or ↑)", act: () => view.cards.move(-1) },
    { keys: "o", does: "Open (or Enter)", act: ofOne((id) => view.open(id)) },
    { keys: "e", does: "Edit", act: ofOne((id) => view.may.write && view.edit(id)) },
    { keys: "x", does: "Forget", act: ofOne((id) => view.may.write && view.forget(id)) },
    { keys: "a", does: "It helped (accepted)", act: ofOne((id) => view.judge(id, "accepted")) },
    { keys: "m", does: "It helped, changed (modified)", act: ofOne((id) => view.judge(id, "modified")) },
    { keys: "d", does: "It did not help (dismissed)", act: ofOne((id) => view.judge(id, "dismissed")) },
    { keys: "y", does: "Why it is here", act: ofOne(() => view.turnWhy()) },
    { keys: "w", does: "How it was found", act: () => view.turnHow() },
  ];
}
