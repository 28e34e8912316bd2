// Controls that change the template, such as the type of a parameter. The server changes it, and returns the new texts.
import { addNotePlace, showUndoNote } from './undo-note.js'

/** Returns whether a control changes the template: its own value is then used up. @param {Element} control */
export const isEdit = control => control.hasAttribute('data-edit')

/** Texts before the edits since something was typed. @type {Map<HTMLTextAreaElement, string>} */
const before = new Map()
/** The control that was used last, if it can remove what was typed. @type {HTMLElement | undefined} */
let control
/** @type {Element | undefined} */
let place
let isWriting = false

const forget = () => {
  before.clear()
  place?.remove()
}

/** @param {HTMLTextAreaElement} field @param {string} text */
const write = (field, text) => {
  isWriting = true
  field.value = text
  field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  isWriting = false
}

const undo = () => {
  for (const [field, text] of before) write(field, text)
  forget()
  document.getElementById(control?.id ?? '')?.focus()
}

const offerUndo = () => {
  const part = document.getElementById(control?.id ?? '')?.closest('[data-part]')
  if (!part) return
  place?.remove()
  place = addNotePlace(part)
  const names = [...before.keys()].map(({ id }) => (id === 'url' ? 'URL' : id))
  showUndoNote(place, `Changed the ${new Intl.ListFormat('en').format(names)}.`, undo)
}

/** Remembers what the types of auth and body replace, until something is typed. */
export const followEdits = () => {
  document.addEventListener('input', ({ target }) => {
    if (target instanceof HTMLSelectElement && isEdit(target)) {
      const isOfRequest = target.id === 'auth' || target.id === 'bodyKind'
      if (!isOfRequest || (control !== undefined && control.id !== target.id)) forget()
      control = isOfRequest ? target : undefined
    } else if (target instanceof HTMLTextAreaElement && 'template' in target.dataset && !isWriting) forget()
  })
}

/** Takes over the texts that the server has changed. @param {string} html the response to the form as it still is */
export const rewriteTemplate = html => {
  if (!html.includes('data-rewrites')) return
  const response = new DOMParser().parseFromString(html, 'text/html')
  for (const text of response.querySelectorAll('textarea[data-rewrites]')) {
    const field = document.getElementById(text.getAttribute('data-rewrites') ?? '')
    if (!(field instanceof HTMLTextAreaElement) || !(text instanceof HTMLTextAreaElement)) continue
    if (!before.has(field)) before.set(field, field.value)
    write(field, text.value)
  }
  if (control !== undefined && before.size > 0) offerUndo()
}
