// On the history of calls: groups calls by the reader's days, and moves between them with the keyboard.

/** Created with the first day that needs it: see times.js. @type {Intl.DateTimeFormat | undefined} */
let dayFormat

/** Start of the reader's day, `daysAgo` days before. @param {Date} time @param {number} daysAgo */
const startOfDay = (time, daysAgo = 0) =>
  new Date(time.getFullYear(), time.getMonth(), time.getDate() - daysAgo).getTime()

/** Returns the name of a day, like `dayText` on the server. @param {Date} time */
const dayText = time => {
  const now = new Date()
  const day = startOfDay(time)
  if (day === startOfDay(now)) return 'Today'
  if (day === startOfDay(now, 1)) return 'Yesterday'
  dayFormat ??= new Intl.DateTimeFormat('en-GB', { weekday: 'short', day: 'numeric', month: 'long', year: 'numeric' })
  return dayFormat.format(time).replace(',', '')
}

/** Returns the time by which a row is sorted: of its call, or of the end of its gap. @param {Element} row */
const timeOf = row => new Date([...row.querySelectorAll('time')].at(-1)?.getAttribute('datetime') ?? '')

/** Replaces the groups by days in UTC with groups by the reader's days. @param {Element} table */
const groupByDay = table => {
  const rows = [...table.querySelectorAll('tbody > tr:not(.day)')]
  const heading = table.querySelector('tr.day')
  if (heading === null) return
  for (const group of table.querySelectorAll('tbody')) group.remove()
  /** @type {HTMLElement | undefined} */
  let group
  let current = ''
  for (const row of rows) {
    const text = dayText(timeOf(row))
    if (group === undefined || text !== current) {
      group = document.createElement('tbody')
      group.append(heading.cloneNode(true))
      const name = group.querySelector('th')
      if (name !== null) name.textContent = text
      table.append(group)
      current = text
    }
    group.append(row)
  }
}

/** Marks the address of a call opened by an arrow key, which keeps the focus in the list. No element has this id. */
const MOVED = '#moved'

const isTyping = () =>
  document.activeElement?.matches('input, select, textarea, [contenteditable]') === true ||
  document.querySelector('dialog[open]') !== null

/** Returns the next or previous call's link: from the focused one, or from the open one. @param {Element} list @param {1 | -1} step */
const linkBeside = (list, step) => {
  const links = [...list.querySelectorAll('th[scope="row"] a')]
  const focused = links.indexOf(document.activeElement ?? list)
  const start = focused === -1 ? links.findIndex(link => link.closest('[aria-current]') !== null) : focused
  const next = start === -1 && step === -1 ? undefined : links[start + step]
  return next instanceof HTMLAnchorElement ? next : undefined
}

/** Moves the focus to the next or previous call. If a call is open, opens that one instead. @param {Element} list @param {1 | -1} step */
const move = (list, step) => {
  const next = linkBeside(list, step)
  if (next === undefined) return false
  next.focus()
  // The list stays one step back in the browser's history.
  if (document.querySelector('a[data-close]') !== null) location.replace(next.href + MOVED)
  return true
}

/** Closes the open call. */
const closeCall = () => {
  const close = document.querySelector('a[data-close]')
  if (!(close instanceof HTMLAnchorElement)) return false
  close.click()
  return true
}

/** Handles a key. Returns whether it did something. @param {Element | null} list @param {string} key */
const handleKey = (list, key) => {
  if (key === 'Escape') return closeCall()
  const step = key === 'ArrowDown' ? 1 : key === 'ArrowUp' ? -1 : undefined
  const active = document.activeElement ?? document.body
  // Elsewhere, such as in a long request, arrow keys scroll.
  if (step === undefined || list === null || (active !== document.body && !list.contains(active))) return false
  return move(list, step)
}

/** The table is replaced when there are new calls. */
const findTable = () => document.querySelector('table[data-days]')

const table = findTable()
if (table !== null) groupByDay(table)
document.addEventListener('htmx:load', event => {
  const added = event.target instanceof Element ? event.target.querySelector('table[data-days]') : null
  if (added !== null) groupByDay(added)
})

// The address names the row of a call that was closed. The browser focuses it, but loses it when rows move.
const closed = document.getElementById(location.hash.slice(1))
if (closed !== null && table?.contains(closed)) closed.focus()

const opened = table?.querySelector('tr[aria-current] a')
if (location.hash === MOVED && opened instanceof HTMLElement) {
  // On narrow screens, the call is above the list and stays in view.
  opened.focus({ preventScroll: true })
  if (matchMedia('(min-width: 64rem)').matches) opened.scrollIntoView({ block: 'nearest' })
}

document.addEventListener('keydown', event => {
  const hasModifier = event.ctrlKey || event.altKey || event.metaKey || event.shiftKey
  if (event.defaultPrevented || hasModifier || isTyping()) return
  if (handleKey(findTable()?.closest('.scroll') ?? null, event.key)) event.preventDefault()
})
