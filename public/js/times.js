// On every page: shows times in the reader's time zone, most of them as how long ago they were. The title has the exact
// time. Without scripts, times are in UTC.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Times further away than this are shown as a date. */
const MAX_RELATIVE = 7 * DAY

/**
 * Returns a function that writes times as the reader is used to. The first format of a page takes longer to create than
 * all other work of the scripts, so it is created when it is used.
 * @param {Intl.DateTimeFormatOptions} options @returns {(time: Date) => string}
 */
const formatter = options => {
  /** @type {Intl.DateTimeFormat | undefined} */
  let format
  return time => {
    format ??= new Intl.DateTimeFormat(undefined, options)
    return format.format(time)
  }
}
const dateText = formatter({ dateStyle: 'medium' })
const clockText = formatter({ dateStyle: 'medium', timeStyle: 'short' })
const clockTextWithSeconds = formatter({ dateStyle: 'medium', timeStyle: 'medium' })
const timeOfDayText = formatter({ timeStyle: 'medium' })
const hourText = formatter({ timeStyle: 'short' })
const shortDateText = formatter({ day: 'numeric', month: 'short' })
const millisecondsText = formatter({
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
/** With the name of the time zone. */
const exactText = formatter({ dateStyle: 'medium', timeStyle: 'long' })

/** Returns the name of the reader's time zone, such as `GMT+1`. */
const zoneName = () =>
  new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' })
    .formatToParts()
    .find(({ type }) => type === 'timeZoneName')?.value ?? 'local time'

/** Returns a length of time such as "5 minutes". @param {number} size @param {number} unit @param {string} name */
const lengthText = (size, unit, name) => {
  const count = Math.trunc(size / unit)
  return `${count} ${name}${count === 1 ? '' : 's'}`
}

/** Returns a time such as "5 minutes ago", "in 3 days" or "22 Nov 2026". @param {Date} time @param {number} now */
const relativeText = (time, now) => {
  const distance = time.getTime() - now
  const size = Math.abs(distance)
  if (size >= MAX_RELATIVE) return dateText(time)
  if (size < MINUTE) return distance > 0 ? 'in less than a minute' : 'just now'
  const length =
    size < HOUR
      ? lengthText(size, MINUTE, 'minute')
      : size < DAY
        ? lengthText(size, HOUR, 'hour')
        : lengthText(size, DAY, 'day')
  return distance > 0 ? `in ${length}` : `${length} ago`
}

/** Returns the text of a time, in the form that its element asks for. @param {Element} element @param {Date} time */
const textOf = (element, time) => {
  if (element.hasAttribute('data-clock')) return timeOfDayText(time)
  if (element.hasAttribute('data-hour')) return hourText(time)
  if (element.hasAttribute('data-milliseconds')) return millisecondsText(time)
  if (element.hasAttribute('data-seconds')) return clockTextWithSeconds(time)
  return element.hasAttribute('data-exact') ? clockText(time) : relativeText(time, Date.now())
}

/** Converts the times in a part of the page. @param {Document | Element} part */
const showTimes = part => {
  for (const element of part.querySelectorAll('time[datetime]')) {
    const time = new Date(element.getAttribute('datetime') ?? '')
    if (Number.isNaN(time.getTime())) continue
    const text = textOf(element, time)
    // Unchanged text keeps what the reader has selected.
    if (element.textContent !== text) element.textContent = text
  }
  // Drawings have no <time>, and some headings name the zone of the times below them.
  for (const element of part.querySelectorAll('text[data-time]')) {
    element.textContent = hourText(new Date(element.getAttribute('data-time') ?? ''))
  }
  for (const element of part.querySelectorAll('text[data-date]')) {
    element.textContent = shortDateText(new Date(element.getAttribute('data-date') ?? ''))
  }
  for (const element of part.querySelectorAll('[data-zone]')) element.textContent = zoneName()
  // Forms with dates send the zone in which the reader means them.
  for (const field of part.querySelectorAll('input[type="hidden"][name="zone"]')) {
    field.setAttribute('value', Intl.DateTimeFormat().resolvedOptions().timeZone)
  }
}

/** Adds the exact times, which are shown on hover. @param {Document | Element} part */
const addTitles = part => {
  for (const element of part.querySelectorAll('time[datetime]:not([title])')) {
    const time = new Date(element.getAttribute('datetime') ?? '')
    if (!Number.isNaN(time.getTime())) element.setAttribute('title', exactText(time))
  }
}

showTimes(document)
// After the page is first shown.
requestAnimationFrame(() => setTimeout(() => addTitles(document)))
document.addEventListener('htmx:load', event => {
  if (!(event.target instanceof Element)) return
  showTimes(event.target)
  addTitles(event.target)
})
setInterval(() => showTimes(document), MINUTE)
