// Fills in the tool editor from a cURL command. The command may contain secrets: it is only sent to the server, which
// takes them out.
import { isCurlCommand } from './curl-command.js'
import { fillForm } from './fill-form.js'
import { replaceParts } from './tool-editor-parts.js'
import { plainFields } from './tool-editor-secrets.js'

/** Fields that the command can change. */
const FILLED = /^(?:name|method|url|headers|body|parameter:.*)$/

/** Returns those that the command can change. @param {[string, string][]} fields */
const filledIn = fields => fields.filter(([name]) => FILLED.test(name))

/** Adds methods that the page does not offer. @param {Document} page */
const addMethods = page => {
  const select = document.getElementById('method')
  const fresh = page.getElementById('method')
  if (!(select instanceof HTMLSelectElement) || !(fresh instanceof HTMLSelectElement)) return
  const known = new Set([...select.options].map(({ value }) => value))
  for (const option of [...fresh.options]) if (!known.has(option.value)) select.append(option)
}

/**
 * Reads cURL commands that are pasted or dropped into the URL field, or typed there.
 * @param {HTMLFormElement} form
 * @param {HTMLTextAreaElement} url
 * @param {{
 *   request: (fields: URLSearchParams) => Promise<string | undefined>,
 *   refresh: () => void,
 *   markFields: () => void,
 * }} editor `request` returns the page of the editor with the form filled in
 */
export const readCommands = (form, url, { request, refresh, markFields }) => {
  const place = document.querySelector('[data-part="imported"]')

  /** @param {[string, string][]} before */
  const undo = before => {
    const now = plainFields(form)
    const cleared = filledIn(now).map(([name]) => /** @type {[string, string]} */ ([name, '']))
    fillForm(form, [...now, ...cleared, ...filledIn(before)])
    place?.replaceChildren()
    refresh()
    url.focus()
  }

  /** @param {string} command */
  const read = async command => {
    const before = plainFields(form)
    const sent = new URLSearchParams(before)
    sent.set('url', command)
    sent.set('import', 'curl')
    const html = await request(sent)
    if (html === undefined) return
    const page = new DOMParser().parseFromString(html, 'text/html')
    const filled = page.querySelector('form#tool')
    const note = page.querySelector('[data-part="imported"] > .note')
    if (note === null || !(filled instanceof HTMLFormElement)) {
      replaceParts(page.querySelector('[data-part="note-url"]')?.outerHTML ?? '', { remembered: new Map(), leave: [] })
      markFields()
      return
    }
    addMethods(page)
    fillForm(form, [...plainFields(form), ...filledIn(plainFields(filled))])
    const button = note.querySelector('[data-undo]')
    if (button instanceof HTMLElement) {
      button.hidden = false
      button.addEventListener('click', () => undo(before))
    }
    place?.replaceChildren(note)
    refresh()
  }

  /** @param {Event} event @param {DataTransfer | null} data */
  const take = (event, data) => {
    const text = data?.getData('text/plain') ?? ''
    if (!isCurlCommand(text)) return
    event.preventDefault()
    void read(text)
  }
  url.addEventListener('paste', event => take(event, event.clipboardData))
  url.addEventListener('drop', event => take(event, event.dataTransfer))
  // A typed command must not be stored in a draft either.
  url.addEventListener('input', () => url.toggleAttribute('data-draft-skip', isCurlCommand(url.value)))
  document.addEventListener('click', event => {
    const button = event.target instanceof Element ? event.target.closest('button[name="import"]') : null
    if (button === null) return
    event.preventDefault()
    // The button is removed with the note.
    url.focus()
    void read(url.value)
  })
}
