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

  /** @param {EventTarget | null} [next] where the focus goes */
  const convert = next => {
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

  url.addEventListener('blur', ({ relatedTarget }) => convert(relatedTarget))
  url.addEventListener('input', () => place.replaceChildren())
  new MutationObserver(() => convert()).observe(offer, { childList: true })
  convert()
}
