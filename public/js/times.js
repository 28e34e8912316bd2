// On every page: shows times in the reader's time zone, most of them as how long ago they were. The title has the exact
// time. Without scripts, times are in UTC.

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR
/** Times further away than this are shown as a date. */
const MAX_RELATIVE = 7 * DAY

/** How long ago a time was is in the language of the page. Dates are written as the reader is used to. */
const RELATIVE = new Intl.RelativeTimeFormat('en')
const DATE = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const CLOCK_WITH_SECONDS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const TIME_OF_DAY = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' })
const HOUR_AND_MINUTE = new Intl.DateTimeFormat(undefined, { timeStyle: 'short' })
const WITH_MILLISECONDS = new Intl.DateTimeFormat(undefined, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  fractionalSecondDigits: 3,
})
/** Name of the reader's time zone, such as `GMT+1`. */
const ZONE_NAME = new Intl.DateTimeFormat(undefined, { timeZoneName: 'short' })
  .formatToParts()
  .find(({ type }) => type === 'timeZoneName')?.value
/** With the name of the time zone. */
const EXACT = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'long' })

/** Returns a time such as "5 minutes ago", "in 3 days" or "22 Nov 2026". @param {Date} time @param {number} now */
const relativeText = (time, now) => {
  const distance = time.getTime() - now
  const size = Math.abs(distance)
  if (size >= MAX_RELATIVE) return DATE.format(time)
  if (size < MINUTE) return distance > 0 ? 'in less than a minute' : 'just now'
  if (size < HOUR) return RELATIVE.format(Math.trunc(distance / MINUTE), 'minute')
  return size < DAY
    ? RELATIVE.format(Math.trunc(distance / HOUR), 'hour')
    : RELATIVE.format(Math.trunc(distance / DAY), 'day')
}

/** Returns the text of a time, in the form that its element asks for. @param {Element} element @param {Date} time */
const textOf = (element, time) => {
  if (element.hasAttribute('data-clock')) return TIME_OF_DAY.format(time)
  if (element.hasAttribute('data-hour')) return HOUR_AND_MINUTE.format(time)
  if (element.hasAttribute('data-milliseconds')) return WITH_MILLISECONDS.format(time)
  if (element.hasAttribute('data-seconds')) return CLOCK_WITH_SECONDS.format(time)
  return element.hasAttribute('data-exact') ? CLOCK.format(time) : relativeText(time, Date.now())
}

/** Converts the times in a part of the page. @param {Document | Element} part */
const showTimes = part => {
  for (const element of part.querySelectorAll('time[datetime]')) {
    const time = new Date(element.getAttribute('datetime') ?? '')
    if (Number.isNaN(time.getTime())) continue
    if (!element.hasAttribute('title')) element.setAttribute('title', EXACT.format(time))
    const text = textOf(element, time)
    // Unchanged text keeps what the reader has selected.
    if (element.textContent !== text) element.textContent = text
  }
  // Drawings have no <time>, and some headings name the zone of the times below them.
  for (const element of part.querySelectorAll('text[data-time]')) {
    element.textContent = HOUR_AND_MINUTE.format(new Date(element.getAttribute('data-time') ?? ''))
  }
  for (const element of part.querySelectorAll('[data-zone]')) element.textContent = ZONE_NAME ?? 'local time'
  // Forms with dates send the zone in which the reader means them.
  for (const field of part.querySelectorAll('input[type="hidden"][name="zone"]')) {
    field.setAttribute('value', Intl.DateTimeFormat().resolvedOptions().timeZone)
  }
}

showTimes(document)
document.addEventListener('htmx:load', event => {
  if (event.target instanceof Element) showTimes(event.target)
})
setInterval(() => showTimes(document), MINUTE)
