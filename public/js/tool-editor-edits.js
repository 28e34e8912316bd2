// Controls that change the template, such as the type of a parameter. The server changes it, and returns the new texts.

/** Returns whether a control changes the template: its own value is then used up. @param {Element} control */
export const isEdit = control => control.hasAttribute('data-edit')

/** Takes over the texts that the server has changed. @param {string} html the response to the form as it still is */
export const rewriteTemplate = html => {
  if (!html.includes('data-rewrites')) return
  const response = new DOMParser().parseFromString(html, 'text/html')
  for (const text of response.querySelectorAll('textarea[data-rewrites]')) {
    const field = document.getElementById(text.getAttribute('data-rewrites') ?? '')
    if (!(field instanceof HTMLTextAreaElement) || !(text instanceof HTMLTextAreaElement)) continue
    field.value = text.value
    field.dispatchEvent(new InputEvent('input', { bubbles: true }))
  }
}
