// Says in a form's .savebar how much is unsaved, keeps the bar in view while there is something, and saves with Ctrl+S
// or Command+S. A form[data-unsaved] shows values that were not saved.

/** Returns whether a field differs from the page as it was loaded. @param {Element} control */
const isChanged = control => {
  if (control instanceof HTMLInputElement) {
    return /^(checkbox|radio)$/.test(control.type)
      ? control.checked !== control.defaultChecked
      : control.type !== 'hidden' && control.value !== control.defaultValue
  }
  if (control instanceof HTMLTextAreaElement) return control.value !== control.defaultValue
  if (!(control instanceof HTMLSelectElement)) return false
  const initial = [...control.options].find(({ defaultSelected }) => defaultSelected) ?? control.options[0]
  return initial !== undefined && !initial.selected
}

/** @param {HTMLElement} bar @param {HTMLFormElement} form */
const trackChanges = (bar, form) => {
  const note = bar.querySelector('p')
  const show = () => {
    const names = new Set([...form.elements].filter(isChanged).map(control => control.getAttribute('name')))
    const isUnsaved = names.size > 0 || 'unsaved' in form.dataset
    bar.toggleAttribute('data-changed', isUnsaved)
    const count = names.size === 1 ? '1 unsaved change' : `${names.size} unsaved changes`
    const text = names.size > 0 ? count : isUnsaved ? 'Not saved yet' : 'No unsaved changes'
    if (note !== null && note.textContent !== text) note.textContent = text
  }
  form.addEventListener('input', show)
  form.addEventListener('draft:restored', show)
  // The browser restores what was typed before the page was left.
  window.addEventListener('pageshow', show)
  show()
  bar.setAttribute('data-ready', '')
  document.addEventListener('keydown', event => {
    if (event.key.toLowerCase() !== 's' || event.altKey || event.shiftKey || !(event.ctrlKey || event.metaKey)) return
    event.preventDefault()
    form.requestSubmit(bar.querySelector('button'))
  })
}

for (const bar of document.querySelectorAll('.savebar')) {
  const form = bar.closest('form')
  if (bar instanceof HTMLElement && form !== null) trackChanges(bar, form)
}
