// On every page of a signed-in user: ⌘K or Ctrl+K searches everything in a dialog. Its button is a link to a page that
// does the same without scripts.

/** Waits for the next key before it searches. */
const TYPING_MS = 100

const isMac = /Mac|iPhone|iPad/.test(navigator.platform)
const dialog = document.getElementById('palette')
const input = dialog?.querySelector('input')
const list = document.getElementById('found')
const status = dialog?.querySelector('[role="status"]')

/** @returns {HTMLAnchorElement[]} */
const optionsIn = () => [...(list?.querySelectorAll('[role="option"]') ?? [])]
const selected = () => list?.querySelector('[aria-selected="true"]') ?? null

/** Makes this the option that Enter opens. @param {Element | undefined} option */
const select = option => {
  selected()?.setAttribute('aria-selected', 'false')
  option?.setAttribute('aria-selected', 'true')
  option?.scrollIntoView({ block: 'nearest' })
  if (option === undefined) input?.removeAttribute('aria-activedescendant')
  else input?.setAttribute('aria-activedescendant', option.id)
}

/** @param {1 | -1} step */
const move = step => {
  const options = optionsIn()
  const index = options.indexOf(selected())
  select(options.at(index === -1 && step === -1 ? -1 : (index + step) % options.length))
}

/** @param {string} text @param {boolean} isSeen */
const say = (text, isSeen) => {
  if (status === null || status === undefined) return
  status.textContent = text
  status.classList.toggle('hush', !isSeen)
}

/** @param {string} html */
const showOptions = html => {
  if (list === null) return
  list.innerHTML = html
  const options = optionsIn()
  input?.setAttribute('aria-expanded', String(options.length > 0))
  select(options[0])
  say(options.length === 0 ? 'Nothing matches your search.' : `${options.length} results`, options.length === 0)
}

/** @type {AbortController | undefined} */
let pending

/** @param {string} text */
const search = async text => {
  pending?.abort()
  pending = new AbortController()
  const { signal } = pending
  const address = `/search/options?${new URLSearchParams({ q: text })}`
  try {
    const response = await fetch(address, { headers: { 'hx-request': 'true' }, signal })
    // The search page says why, or asks the user to sign in again.
    if (!response.ok) location.assign(`/search?${new URLSearchParams({ q: text })}`)
    else showOptions(await response.text())
  } catch {
    if (signal.aborted) return
    showOptions('')
    say('Patchbay could not be reached. Try again.', true)
  }
}

/** @type {number | undefined} */
let timer

/** Opens or closes the palette. @param {HTMLDialogElement} palette @param {HTMLInputElement} field */
const toggle = (palette, field) => {
  if (palette.open) {
    palette.close()
    return
  }
  palette.showModal()
  field.select()
  void search(field.value)
}

/** @param {KeyboardEvent} event */
const isPaletteKey = event =>
  event.key.toLowerCase() === 'k' &&
  (isMac ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey) &&
  !event.altKey &&
  !event.shiftKey

/** @param {HTMLDialogElement} palette @param {HTMLInputElement} field */
const listen = (palette, field) => {
  document.addEventListener('keydown', event => {
    if (!isPaletteKey(event)) return
    event.preventDefault()
    if (!event.repeat) toggle(palette, field)
  })
  field.addEventListener('input', () => {
    clearTimeout(timer)
    // What is selected matches an earlier text.
    select(undefined)
    timer = setTimeout(() => search(field.value), TYPING_MS)
  })
  field.addEventListener('keydown', event => {
    if (event.key !== 'ArrowDown' && event.key !== 'ArrowUp') return
    event.preventDefault()
    move(event.key === 'ArrowDown' ? 1 : -1)
  })
  // Enter opens the selected option. While there is none, it opens the search page.
  field.form?.addEventListener('submit', event => {
    const option = selected()
    if (!(option instanceof HTMLAnchorElement)) return
    event.preventDefault()
    option.click()
  })
  palette.addEventListener('close', () => {
    clearTimeout(timer)
    pending?.abort()
  })
  palette.addEventListener('click', event => {
    if (event.target === palette) palette.close()
  })
  // So that the page is not covered when the browser's history shows it again.
  window.addEventListener('pagehide', () => palette.close())
}

/** Shows the keys on the button, which opens the palette instead of the page. @param {() => void} open */
const connectButton = open => {
  const button = document.querySelector('.finder')
  const keys = button?.querySelector('kbd')
  if (keys) {
    keys.textContent = isMac ? '⌘K' : 'Ctrl K'
    keys.hidden = false
  }
  button?.addEventListener('click', event => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    open()
  })
}

if (dialog instanceof HTMLDialogElement && input instanceof HTMLInputElement) {
  listen(dialog, input)
  connectButton(() => toggle(dialog, input))
}
