// On the history of calls: tabs of the open call, time fields in the reader's time zone, dragging in charts, and new calls.

import { startTail } from './call-tail.js'
import { startChartRanges } from './chart-range.js'
import { startTabs } from './tool-editor-tabs.js'

/** Returns a time as the value of a datetime-local field in the reader's time zone. @param {Date} time */
const toLocalValue = time => {
  const local = new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 19)
  return local.endsWith(':00') ? local.slice(0, 16) : local
}

// The form sends the reader's zone: see times.js.
for (const field of document.querySelectorAll('input[data-local-time]')) {
  if (field instanceof HTMLInputElement) field.value = toLocalValue(new Date(field.dataset.localTime ?? ''))
}

/** Sets a field of the filters. @param {string} id @param {Date} time */
const setTime = (id, time) => {
  const field = document.getElementById(id)
  if (field instanceof HTMLInputElement) field.value = toLocalValue(time)
}

startChartRanges((from, to) => {
  setTime('from', from)
  setTime('to', to)
  const form = document.querySelector('form.call-filters')
  if (form instanceof HTMLFormElement) form.requestSubmit()
})

startTabs()
startTail()
