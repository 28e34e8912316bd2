// What every page gets: copying, times of the reader's own zone, dialogs, and a guard against sending twice.

/** How long a note that something was copied stays, in milliseconds. */
const TOAST_MS = 2_500

/** Says in passing what has just happened. @param {string} text */
export const showToast = text => {
  document.querySelector('.toast')?.remove()
  const toast = document.createElement('p')
  toast.className = 'toast'
  toast.setAttribute('role', 'status')
  toast.textContent = text
  document.body.append(toast)
  setTimeout(() => toast.remove(), TOAST_MS)
}

/** What a copy button copies: its value, or the code that it stands beside. @param {HTMLButtonElement} button */
const textToCopy = button => button.value || (button.parentElement?.querySelector('pre')?.textContent ?? '')

document.addEventListener('click', async event => {
  const button = event.target instanceof Element ? event.target.closest('.copy') : null
  if (!(button instanceof HTMLButtonElement)) return
  event.preventDefault()
  try {
    await navigator.clipboard.writeText(textToCopy(button))
    showToast('Copied')
  } catch {
    // No secure context, or no permission: the text stands beside the button, to be copied by hand.
    showToast('The browser does not let pages copy here. Mark the text and copy it by hand.')
  }
})

const CLOCK = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const CLOCK_WITH_SECONDS = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })

/** Times are written in UTC; here they are said in the reader's own zone. @param {ParentNode} part */
const localizeTimes = part => {
  for (const time of part.querySelectorAll('time[datetime]:not([data-local])')) {
    const date = new Date(time.getAttribute('datetime') ?? '')
    if (Number.isNaN(date.getTime())) continue
    time.setAttribute('title', time.textContent ?? '')
    time.setAttribute('data-local', '')
    time.textContent = (time.hasAttribute('data-seconds') ? CLOCK_WITH_SECONDS : CLOCK).format(date)
  }
}
localizeTimes(document)
document.addEventListener('htmx:load', event => {
  if (event.target instanceof Element) localizeTimes(event.target)
})

// A form that came back refused: on to the first field to mend, which tells what is wrong with it.
const firstWrong = document.querySelector('[aria-invalid="true"]')
if (firstWrong instanceof HTMLElement) firstWrong.focus()

// A form is sent once, however often its button is pressed.
document.addEventListener('submit', event => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return
  if (form.dataset.sent !== undefined) event.preventDefault()
  else form.dataset.sent = ''
})
// Back on the page by the browser's history, it may be sent again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) form.removeAttribute('data-sent')
})

// Browsers that do not know commandfor go on to the confirmation page instead: see [data-dialog] links.
document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('[data-dialog]') : null
  const dialog = link === null ? null : document.getElementById(link.getAttribute('data-dialog') ?? '')
  if (!(dialog instanceof HTMLDialogElement)) return
  event.preventDefault()
  dialog.showModal()
})

// The reader's choice of colours shows at once; the form also works without this.
document.addEventListener('submit', event => {
  if (!(event.target instanceof HTMLFormElement) || !event.target.classList.contains('switch')) return
  const theme = event.submitter instanceof HTMLButtonElement ? event.submitter.value : 'system'
  event.preventDefault()
  const body = new URLSearchParams([...new FormData(event.target, event.submitter)].map(([k, v]) => [k, String(v)]))
  if (theme === 'system') delete document.documentElement.dataset.theme
  else document.documentElement.dataset.theme = theme
  for (const button of event.target.querySelectorAll('button')) {
    button.setAttribute('aria-pressed', String(button.value === theme))
  }
  event.target.removeAttribute('data-sent')
  void fetch('/theme', { method: 'POST', body })
})
