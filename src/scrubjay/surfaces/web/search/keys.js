// Keyboard shortcuts of the search view.

/** Return the shortcuts. Actions on a hit apply to the focused one; without one, the first hit gets the focus. */
export function keysOf(view) {
  const ofOne = (act) => () => (view.cards.current() ? act(view.cards.current().dataset.id) : view.cards.focus(0));
  return [
    { keys: "/", does: "Go to the search box", act: () => view.form.focus() },
    { keys: "Escape", does: "Back to the search box, or leave it", act: () => view.form.focus() },
    { keys: "j", does: "Next result (or ↓)", act: () => view.cards.move(1) },
    { keys: "k", does: "Previous result (or ↑)", act: () => view.cards.move(-1) },
    { keys: "o", does: "Open (or Enter)", act: ofOne((id) => view.open(id)) },
    { keys: "e", write: true, does: "Edit", act: ofOne((id) => view.edit(id)) },
    { keys: "x", write: true, does: "Forget", act: ofOne((id) => view.forget(id)) },
    { keys: "a", write: true, does: "It helped (accepted)", act: ofOne((id) => view.giveFeedback(id, "accepted")) },
    {
      keys: "m",
      write: true,
      does: "It helped, changed (modified)",
      act: ofOne((id) => view.giveFeedback(id, "modified")),
    },
    {
      keys: "d",
      write: true,
      does: "It did not help (dismissed)",
      act: ofOne((id) => view.giveFeedback(id, "dismissed")),
    },
    { keys: "y", does: "Why this hit was found", act: ofOne(() => view.toggleExplanation()) },
    { keys: "w", does: "Show or hide the stages of the search", act: () => view.toggleStages() },
  ];
}
