// On every page: what these modules do, copy buttons, dialogs, the theme switch, and a guard against double submission.
// Each of them does nothing on a page without the elements that it is for. Together they are smaller than one more
// request.

import './times.js'
import './palette.js'
import './keys.js'
import './server-live.js'
import './history.js'
import './matrix.js'
import './selection.js'
import './section-links.js'
import './drafts.js'
import './save-bar.js'
import { showToast } from './toast.js'

/** Returns the button's value, or the code beside it. @param {HTMLButtonElement} button */
const textToCopy = button => button.value || (button.parentElement?.querySelector('pre')?.textContent ?? '')

document.addEventListener('click', async event => {
  const button = event.target instanceof Element ? event.target.closest('.copy') : null
  if (!(button instanceof HTMLButtonElement)) return
  event.preventDefault()
  try {
    await navigator.clipboard.writeText(textToCopy(button))
    showToast('Copied')
  } catch {
    // No secure context, or no permission.
    showToast('Could not copy. Select the text and copy it yourself.')
  }
})

// Focuses the first invalid field of a rejected form.
const firstInvalid = document.querySelector('[aria-invalid="true"]')
if (firstInvalid instanceof HTMLElement) firstInvalid.focus()

// Submits a form only once.
document.addEventListener('submit', event => {
  const form = event.target
  if (!(form instanceof HTMLFormElement) || event.defaultPrevented) return
  if (form.dataset.sent !== undefined) event.preventDefault()
  else form.dataset.sent = ''
})
// A page restored from the browser's history may submit it again.
window.addEventListener('pageshow', () => {
  for (const form of document.querySelectorAll('form[data-sent]')) form.removeAttribute('data-sent')
})

// Opens a dialog instead of following its link to the confirmation page.
document.addEventListener('click', event => {
  const link = event.target instanceof Element ? event.target.closest('[data-dialog]') : null
  const dialog = link === null ? null : document.getElementById(link.getAttribute('data-dialog') ?? '')
  if (!(dialog instanceof HTMLDialogElement)) return
  event.preventDefault()
  dialog.showModal()
})

// Applies the theme immediately; the form also works without a script.
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
