// Replaces parts of the page with the server's response, and keeps what the user has typed meanwhile.

import { isEdit } from './tool-editor-edits.js'

/** @typedef {HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement} Control */

/** @param {Element} part @returns {Control[]} */
const controlsOf = part => [...part.querySelectorAll('input[name], textarea[name], select[name]')].filter(isControl)

/** @param {unknown} element @returns {element is Control} */
const isControl = element =>
  element instanceof HTMLInputElement || element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement

/** Copies a part with its current values as attributes. @param {Element} part */
const serialize = part => {
  const copy = part.cloneNode(true)
  if (!(copy instanceof Element)) return copy
  const copies = controlsOf(copy)
  for (const [index, control] of controlsOf(part).entries()) {
    const twin = copies[index]
    if (twin instanceof HTMLTextAreaElement) twin.textContent = control.value
    else if (twin instanceof HTMLInputElement) twin.setAttribute('value', control.value)
    else if (twin instanceof HTMLSelectElement && control instanceof HTMLSelectElement) {
      for (const [at, option] of [...twin.options].entries()) {
        option.toggleAttribute('selected', at === control.selectedIndex && control.value !== '')
      }
    }
  }
  for (const details of copy.querySelectorAll('details[id]')) details.removeAttribute('open')
  for (const local of copy.querySelectorAll('[data-local]')) local.replaceChildren()
  return copy
}

/** Returns the focused element and selection in a part. @param {Element} part */
const focusIn = part => {
  const { activeElement } = document
  if (!(activeElement instanceof HTMLElement) || !part.contains(activeElement) || activeElement.id === '') return
  const isText = activeElement instanceof HTMLTextAreaElement || activeElement instanceof HTMLInputElement
  const range = isText ? [activeElement.selectionStart, activeElement.selectionEnd] : undefined
  return { id: activeElement.id, range }
}

/** @param {ReturnType<typeof focusIn>} focus */
const restoreFocus = focus => {
  const element = focus && document.getElementById(focus.id)
  if (!element) return
  element.focus({ preventScroll: true })
  const isText = element instanceof HTMLTextAreaElement || element instanceof HTMLInputElement
  if (isText && focus?.range) element.setSelectionRange(focus.range[0] ?? null, focus.range[1] ?? null)
}

/** Moves what scripts show, in places that the server leaves empty. @param {Element} part @param {Element} fresh */
const keepLocal = (part, fresh) => {
  for (const place of fresh.querySelectorAll('[data-local]')) {
    const shown = part.querySelector(`#${CSS.escape(place.id)}`)
    if (shown !== null) place.replaceWith(shown)
  }
}

/**
 * Replaces the content of a part if it has changed. Keeps values typed since the request, open details, and the focus.
 * @param {Element} part
 * @param {Element} fresh
 * @param {ReadonlyMap<string, string>} remembered everything typed into fields that appear and disappear
 */
const replacePart = (part, fresh, remembered) => {
  const typed = new Map(controlsOf(part).map(control => [control.name, control.value]))
  for (const control of controlsOf(fresh)) {
    const value = typed.get(control.name) ?? (control.value === '' ? remembered.get(control.name) : undefined)
    if (value !== undefined && control.type !== 'hidden' && !isEdit(control)) control.value = value
  }
  if (serialize(part).isEqualNode(serialize(fresh))) return
  const opened = [...part.querySelectorAll('details[id][open]')].map(({ id }) => id)
  const focus = focusIn(part)
  keepLocal(part, fresh)
  part.replaceChildren(...fresh.childNodes)
  for (const attribute of ['data-fresh']) part.toggleAttribute(attribute, fresh.hasAttribute(attribute))
  for (const details of part.querySelectorAll('details')) if (opened.includes(details.id)) details.open = true
  restoreFocus(focus)
}

/**
 * Replaces each `data-part` of the page with the one in the response. Returns the names of the parts.
 * @param {string} html
 * @param {{ remembered: ReadonlyMap<string, string>, leave: readonly string[], only?: readonly string[] }} options
 */
export const replaceParts = (html, { remembered, leave, only }) => {
  const response = new DOMParser().parseFromString(html, 'text/html')
  const names = []
  for (const fresh of response.querySelectorAll('[data-part]')) {
    const name = fresh.getAttribute('data-part') ?? ''
    const part = document.querySelector(`[data-part="${CSS.escape(name)}"]`)
    if (part === null || leave.includes(name) || only?.includes(name) === false) continue
    replacePart(part, document.importNode(fresh, true), remembered)
    names.push(name)
  }
  return names
}
