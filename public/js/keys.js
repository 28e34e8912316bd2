// On every page of a signed-in user: single keys. / goes to the search field of the page, ? lists the keys, and G
// followed by a letter opens a page. They do nothing while somebody types, and can be turned off (WCAG 2.2, 2.1.4).

/** Time in which a letter follows G. */
const SEQUENCE_MS = 1_500

const isOn = document.documentElement.dataset.singleKeys !== 'off'

const isTyping = () => {
  const { activeElement } = document
  return (
    activeElement?.closest('input, select, textarea') != null ||
    (activeElement instanceof HTMLElement && activeElement.isContentEditable)
  )
}

const focusSearch = () => {
  const fields = document.querySelectorAll('main [role="search"] input:is([type="search"], [type="text"])')
  const field = [...fields].find(one => one.checkVisibility())
  if (field instanceof HTMLInputElement) field.select()
  else document.querySelector('.finder')?.click()
}

/** Whether the list of keys is being loaded. A second press must not open it twice. */
let isLoading = false

const showKeys = async () => {
  if (isLoading) return
  isLoading = true
  const response = await fetch('/shortcuts', { headers: { 'hx-request': 'true' } }).catch(() => null)
  const html = response?.ok ? await response.text().catch(() => null) : null
  isLoading = false
  if (html === null) {
    location.assign('/shortcuts')
    return
  }
  // Another dialog may have been opened meanwhile, such as the palette.
  if (document.querySelector('dialog[open]') !== null) return
  const dialog = document.createElement('dialog')
  dialog.className = 'dialog shortcuts'
  dialog.setAttribute('aria-labelledby', 'shortcuts-title')
  dialog.innerHTML = html
  dialog.addEventListener('close', () => dialog.remove())
  document.body.append(dialog)
  dialog.showModal()
}

/** Returns the page that a letter opens after G. @param {string} key */
const placeOf = key => {
  if (key === 's') return '/servers'
  if (key === 't') return '/toolkits'
  // Only a server has a history.
  return key === 'h' ? document.querySelector('.tabs a[href$="/history"]')?.getAttribute('href') : undefined
}

/** When G was pressed. */
let wentAt = Number.NEGATIVE_INFINITY

/** Handles a key. Returns whether it did something. @param {string} key @param {number} at */
const handleKey = (key, at) => {
  const place = at - wentAt < SEQUENCE_MS ? placeOf(key) : undefined
  wentAt = key === 'g' ? at : Number.NEGATIVE_INFINITY
  if (place) location.assign(place)
  else if (key === '/') focusSearch()
  else if (key === '?') void showKeys()
  else return false
  return true
}

document.addEventListener('keydown', event => {
  const hasModifier = event.ctrlKey || event.altKey || event.metaKey
  if (!isOn || event.defaultPrevented || hasModifier || event.repeat || event.isComposing) return
  if (isTyping() || document.querySelector('dialog[open]') !== null) return
  // Keys such as Shift alone come before the character that they are pressed for.
  if (event.key.length === 1 && handleKey(event.key.toLowerCase(), event.timeStamp)) event.preventDefault()
})
