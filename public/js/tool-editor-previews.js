// Requests the previews of the tool editor and its test requests, and writes the responses to the page. All requests go
// through this file, so that only the response to the newest one is shown as current.
import { rewriteTemplate } from './tool-editor-edits.js'
import { replaceParts } from './tool-editor-parts.js'
import { allFields, plainFields } from './tool-editor-secrets.js'

/** Delay after the last key press before the preview is updated. */
const PAUSE_MS = 250
/** Fields that decide which request is sent. */
const OF_REQUEST = /^(?:method|url|headers|body|serverId|value:.*)$/

/** Marks the fields that have errors. */
export const markFields = () => {
  for (const note of document.querySelectorAll('[data-part^="note-"]')) {
    const field = document.getElementById(note.id.slice('note-'.length))
    const isInvalid = note.querySelector('.error:not([data-tone])') !== null
    if (isInvalid) field?.setAttribute('aria-invalid', 'true')
    else field?.removeAttribute('aria-invalid')
    field?.closest('.template')?.toggleAttribute('data-invalid', isInvalid)
  }
}

/** Says that the response on the page is of an earlier request. */
const markChangedRequest = () =>
  document.querySelector('[data-part="response"] [data-changed]')?.removeAttribute('hidden')

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

/** @param {HTMLFormElement} form */
export const createPreviews = form => {
  /** Everything typed into fields that appear and disappear with the parameters. @type {Map<string, string>} */
  const remembered = new Map()
  /** @type {AbortController | undefined} */
  let pending
  let timer = 0
  let isComposing = false
  /** Counts the changes of the form. A response is shown only if the form has not changed since its request. */
  let edition = 0
  /** Fields to send besides those of the form, until a response to them is shown. @type {Record<string, string> | undefined} */
  let extra
  const shapedPart = document.querySelector('[data-part="shaped"]')

  const fields = () => new URLSearchParams(plainFields(form))

  /** @param {string} html @param {readonly string[]} leave parts that stay as they are */
  const show = (html, leave) => {
    rewriteTemplate(html)
    replaceParts(html, { remembered, leave })
    // Fields restored from a draft now exist on the page.
    for (const hidden of form.querySelectorAll('input[data-restored]')) hidden.remove()
    markFields()
    shapedPart?.removeAttribute('data-stale')
    form.dispatchEvent(new CustomEvent('preview:shown'))
  }

  const stop = () => {
    clearTimeout(timer)
    pending?.abort()
  }

  const request = async () => {
    stop()
    const controller = new AbortController()
    pending = controller
    const asked = edition
    const sent = fields()
    for (const [name, value] of Object.entries(extra ?? {})) sent.set(name, value)
    try {
      const html = await requestHtml('/tool-preview', sent, controller.signal)
      // Otherwise a newer preview follows.
      if (html === undefined || controller.signal.aborted || asked !== edition) return
      extra = undefined
      // The last response stays visible while the user types.
      show(html, ['response'])
    } catch {
      // Aborted, or the next key press tries again.
    }
  }

  const markStale = () => shapedPart?.setAttribute('data-stale', '')
  const noteChange = () => {
    edition++
    markStale()
  }

  /** Follows a change of the form soon. */
  const schedule = () => {
    noteChange()
    clearTimeout(timer)
    if (!isComposing) timer = setTimeout(request, PAUSE_MS)
  }

  document.addEventListener('compositionstart', () => {
    isComposing = true
  })
  document.addEventListener('compositionend', () => {
    isComposing = false
    schedule()
  })

  return {
    schedule,
    /** Follows a change of the form at once. @param {Record<string, string>} [more] fields to send besides its own */
    now: more => {
      noteChange()
      extra = more ?? extra
      void request()
    },
    /** Keeps what was typed into a field, and follows it. @param {string} name @param {string} value */
    follow: (name, value) => {
      if (name.includes(':')) remembered.set(name, value)
      if (OF_REQUEST.test(name)) markChangedRequest()
      schedule()
    },
    /** Stores the typed secrets, of which `parameter` must be one. @param {string} parameter */
    storeSecrets: async parameter => {
      stop()
      const asked = edition
      const sent = new URLSearchParams(allFields(form))
      sent.set('storeSecret', parameter)
      const html = await requestHtml('/tool-secret', sent)
      if (html === undefined) return
      // A value that was refused stays typed.
      show(html, ['response'])
      if (asked !== edition) void request()
    },
    /** Returns the page of the editor for other fields than those of the form. @param {URLSearchParams} body */
    requestPage: body => requestHtml('/tool-preview', body),
    /**
     * Sends the request of the tool and shows its response. Returns the HTML, or undefined if Patchbay refused it.
     * @param {AbortSignal} signal
     */
    send: async signal => {
      const asked = edition
      const sent = new URLSearchParams(allFields(form))
      const html = await requestHtml('/tool-send', sent, signal)
      if (html === undefined) return undefined
      // A preview that is still running shapes the response before this one.
      stop()
      if (asked === edition && extra === undefined) show(html, [])
      else {
        // Shaped by earlier rules, but with the new sample for the next preview.
        markStale()
        replaceParts(html, { remembered, leave: [], only: ['response', 'shaped'] })
        if ([...fields()].some(([name, value]) => OF_REQUEST.test(name) && sent.get(name) !== value)) {
          markChangedRequest()
        }
        void request()
      }
      return html
    },
  }
}
