// Highlights the placeholders in the tool editor's templates.
import { splitTemplate } from './template-highlight.js'

/** Highlighting longer texts would slow down typing. */
const MAX_HIGHLIGHTED_CHARACTERS = 30_000

/** Copies the text with highlighted placeholders. @param {HTMLTextAreaElement} area @param {HTMLPreElement} copy */
const highlight = (area, copy) => {
  const pieces = area.value.length > MAX_HIGHLIGHTED_CHARACTERS ? [{ text: area.value }] : splitTemplate(area.value)
  const nodes = pieces.map(({ text, type }) => {
    if (type === undefined) return text
    const token = document.createElement('span')
    token.className = 'token'
    token.dataset.type = type
    token.textContent = text
    return token
  })
  // Gives an empty last line its height.
  copy.replaceChildren(...nodes, area.value === '' || area.value.endsWith('\n') ? '\u200b' : '')
}

/** Places a field over its highlighted copy: see `.template`. @param {HTMLTextAreaElement} area */
export const addHighlighting = area => {
  const frame = document.createElement('div')
  frame.className = 'template'
  frame.toggleAttribute('data-invalid', area.getAttribute('aria-invalid') === 'true')
  const copy = document.createElement('pre')
  copy.setAttribute('aria-hidden', 'true')
  const hadFocus = document.activeElement === area
  area.replaceWith(frame)
  area.className = ''
  frame.append(copy, area)
  if (hadFocus) area.focus()
  highlight(area, copy)
  area.addEventListener('input', () => highlight(area, copy))
}
