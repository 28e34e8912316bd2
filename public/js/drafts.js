// Stores unsaved input of any form[data-draft] in this browser, so that it survives a sign-in, a closed tab or a failed
// save. `data-draft` is the user's id, `data-draft-notes` the id of the element for messages. After saving, the page
// lists the addresses of the saved forms in `data-draft-done`.
import { fillForm } from './fill-form.js'

/** Delay after the last key press before a draft is stored. */
const PAUSE_MS = 400
const MAX_AGE_MS = 30 * 24 * 60 * 60 * 1_000
const PREFIX = 'draft:'

/** @typedef {{ at: number, version: string, fields: [string, string][] }} Draft */

const channel = 'BroadcastChannel' in window ? new BroadcastChannel('drafts') : undefined

/** @param {string} key @returns {Draft | undefined} */
const read = key => {
  try {
    const draft = JSON.parse(localStorage.getItem(key) ?? 'null')
    return Array.isArray(draft?.fields) && draft.at > Date.now() - MAX_AGE_MS ? draft : undefined
  } catch {
    return undefined
  }
}

/** @param {string} key */
const discard = key => {
  try {
    localStorage.removeItem(key)
  } catch {
    // Storage is disabled, so nothing is stored.
  }
}

/** Returns the fields to store: no passwords, files, or fields with `data-draft-skip`. @param {HTMLFormElement} form */
const fieldsOf = form =>
  [...form.elements].flatMap(control => {
    const isField =
      control instanceof HTMLInputElement ||
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement
    if (!isField || control.name === '' || control.name === '_csrf' || 'draftSkip' in control.dataset) return []
    if (control.type === 'password' || control.type === 'file' || control.type === 'submit') return []
    const isUnchecked =
      control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type) && !control.checked
    return isUnchecked ? [] : [/** @type {[string, string]} */ ([control.name, control.value])]
  })

/** Identifies field values regardless of their order; empty fields are ignored. @param {[string, string][]} fields */
const fingerprint = fields =>
  JSON.stringify(fields.filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))

/** @param {HTMLElement | null} place @param {string} text @param {(readonly [string, () => void])[]} actions */
const showNote = (place, text, actions) => {
  if (place === null) return
  const note = document.createElement('div')
  note.className = 'note'
  note.setAttribute('role', 'status')
  const message = document.createElement('span')
  message.textContent = text
  note.append(message)
  for (const [label, act] of actions) {
    const button = document.createElement('button')
    button.type = 'button'
    button.className = 'button'
    button.dataset.size = 'small'
    button.textContent = label
    button.addEventListener('click', () => {
      note.remove()
      act()
    })
    note.append(button)
  }
  place.replaceChildren(note)
}

/** Includes the query: it can select the page. @param {string} url */
const addressOf = url => {
  const { pathname, search } = new URL(url, location.href)
  return pathname + search
}

/** @param {HTMLFormElement} form */
const trackForm = form => {
  const address = addressOf(form.action)
  const owner = form.dataset.draft ?? ''
  const key = `${PREFIX}${owner}:${address}`
  const place = document.getElementById(form.dataset.draftNotes ?? '')
  const version = () => form.querySelector('[name="version"]')?.getAttribute('value') ?? ''
  // A page that shows a failed save does not contain the saved values.
  const saved = 'unsaved' in form.dataset ? '' : fingerprint(fieldsOf(form))
  let isLeaving = false
  let timer = 0

  const isDirty = () => fingerprint(fieldsOf(form)) !== saved
  const store = () => {
    clearTimeout(timer)
    if (!isDirty()) return discard(key)
    const draft = { at: Date.now(), version: version(), fields: fieldsOf(form) }
    try {
      localStorage.setItem(key, JSON.stringify(draft))
    } catch {
      // Full or disabled: the warning before leaving the page still works.
    }
  }

  const done = (form.dataset.draftDone ?? '').split(' ').filter(Boolean)
  for (const path of done) discard(`${PREFIX}${owner}:${addressOf(path)}`)
  if (done.length > 0) channel?.postMessage({ saved: address, owner, version: version() })

  const draft = read(key)
  if (draft !== undefined && !('unsaved' in form.dataset) && fingerprint(draft.fields) !== saved) {
    const isOld = draft.version !== '' && draft.version !== version()
    const since = isOld ? ' Someone has saved another version since.' : ''
    showNote(
      place,
      `You have unsaved changes from ${new Date(draft.at).toLocaleString(undefined, { dateStyle: 'medium', timeStyle: 'short' })}.${since}`,
      [
        [
          'Restore',
          () => {
            fillForm(form, draft.fields)
            // Keeps the version that the draft is based on, so that saving shows both versions first.
            const from = form.querySelector('[name="version"]')
            if (from instanceof HTMLInputElement && draft.version !== '') from.value = draft.version
            form.dispatchEvent(new CustomEvent('draft:restored', { bubbles: true }))
            store()
          },
        ],
        ['Discard', () => discard(key)],
      ],
    )
  } else if ('unsaved' in form.dataset) store()

  document.addEventListener('input', event => {
    if (!(event.target instanceof Element) || !('form' in event.target) || event.target.form !== form) return
    clearTimeout(timer)
    timer = setTimeout(store, PAUSE_MS)
  })
  form.addEventListener('submit', () => {
    store()
    isLeaving = true
  })
  document.addEventListener('click', event => {
    const link = event.target instanceof Element ? event.target.closest('[data-drop-draft]') : null
    if (link === null) return
    clearTimeout(timer)
    discard(key)
    isLeaving = true
  })
  window.addEventListener('pagehide', () => {
    if (!isLeaving) store()
  })
  window.addEventListener('pageshow', () => {
    isLeaving = false
  })
  window.addEventListener('beforeunload', event => {
    if (!isLeaving && isDirty()) event.preventDefault()
  })
  channel?.addEventListener('message', ({ data }) => {
    if (data?.saved !== address || data.owner !== owner || data.version === version()) return
    const text = isDirty()
      ? 'This was saved in another tab. If you save here, you see both versions first.'
      : 'This was saved in another tab.'
    showNote(place, text, [['Load the saved version', () => location.assign(address)]])
  })
}

for (const form of document.querySelectorAll('form[data-draft]')) if (form instanceof HTMLFormElement) trackForm(form)
