// The tool editor: highlights placeholders, updates previews while the user types, sends requests
// and saves, and handles keyboard shortcuts.
import { showToast } from './patchbay.js'
import { splitTemplate } from './template-highlight.js'
import { readCommands } from './tool-editor-curl.js'
import { replaceParts } from './tool-editor-parts.js'
import { convertOnLeave } from './tool-editor-url.js'

/** Delay after the last key press before the preview is updated. */
const PAUSE_MS = 250
/** Highlighting longer texts would slow down typing. */
const MAX_HIGHLIGHTED_CHARACTERS = 30_000

const form = document.querySelector('form#tool')

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
const addHighlighting = area => {
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

/** @param {HTMLFormElement} form */
const edit = form => {
  /** Everything typed into fields that appear and disappear with the parameters. @type {Map<string, string>} */
  const remembered = new Map()
  /** @type {AbortController | undefined} */
  let pendingPreview
  let timer = 0
  let isComposing = false
  let isSending = false

  const fields = () => new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]))

  /** Marks the fields that have errors. */
  const markFields = () => {
    for (const note of document.querySelectorAll('[data-part^="note-"]')) {
      const field = document.getElementById(note.id.slice('note-'.length))
      const isInvalid = note.querySelector('.error:not([data-tone])') !== null
      if (isInvalid) field?.setAttribute('aria-invalid', 'true')
      else field?.removeAttribute('aria-invalid')
      field?.closest('.template')?.toggleAttribute('data-invalid', isInvalid)
    }
  }

  /**
   * Returns the HTML of the response. Shows a refusal, for example after a sign-out, and returns undefined. Keeps the
   * input.
   * @param {string} path @param {URLSearchParams} body @param {AbortSignal} [signal]
   */
  const requestHtml = async (path, body, signal) => {
    const headers = { 'hx-request': 'true' }
    const response = await fetch(path, { method: 'POST', headers, body, signal })
    const html = await response.text()
    const problem = document.getElementById('live-problem')
    problem?.replaceChildren(...(response.ok ? [] : new DOMParser().parseFromString(html, 'text/html').body.childNodes))
    return response.ok ? html : undefined
  }

  /** @param {string} path @param {AbortSignal} signal @param {readonly string[]} leave */
  const requestParts = async (path, signal, leave) => {
    const html = await requestHtml(path, fields(), signal)
    if (html === undefined) return
    replaceParts(html, { remembered, leave })
    // Fields restored from a draft now exist on the page.
    for (const hidden of form.querySelectorAll('input[data-restored]')) hidden.remove()
    markFields()
  }

  const preview = async () => {
    if (isSending) return
    pendingPreview?.abort()
    pendingPreview = new AbortController()
    try {
      // The last response stays visible while the user types.
      await requestParts('/tool-preview', pendingPreview.signal, ['response'])
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return
      // The next key press tries again.
    }
  }

  const schedulePreview = () => {
    clearTimeout(timer)
    if (!isComposing) timer = setTimeout(preview, PAUSE_MS)
  }

  /** Session storage key of the values to try the tool with. */
  const valuesKey = () => `tried:${form.dataset.draft}:${new FormData(form).get('name')}`
  const storeValues = () => {
    const values = [...fields()].filter(([name, value]) => name.startsWith('value:') && value !== '')
    sessionStorage.setItem(valuesKey(), JSON.stringify(values))
  }
  const restoreValues = () => {
    const stored = JSON.parse(sessionStorage.getItem(valuesKey()) ?? '[]')
    for (const [name, value] of stored) {
      const control = form.elements.namedItem(name)
      if (control === null || !('value' in control) || control.value === value) continue
      control.value = value
      schedulePreview()
    }
  }

  const sendButton = document.getElementById('send')
  const send = async () => {
    if (isSending || !(sendButton instanceof HTMLButtonElement)) return
    clearTimeout(timer)
    pendingPreview?.abort()
    isSending = true
    storeValues()
    sendButton.setAttribute('aria-disabled', 'true')
    form.setAttribute('aria-busy', 'true')
    const progress = document.createElement('progress')
    progress.setAttribute('aria-label', 'Waiting for the response')
    document.getElementById('try')?.append(progress)
    try {
      await requestParts('/tool-send', new AbortController().signal, [])
      if (document.querySelector('[data-part="response"] .state') === null) {
        document.querySelector('[aria-invalid="true"]')?.scrollIntoView({ block: 'nearest' })
      } else showToast(`Response: ${document.querySelector('[data-part="response"] .state')?.textContent}`)
    } catch {
      showToast('Could not reach Patchbay. Your changes are still here.')
    } finally {
      isSending = false
      sendButton.removeAttribute('aria-disabled')
      form.removeAttribute('aria-busy')
      progress.remove()
    }
  }

  const isFormField = target =>
    target instanceof Element && 'form' in target && target.form === form && target.getAttribute('name') !== null
  document.addEventListener('input', event => {
    if (!isFormField(event.target)) return
    const { name, value } = event.target
    if (name.includes(':')) remembered.set(name, value)
    schedulePreview()
  })
  document.addEventListener('compositionstart', () => {
    isComposing = true
  })
  document.addEventListener('compositionend', () => {
    isComposing = false
    schedulePreview()
  })

  document.addEventListener('click', event => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    if (button === sendButton && button !== null) {
      event.preventDefault()
      void send()
    } else if (button?.name === 'placedUrl') {
      event.preventDefault()
      const url = document.getElementById('url')
      if (!(url instanceof HTMLTextAreaElement)) return
      url.value = button.value
      url.dispatchEvent(new InputEvent('input', { bubbles: true }))
      url.focus()
    }
  })

  document.addEventListener('keydown', event => {
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey
    if (isCommand && event.key.toLowerCase() === 's') {
      event.preventDefault()
      const save = document.getElementById('save')
      if (save instanceof HTMLButtonElement) form.requestSubmit(save)
    } else if (isCommand && event.key === 'Enter') {
      event.preventDefault()
      void send()
    } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.form === form) {
      // Prevents saving by accident. In a value field, Enter sends the request.
      event.preventDefault()
      if (event.target.name.startsWith('value:')) void send()
    }
  })

  for (const area of form.querySelectorAll('textarea[data-template]')) {
    if (area instanceof HTMLTextAreaElement) addHighlighting(area)
  }
  if (!('unsaved' in form.dataset)) restoreValues()
  /** Follows fields that a script has set. */
  const refresh = () => {
    for (const area of form.querySelectorAll('textarea[data-template]')) area.dispatchEvent(new InputEvent('input'))
    schedulePreview()
  }
  form.addEventListener('draft:restored', refresh)

  const url = document.getElementById('url')
  if (!(url instanceof HTMLTextAreaElement)) return
  convertOnLeave(url)
  readCommands(form, url, {
    request: async body => {
      clearTimeout(timer)
      pendingPreview?.abort()
      try {
        return await requestHtml('/tool-preview', body)
      } catch {
        showToast('Could not reach Patchbay. Your changes are still here.')
      }
    },
    refresh: () => {
      refresh()
      // Stores the draft.
      url.dispatchEvent(new InputEvent('input', { bubbles: true }))
    },
    markFields,
  })
}

if (form instanceof HTMLFormElement && form.dataset.draft !== undefined) edit(form)
