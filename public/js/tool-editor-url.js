// Turns placeholders of other tools, such as {id}, into parameters when the URL field is left. The server finds them: a
// button in the preview offers the converted URL, also without this script.
import { addNotePlace, showUndoNote } from './undo-note.js'

/** @param {HTMLTextAreaElement} url */
export const convertOnLeave = url => {
  const offer = document.querySelector('[data-part="url-offer"]')
  if (offer === null) return
  /** URLs whose conversion was undone. */
  const declined = new Set()
  const place = addNotePlace(offer)

  /** @param {string} value */
  const write = value => {
    url.value = value
    url.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }

  /** @param {string} before @param {string} names */
  const showUndo = (before, names) =>
    showUndoNote(place, `Converted to ${names}.`, () => {
      declined.add(before)
      write(before)
      url.focus()
    })

  // The notice moves what is below: what the pointer is pressing must stay under it, or its click is lost.
  let isPressed = false
  /** @type {EventTarget | null} */
  let focused = null

  /** @param {EventTarget | null} [next] where the focus goes */
  const convert = next => {
    if (isPressed) return
    const button = offer.querySelector('button[data-from]')
    if (!(button instanceof HTMLButtonElement) || document.activeElement === url) return
    const before = button.dataset.from ?? ''
    // The offer can be for an earlier text of the field.
    if (before !== url.value || declined.has(before)) return
    const names = button.dataset.names ?? ''
    write(button.value)
    const undo = showUndo(before, names)
    // The button disappears with the offer.
    if (next === button) setTimeout(() => undo.focus())
  }

  document.addEventListener('pointerdown', () => {
    isPressed = true
    focused = null
  })
  for (const type of ['pointerup', 'pointercancel']) {
    document.addEventListener(type, () => {
      isPressed = false
      setTimeout(() => convert(focused))
    })
  }
  url.addEventListener('blur', ({ relatedTarget }) => {
    focused = relatedTarget
    convert(relatedTarget)
  })
  url.addEventListener('input', () => place.replaceChildren())
  new MutationObserver(() => convert()).observe(offer, { childList: true })
  convert()
}
