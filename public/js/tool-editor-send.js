// Sends the request of the tool editor. Shows that it is running, with a button that cancels it.
import { showToast } from './toast.js'
import { openTabOf } from './tool-editor-tabs.js'

const sendButtons = () => [...document.querySelectorAll('[data-send]')].filter(one => one instanceof HTMLElement)

/** Shows progress and a button. Returns a function that removes both. @param {() => void} cancel */
const showProgress = cancel => {
  const before = document.activeElement
  const line = document.createElement('div')
  line.className = 'sending'
  const progress = document.createElement('progress')
  progress.setAttribute('aria-label', 'Waiting for the response')
  const button = document.createElement('button')
  button.type = 'button'
  button.className = 'button'
  button.dataset.size = 'small'
  button.textContent = 'Cancel'
  button.setAttribute('aria-label', 'Cancel the request')
  button.addEventListener('click', cancel)
  line.append(progress, button)
  document.getElementById('try')?.append(line)
  return () => {
    const hadFocus = document.activeElement === button
    line.remove()
    if (!hadFocus) return
    const next = before instanceof HTMLElement && before !== document.body ? before : sendButtons()[0]
    next?.focus()
  }
}

const showOutcome = () => {
  const state = document.querySelector('[data-part="response"] .state')
  if (state !== null) {
    showToast(`Response: ${state.textContent}`)
    // On narrow screens, the response is far below.
    document.querySelector('[data-part="response"]')?.scrollIntoView({ block: 'nearest' })
  } else {
    const invalid = document.querySelector('[aria-invalid="true"]')
    openTabOf(invalid)
    invalid?.scrollIntoView({ block: 'nearest' })
  }
}

/**
 * Returns a function that sends the request unless one is running. Aborting the request to Patchbay also aborts the one
 * to the API.
 * @param {HTMLFormElement} form
 * @param {(signal: AbortSignal) => Promise<boolean>} request sends the form and shows the response. Returns false if
 *   Patchbay refused it, for example after a sign-out
 */
export const createSend = (form, request) => {
  let isSending = false
  return async () => {
    const buttons = sendButtons()
    if (isSending || buttons.length === 0) return
    isSending = true
    const controller = new AbortController()
    for (const button of buttons) button.setAttribute('aria-disabled', 'true')
    form.setAttribute('aria-busy', 'true')
    const removeProgress = showProgress(() => controller.abort())
    // Loaded only now, because it is of no use before. Without it, the response cannot be searched.
    import('./tool-response.js').catch(() => {})
    try {
      if (await request(controller.signal)) showOutcome()
      else document.getElementById('live-problem')?.scrollIntoView({ block: 'nearest' })
    } catch {
      showToast(
        controller.signal.aborted
          ? 'Canceled. The API may have received the request.'
          : 'Could not reach Patchbay. Your changes are still here.',
      )
    } finally {
      isSending = false
      for (const button of buttons) button.removeAttribute('aria-disabled')
      form.removeAttribute('aria-busy')
      removeProgress()
    }
  }
}
