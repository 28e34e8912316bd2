// Completes placeholders after `{{` in the fields of the template: types, names of parameters, globals of the chosen
// server, and after `|` serializations. Loaded when the first of these fields gets the focus. The list follows the ARIA
// pattern of a text field with a list of suggestions.
import { fillForm } from './fill-form.js'
import { findCompletions } from './placeholder-completions.js'

/** @typedef {import('./placeholder-completions.js').Completion} Completion */

const listParameters = () =>
  [...document.querySelectorAll('.parameters th code')].map(code => ({
    name: code.textContent ?? '',
    detail: 'parameter',
  }))

const listGlobals = () =>
  [...document.querySelectorAll('#globals option')].map(option => {
    const source = option.textContent ?? ''
    return { name: option.getAttribute('value') ?? '', detail: `${source} of the server`, source }
  })

/** Returns where a position in the field is on the page, from its highlighted copy. @param {HTMLTextAreaElement} area */
const placeOf = area => {
  const copy = area.parentElement?.querySelector('pre')
  const { left, bottom } = area.getBoundingClientRect()
  if (!copy) return { left, bottom }
  let rest = area.selectionStart
  const walker = document.createTreeWalker(copy, NodeFilter.SHOW_TEXT)
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    const length = node.textContent?.length ?? 0
    if (rest > length) {
      rest -= length
      continue
    }
    const range = document.createRange()
    range.setStart(node, Math.max(rest - 1, 0))
    range.setEnd(node, Math.min(Math.max(rest, 1), length))
    const rect = range.getBoundingClientRect()
    return rect.height > 0 ? { left: rect.right, bottom: rect.bottom } : { left, bottom }
  }
  return { left, bottom }
}

/** Adds completion to the fields of the template. @param {readonly HTMLTextAreaElement[]} areas */
export const addCompletion = areas => {
  const list = document.createElement('ul')
  list.className = 'complete'
  list.id = 'completions'
  list.setAttribute('role', 'listbox')
  list.setAttribute('aria-label', 'Suggestions')
  list.hidden = true
  document.querySelector('main')?.append(list)
  /** @type {HTMLTextAreaElement | undefined} */
  let field
  /** @type {{ from: number, options: readonly Completion[] } | undefined} */
  let found
  let active = 0

  const close = () => {
    list.hidden = true
    found = undefined
    field?.removeAttribute('aria-activedescendant')
  }

  const mark = () => {
    for (const [index, option] of [...list.children].entries()) {
      option.setAttribute('aria-selected', String(index === active))
      if (index !== active) continue
      field?.setAttribute('aria-activedescendant', option.id)
      option.scrollIntoView({ block: 'nearest' })
    }
  }

  const show = () => {
    if (field === undefined || field.selectionStart !== field.selectionEnd) return close()
    const context = { parameters: listParameters(), globals: listGlobals() }
    found = findCompletions(field.value.slice(0, field.selectionStart), context)
    if (found === undefined) return close()
    active = 0
    list.replaceChildren(
      ...found.options.map(({ label, detail }, index) => {
        const option = document.createElement('li')
        option.id = `completion-${index}`
        option.setAttribute('role', 'option')
        const name = document.createElement('code')
        name.textContent = label
        const about = document.createElement('small')
        about.textContent = detail
        option.append(name, ' ', about)
        return option
      }),
    )
    list.hidden = false
    const { left, bottom } = placeOf(field)
    const width = list.offsetWidth
    list.style.left = `${Math.max(8, Math.min(left, document.documentElement.clientWidth - width - 8)) + scrollX}px`
    list.style.top = `${bottom + scrollY + 4}px`
    mark()
  }

  /** Follows what is typed, not what a script sets. @param {HTMLTextAreaElement} area */
  const showFor = area => {
    if (document.activeElement !== area) return
    field = area
    show()
  }

  /** @param {number} index */
  const accept = index => {
    const option = found?.options[index]
    if (field === undefined || found === undefined || option === undefined) return
    const { value, selectionStart } = field
    const after = value.slice(selectionStart)
    const end = option.isWhole && !after.startsWith('}}') ? '}}' : ''
    field.setRangeText(option.insert + end, found.from, selectionStart, 'end')
    // The new parameter is bound to the global.
    if (option.source && field.form !== null)
      fillForm(field.form, [[`parameter:${option.label}:source`, option.source]])
    close()
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }

  /** @param {KeyboardEvent} event */
  const press = event => {
    if (found === undefined || event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return
    const count = list.children.length
    if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
      active = (active + (event.key === 'ArrowDown' ? 1 : count - 1)) % count
      mark()
    } else if (event.key === 'Enter' || (event.key === 'Tab' && !event.shiftKey)) accept(active)
    else if (event.key === 'Escape') close()
    else return
    event.preventDefault()
    event.stopPropagation()
  }

  for (const area of areas) {
    area.setAttribute('aria-autocomplete', 'list')
    area.setAttribute('aria-haspopup', 'listbox')
    area.setAttribute('aria-controls', list.id)
    area.addEventListener('input', () => showFor(area))
    area.addEventListener('keydown', press)
    area.addEventListener('blur', close)
    area.addEventListener('click', close)
    // Something may have been typed before this script was loaded.
    showFor(area)
  }
  // The place of the caret has changed.
  window.addEventListener('resize', close)
  // Keeps the focus in the field.
  list.addEventListener('mousedown', event => event.preventDefault())
  list.addEventListener('click', event => {
    const option = event.target instanceof Element ? event.target.closest('[role="option"]') : null
    if (option !== null) accept([...list.children].indexOf(option))
  })
}
