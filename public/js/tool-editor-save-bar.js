// Says beside the Save button what has changed.

const MAX_NAMED = 3

/**
 * Returns the filled-in fields of a form that saving stores, by name.
 * @param {HTMLFormElement} form @returns {Map<string, string>}
 */
const valuesOf = form => {
  const values = new Map()
  for (const control of form.elements) {
    const isField =
      control instanceof HTMLInputElement ||
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement
    if (!isField || control.name === '' || control.name === '_csrf' || 'draftSkip' in control.dataset) continue
    if (control.value !== '') values.set(control.name, control.value)
  }
  return values
}

/**
 * Returns what people call a field: a parameter by its name, others by their label.
 * @param {HTMLFormElement} form @param {string} name
 */
const labelOf = (form, name) => {
  const [kind, parameter] = name.split(':')
  if (kind === 'parameter' && parameter !== undefined) return parameter
  const control = form.elements.namedItem(name)
  return (control instanceof HTMLElement && 'labels' in control && control.labels?.[0]?.textContent?.trim()) || name
}

/** @param {readonly string[]} labels */
const describe = labels => {
  const named = labels.slice(0, MAX_NAMED)
  const more = labels.length - named.length
  const list = more > 0 ? [...named, `${more} more`] : named
  return new Intl.ListFormat('en', { type: 'conjunction' }).format(list)
}

/** Shows which fields differ from what is saved. @param {HTMLFormElement} form */
export const trackChanges = form => {
  const place = document.getElementById('save-state')
  // A page that shows a new tool or a failed save does not contain what is saved.
  if (place === null || !('track' in place.dataset)) return
  const bar = place.closest('.savebar')
  bar?.setAttribute('data-ready', '')
  const saved = valuesOf(form)
  const show = () => {
    const now = valuesOf(form)
    const names = [...new Set([...saved.keys(), ...now.keys()])].filter(name => saved.get(name) !== now.get(name))
    const labels = [...new Set(names.map(name => labelOf(form, name)))]
    const text = labels.length === 0 ? 'No unsaved changes' : `Unsaved changes: ${describe(labels)}`
    // A text that is set again would be read out again.
    if (place.textContent !== text) place.textContent = text
    bar?.toggleAttribute('data-changed', labels.length > 0)
  }
  show()
  document.addEventListener('input', show)
  form.addEventListener('draft:restored', show)
  // Fields of parameters have appeared or disappeared.
  form.addEventListener('preview:shown', show)
}
