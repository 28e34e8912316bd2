// Fills in the tool editor from a cURL command or a URL. The text may contain secrets: it is only sent to the server,
// which takes them out.
import { isCurlCommand } from './curl-command.js'
import { fillForm } from './fill-form.js'
import { replaceParts } from './tool-editor-parts.js'
import { plainFields } from './tool-editor-secrets.js'

/** A URL, maybe with a method in front of it. */
const WHOLE_URL = /^\s*(?:[a-z]{3,7}\s+)?(https?:\/\/\S+)\s*$/i

/** The server leaves longer URLs as they are. */
const MAX_READ_CHARS = 4_000

/** Fields that the text can change. */
const FILLED = /^(?:name|method|url|headers|body|parameter:.*)$/

/** Returns the names of the fields that have another value now. @param {[string, string][]} before @param {[string, string][]} now */
const changedFields = (before, now) => {
  const values = new Map(before)
  return now.flatMap(([name, value]) => (value === (values.get(name) ?? '') ? [] : [name]))
}

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
 * Reads cURL commands and URLs that are pasted or dropped into the URL field, and on request those that are typed there.
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

  /** @param {string} text @param {string} kind `curl` or `url` */
  const read = async (text, kind) => {
    const before = plainFields(form)
    const sent = new URLSearchParams(before)
    sent.set('url', text)
    sent.set('import', kind)
    const html = await request(sent)
    if (html === undefined) return
    const page = new DOMParser().parseFromString(html, 'text/html')
    const filled = page.querySelector('form#tool')
    const note = page.querySelector('[data-part="imported"] > .note')
    if (note === null && kind === 'url') {
      fillForm(form, [...plainFields(form), ['url', text.trim()]])
      refresh()
      return
    }
    if (note === null || !(filled instanceof HTMLFormElement)) {
      replaceParts(page.querySelector('[data-part="note-url"]')?.outerHTML ?? '', { remembered: new Map(), leave: [] })
      markFields()
      return
    }
    addMethods(page)
    const now = plainFields(form)
    const typedSince = new Set(changedFields(before, now).filter(name => name !== 'url'))
    const fresh = filledIn(plainFields(filled)).filter(([name]) => !typedSince.has(name))
    fillForm(form, [...now, ...fresh])
    const button = note.querySelector('[data-undo]')
    if (button instanceof HTMLElement) {
      button.hidden = false
      // A URL comes back as it was pasted, unless it had a secret.
      const pasted = kind === 'url' && !('hadSecrets' in button.dataset) ? WHOLE_URL.exec(text)?.[1] : undefined
      button.addEventListener('click', () => undo(pasted === undefined ? before : [...before, ['url', pasted]]))
    }
    place?.replaceChildren(note)
    refresh()
  }

  /** @param {Event} event @param {DataTransfer | null} data */
  const take = (event, data) => {
    const text = data?.getData('text/plain') ?? ''
    const isReplaced = url.selectionStart === 0 && url.selectionEnd === url.value.length
    const kind = isCurlCommand(text) ? 'curl' : WHOLE_URL.test(text) && isReplaced ? 'url' : undefined
    if (kind === undefined) return
    event.preventDefault()
    void read(text, kind)
  }
  url.addEventListener('paste', event => take(event, event.clipboardData))
  url.addEventListener('drop', event => take(event, event.dataTransfer))
  // A typed command must not be stored in a draft either, nor a URL in which the server looks for no secrets.
  url.addEventListener('input', () =>
    url.toggleAttribute('data-draft-skip', isCurlCommand(url.value) || url.value.length > MAX_READ_CHARS),
  )
  document.addEventListener('click', event => {
    const button = event.target instanceof Element ? event.target.closest('button[name="import"]') : null
    if (button === null) return
    event.preventDefault()
    // The button is removed with the note.
    url.focus()
    void read(url.value, button.getAttribute('value') ?? '')
  })
}
