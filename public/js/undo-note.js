// A note that says what a script has changed, with a button that takes it back.

/** Shows the note in `place`, and returns its button. @param {Element} place @param {string} text @param {() => void} undo */
export const showUndoNote = (place, text, undo) => {
  const note = document.createElement('div')
  note.className = 'note'
  const about = document.createElement('span')
  about.textContent = text
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button'
  button.dataset.size = 'small'
  button.textContent = 'Undo'
  button.addEventListener('click', undo)
  note.append(about, button)
  place.replaceChildren(note)
  return button
}

/** Adds an empty place for notes behind an element. @param {Element} element */
export const addNotePlace = element => {
  const place = document.createElement('div')
  place.setAttribute('role', 'status')
  element.after(place)
  return place
}
