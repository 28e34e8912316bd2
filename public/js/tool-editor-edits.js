// Controls that change the template, such as the type of a parameter. The server changes it, and returns the new texts.

/** Parts of the page with such controls. */
export const EDITING_PARTS = ['parameters', 'auth', 'body-kind']

/** Returns whether a control changes the template: its own value is then used up. @param {Element} control */
export const isEdit = control => control.hasAttribute('data-edit')

/**
 * Takes over the texts that the server has changed. Returns false if the user has typed into one of them meanwhile: then
 * the controls must stay as they are, so that the next request applies them to the newer text.
 * @param {string} html @param {URLSearchParams} sent
 */
export const rewriteTemplate = (html, sent) => {
  if (!html.includes('data-rewrites')) return true
  const response = new DOMParser().parseFromString(html, 'text/html')
  const texts = [...response.querySelectorAll('textarea[data-rewrites]')].flatMap(text => {
    const field = document.getElementById(text.getAttribute('data-rewrites') ?? '')
    const areBoth = field instanceof HTMLTextAreaElement && text instanceof HTMLTextAreaElement
    return areBoth ? [{ field, value: text.value }] : []
  })
  if (texts.some(({ field }) => field.value !== sent.get(field.name))) return false
  for (const { field, value } of texts) {
    field.value = value
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
  return true
}
