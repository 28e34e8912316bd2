/**
 * Sets the fields of a form. Fields that are not on the page become hidden inputs, because the page adds some fields
 * later, such as those of a parameter. Their values are then in the request. Fields that describe the form stay as they
 * are: several are called `_secret`.
 * @param {HTMLFormElement} form
 * @param {Iterable<[string, string]>} fields
 */
export const fillForm = (form, fields) => {
  const values = new Map([...fields].filter(([name]) => !name.startsWith('_')))
  for (const control of form.elements) {
    if (control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type)) {
      control.checked = values.get(control.name) === control.value
    } else if ('value' in control && control instanceof HTMLElement && 'name' in control) {
      const value = values.get(String(control.name))
      if (value !== undefined) control.value = value
      values.delete(String(control.name))
    }
  }
  for (const [name, value] of values) {
    if (form.elements.namedItem(name) !== null) continue
    const hidden = document.createElement('input')
    hidden.type = 'hidden'
    hidden.name = name
    hidden.value = value
    hidden.dataset.restored = ''
    form.append(hidden)
  }
}
