// The tool editor: connects its form with the previews, Send, the tabs, and what helps with typing and saving.
import { showToast } from './toast.js'
import { readCommands } from './tool-editor-curl.js'
import { followEdits, isEdit } from './tool-editor-edits.js'
import { addHighlighting } from './tool-editor-highlight.js'
import { createPreviews, markFields } from './tool-editor-previews.js'
import { trackChanges } from './tool-editor-save-bar.js'
import { isSecretField } from './tool-editor-secrets.js'
import { createSend } from './tool-editor-send.js'
import { startTabs } from './tool-editor-tabs.js'
import { convertOnLeave } from './tool-editor-url.js'
import { createTriedValues } from './tried-values.js'

/** @typedef {ReturnType<typeof createPreviews>} Previews */

const form = document.querySelector('form#tool')

/** Follows what is typed and chosen. @param {HTMLFormElement} form @param {Previews} previews */
const followInput = (form, previews) => {
  const isFormField = target =>
    target instanceof Element && 'form' in target && target.form === form && target.getAttribute('name') !== null
  document.addEventListener('input', event => {
    if (!isFormField(event.target) || isSecretField(event.target.name)) return
    if (isEdit(event.target)) previews.now()
    else previews.follow(event.target.name, event.target.value)
  })
}

/** @param {Previews} previews @param {string} parameter */
const storeSecret = async (previews, parameter) => {
  try {
    await previews.storeSecrets(parameter)
  } catch {
    showToast('Could not reach Patchbay. The secret is not stored.')
  }
  // The field and its button are gone once the value is stored.
  if (document.activeElement === document.body) document.getElementById(`parameter:${parameter}:source`)?.focus()
}

/** @param {Previews} previews @param {() => Promise<void>} send */
const handleClicks = (previews, send) => {
  document.addEventListener('click', event => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    if (button?.matches('[data-send]')) {
      event.preventDefault()
      void send()
    } else if (button?.name === 'storeSecret') {
      event.preventDefault()
      void storeSecret(previews, button.value)
    } else if (button?.name === 'format') {
      event.preventDefault()
      previews.now({ format: button.value })
    } else if (button?.name === 'placedUrl') {
      event.preventDefault()
      const url = document.getElementById('url')
      if (!(url instanceof HTMLTextAreaElement)) return
      url.value = button.value
      url.dispatchEvent(new InputEvent('input', { bubbles: true }))
      url.focus()
    }
  })
}

/** @param {HTMLFormElement} form @param {() => Promise<void>} send */
const handleKeys = (form, send) => {
  document.addEventListener('keydown', event => {
    const isCommand = (event.ctrlKey || event.metaKey) && !event.altKey
    if (isCommand && event.key.toLowerCase() === 's') {
      event.preventDefault()
      const save = document.getElementById('save')
      if (save instanceof HTMLButtonElement) form.requestSubmit(save)
    } else if (isCommand && event.key === 'Enter') {
      event.preventDefault()
      void send()
    } else if (event.key === 'Enter' && event.target instanceof HTMLInputElement && event.target.form === form) {
      // Prevents saving by accident. In a value field, Enter sends the request.
      event.preventDefault()
      if (event.target.name.startsWith('value:')) void send()
      if (isSecretField(event.target.name)) event.target.parentElement?.querySelector('button')?.click()
    }
  })
}

/** Loads the script for the members of JSON parameters once there is one. @param {HTMLFormElement} form */
const loadMembers = form => {
  const part = document.querySelector('[data-part="parameters"]')
  if (part === null) return
  const observer = new MutationObserver(() => load())
  const load = async () => {
    if (part.querySelector('[data-members]') === null) return
    observer.disconnect()
    // Without it, schemas are edited as text.
    const { startMembers } = await import('./tool-editor-members.js')
    startMembers(form)
  }
  observer.observe(part, { childList: true })
  load().catch(() => {})
}

/** Fills in the values of the last Send. @param {HTMLFormElement} form @param {[string, string][]} values */
const fillValues = (form, values) => {
  const changed = values.flatMap(([name, value]) => {
    const control = form.elements.namedItem(name)
    return control !== null && 'value' in control && control.value !== value ? [{ control, value }] : []
  })
  for (const { control, value } of changed) control.value = value
  return changed.length > 0
}

/** Loads completion with the first focus: it is of no use before. @param {readonly HTMLTextAreaElement[]} areas */
const loadCompletion = areas => {
  let isLoaded = false
  const load = () => {
    if (isLoaded) return
    isLoaded = true
    import('./tool-editor-completion.js').then(({ addCompletion }) => addCompletion(areas)).catch(() => {})
  }
  for (const area of areas) {
    area.addEventListener('focus', load)
    if (document.activeElement === area) load()
  }
}

/** @param {HTMLFormElement} form */
const edit = form => {
  const previews = createPreviews(form)
  const tried = createTriedValues(form)
  const send = createSend(form, async signal => {
    const html = await previews.send(signal)
    if (html !== undefined) tried.store(html)
    return html !== undefined
  })
  const areas = [...form.querySelectorAll('textarea[data-template]')].filter(
    area => area instanceof HTMLTextAreaElement,
  )
  for (const area of areas) addHighlighting(area)
  loadCompletion(areas)
  followEdits()
  followInput(form, previews)
  handleClicks(previews, send)
  handleKeys(form, send)
  if (!('unsaved' in form.dataset) && fillValues(form, tried.find())) previews.schedule()
  trackChanges(form)
  loadMembers(form)

  /** Follows fields that a script has set. */
  const refresh = () => {
    for (const area of areas) area.dispatchEvent(new InputEvent('input'))
    previews.schedule()
  }
  form.addEventListener('draft:restored', refresh)

  const url = document.getElementById('url')
  if (!(url instanceof HTMLTextAreaElement)) return
  convertOnLeave(url)
  readCommands(form, url, {
    request: async body => {
      try {
        return await previews.requestPage(body)
      } catch {
        showToast('Could not reach Patchbay. Your changes are still here.')
      }
    },
    refresh: () => {
      refresh()
      // Stores the draft.
      url.dispatchEvent(new InputEvent('input', { bubbles: true }))
    },
    markFields,
  })
}

startTabs()
if (form instanceof HTMLFormElement && form.dataset.draft !== undefined) edit(form)
