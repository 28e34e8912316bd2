// Keeps what is typed into any form[data-draft] in this browser until it is saved: through a sign-in, a closed tab, a
// failed save. The attribute names whose text it is; `data-draft-notes` the element that says so. A page that shows
// what was saved lists the addresses of the forms done with in `data-draft-done`.

/** How long nobody must have typed before it is kept, in milliseconds. */
const PAUSE_MS = 400
/** Older drafts are forgotten, in milliseconds: 30 days. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1_000
const PREFIX = 'draft:'

/** @typedef {{ at: number, version: string, fields: [string, string][] }} Draft */

const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const channel = 'BroadcastChannel' in window ? new BroadcastChannel('drafts') : undefined

/** @param {string} key @returns {Draft | undefined} */
const read = key => {
  try {
    const draft = JSON.parse(localStorage.getItem(key) ?? 'null')
    return Array.isArray(draft?.fields) && draft.at > Date.now() - KEPT_MS ? draft : undefined
  } catch {
    return undefined
  }
}

/** @param {string} key */
const drop = key => {
  try {
    localStorage.removeItem(key)
  } catch {
    // Nothing is kept where the browser keeps nothing.
  }
}

/** What is kept of a form: neither passwords nor what only this page needs. @param {HTMLFormElement} form */
const fieldsOf = form =>
  [...form.elements].flatMap(control => {
    const isField =
      control instanceof HTMLInputElement ||
      control instanceof HTMLTextAreaElement ||
      control instanceof HTMLSelectElement
    if (!isField || control.name === '' || control.name === '_csrf' || 'draftSkip' in control.dataset) return []
    if (control.type === 'password' || control.type === 'file' || control.type === 'submit') return []
    const isLeftOut = control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type) && !control.checked
    return isLeftOut ? [] : [/** @type {[string, string]} */ ([control.name, control.value])]
  })

/** The same whatever order the fields stand in, and whether an empty one is there. @param {[string, string][]} fields */
const stamp = fields =>
  JSON.stringify(fields.filter(([, value]) => value !== '').sort(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))

/** @param {HTMLFormElement} form @param {[string, string][]} fields */
const fill = (form, fields) => {
  const values = new Map(fields)
  for (const control of form.elements) {
    if (control instanceof HTMLInputElement && /^(checkbox|radio)$/.test(control.type)) {
      control.checked = values.get(control.name) === control.value
    } else if ('value' in control && control instanceof HTMLElement && 'name' in control) {
      const value = values.get(String(control.name))
      if (value !== undefined) control.value = value
      values.delete(String(control.name))
    }
  }
  // Fields that the page makes for what is typed, such as those of a parameter: they are asked for with their values.
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

/** @param {HTMLElement | null} place @param {string} text @param {(readonly [string, () => void])[]} actions */
const say = (place, text, actions) => {
  if (place === null) return
  const note = document.createElement('div')
  note.className = 'note'
  note.setAttribute('role', 'status')
  const words = document.createElement('span')
  words.textContent = text
  note.append(words)
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

/** A page may be one of many by its query. @param {string} url */
const addressOf = url => {
  const { pathname, search } = new URL(url, location.href)
  return pathname + search
}

/** @param {HTMLFormElement} form */
const keep = form => {
  const address = addressOf(form.action)
  const owner = form.dataset.draft ?? ''
  const key = `${PREFIX}${owner}:${address}`
  const place = document.getElementById(form.dataset.draftNotes ?? '')
  const version = () => form.querySelector('[name="version"]')?.getAttribute('value') ?? ''
  // What a page was answered with that could not be saved is not the saved text.
  const saved = 'unsaved' in form.dataset ? '' : stamp(fieldsOf(form))
  let isLeaving = false
  let timer = 0

  const isDirty = () => stamp(fieldsOf(form)) !== saved
  const store = () => {
    clearTimeout(timer)
    if (!isDirty()) return drop(key)
    const draft = { at: Date.now(), version: version(), fields: fieldsOf(form) }
    try {
      localStorage.setItem(key, JSON.stringify(draft))
    } catch {
      // Full, or not allowed: the guard against leaving is left.
    }
  }

  const done = (form.dataset.draftDone ?? '').split(' ').filter(Boolean)
  for (const path of done) drop(`${PREFIX}${owner}:${addressOf(path)}`)
  if (done.length > 0) channel?.postMessage({ saved: address, owner, version: version() })

  const draft = read(key)
  if (draft !== undefined && !('unsaved' in form.dataset) && stamp(draft.fields) !== saved) {
    const isOld = draft.version !== '' && draft.version !== version()
    const since = isOld ? ' Somebody saved another version since.' : ''
    say(place, `Text of ${CLOCK.format(draft.at)} was not saved.${since}`, [
      [
        'Take it back',
        () => {
          fill(form, draft.fields)
          // Written from another version, it is saved as that: both are shown first.
          const from = form.querySelector('[name="version"]')
          if (from instanceof HTMLInputElement && draft.version !== '') from.value = draft.version
          form.dispatchEvent(new CustomEvent('draft:restored', { bubbles: true }))
          store()
        },
      ],
      ['Drop it', () => drop(key)],
    ])
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
    drop(key)
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
      ? 'This was saved in another tab. Saving here shows you both versions first.'
      : 'This was saved in another tab.'
    say(place, text, [['Show what was saved', () => location.assign(address)]])
  })
}

for (const form of document.querySelectorAll('form[data-draft]')) if (form instanceof HTMLFormElement) keep(form)
