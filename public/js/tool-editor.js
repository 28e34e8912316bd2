// The tool editor: colours places as they are typed, asks the server what follows, sends, saves, by keyboard too.
import { showToast } from './patchbay.js'
import { splitTemplate } from './template-highlight.js'
import { renewParts } from './tool-editor-parts.js'

/** How long nobody must have typed before the server is asked, in milliseconds. */
const PAUSE_MS = 250
/** Longer texts are shown plainly, in characters: colouring them would be felt. */
const MAX_COLOURED_CHARACTERS = 30_000

const form = document.querySelector('form#tool')

/** Repeats a text under its field, its places coloured. @param {HTMLTextAreaElement} area @param {HTMLPreElement} copy */
const colour = (area, copy) => {
  const pieces = area.value.length > MAX_COLOURED_CHARACTERS ? [{ text: area.value }] : splitTemplate(area.value)
  const nodes = pieces.map(({ text, type }) => {
    if (type === undefined) return text
    const token = document.createElement('span')
    token.className = 'token'
    token.dataset.type = type
    token.textContent = text
    return token
  })
  // A last line that is empty has no height of its own.
  copy.replaceChildren(...nodes, area.value === '' || area.value.endsWith('\n') ? '\u200b' : '')
}

/** Lays a field over a copy of its text: see `.template`. @param {HTMLTextAreaElement} area */
const layOver = area => {
  const frame = document.createElement('div')
  frame.className = 'template'
  frame.toggleAttribute('data-invalid', area.getAttribute('aria-invalid') === 'true')
  const copy = document.createElement('pre')
  copy.setAttribute('aria-hidden', 'true')
  const hadFocus = document.activeElement === area
  area.replaceWith(frame)
  area.className = ''
  frame.append(copy, area)
  if (hadFocus) area.focus()
  colour(area, copy)
  area.addEventListener('input', () => colour(area, copy))
}

/** @param {HTMLFormElement} form */
const edit = form => {
  /** What was ever typed into fields that come and go with the parameters. @type {Map<string, string>} */
  const remembered = new Map()
  /** @type {AbortController | undefined} */
  let asking
  let timer = 0
  let isComposing = false
  let isSending = false

  const fields = () => new URLSearchParams([...new FormData(form)].map(([name, value]) => [name, String(value)]))

  /** Marks the fields beside which an error stands now. */
  const markFields = () => {
    for (const note of document.querySelectorAll('[data-part^="note-"]')) {
      const field = document.getElementById(note.id.slice('note-'.length))
      const isWrong = note.querySelector('.error:not([data-tone])') !== null
      if (isWrong) field?.setAttribute('aria-invalid', 'true')
      else field?.removeAttribute('aria-invalid')
      field?.closest('.template')?.toggleAttribute('data-invalid', isWrong)
    }
  }

  /** @param {string} path @param {AbortSignal} signal @param {readonly string[]} leave */
  const ask = async (path, signal, leave) => {
    const headers = { 'hx-request': 'true' }
    const answer = await fetch(path, { method: 'POST', headers, body: fields(), signal })
    const html = await answer.text()
    const problem = document.getElementById('live-problem')
    if (problem !== null) problem.replaceChildren()
    if (answer.ok) {
      renewParts(html, { remembered, leave })
      // What a draft brought back has fields of its own by now.
      for (const hidden of form.querySelectorAll('input[data-restored]')) hidden.remove()
      markFields()
    } else if (problem !== null) {
      // Not done, and what is typed stays: such as when one is signed out.
      problem.replaceChildren(...new DOMParser().parseFromString(html, 'text/html').body.childNodes)
    }
  }

  const preview = async () => {
    if (isSending) return
    asking?.abort()
    asking = new AbortController()
    try {
      // The answer to what was sent stays while one goes on typing.
      await ask('/tool-preview', asking.signal, ['answer'])
    } catch (error) {
      if (error instanceof DOMException && error.name === 'AbortError') return
      // The next key tries again; without a network nothing is lost.
    }
  }

  const soon = () => {
    clearTimeout(timer)
    if (!isComposing) timer = setTimeout(preview, PAUSE_MS)
  }

  /** Under which this browser window remembers what the tool was tried with. */
  const triedKey = () => `tried:${form.dataset.draft}:${new FormData(form).get('name')}`
  const keepTried = () => {
    const values = [...fields()].filter(([name, value]) => name.startsWith('value:') && value !== '')
    sessionStorage.setItem(triedKey(), JSON.stringify(values))
  }
  const restoreTried = () => {
    const kept = JSON.parse(sessionStorage.getItem(triedKey()) ?? '[]')
    for (const [name, value] of kept) {
      const control = form.elements.namedItem(name)
      if (control === null || !('value' in control) || control.value === value) continue
      control.value = value
      soon()
    }
  }

  const sendButton = document.getElementById('send')
  const send = async () => {
    if (isSending || !(sendButton instanceof HTMLButtonElement)) return
    clearTimeout(timer)
    asking?.abort()
    isSending = true
    keepTried()
    sendButton.setAttribute('aria-disabled', 'true')
    form.setAttribute('aria-busy', 'true')
    const progress = document.createElement('progress')
    progress.setAttribute('aria-label', 'Waiting for the answer')
    document.getElementById('try')?.append(progress)
    try {
      await ask('/tool-send', new AbortController().signal, [])
      if (document.querySelector('[data-part="answer"] .state') === null) {
        document.querySelector('[aria-invalid="true"]')?.scrollIntoView({ block: 'nearest' })
      } else showToast(`Answered: ${document.querySelector('[data-part="answer"] .state')?.textContent}`)
    } catch {
      showToast('Patchbay cannot be reached. What you typed is still here.')
    } finally {
      isSending = false
      sendButton.removeAttribute('aria-disabled')
      form.removeAttribute('aria-busy')
      progress.remove()
    }
  }

  const isOfForm = target =>
    target instanceof Element && 'form' in target && target.form === form && target.getAttribute('name') !== null
  document.addEventListener('input', event => {
    if (!isOfForm(event.target)) return
    const { name, value } = event.target
    if (name.includes(':')) remembered.set(name, value)
    soon()
  })
  document.addEventListener('compositionstart', () => {
    isComposing = true
  })
  document.addEventListener('compositionend', () => {
    isComposing = false
    soon()
  })

  document.addEventListener('click', event => {
    const button = event.target instanceof Element ? event.target.closest('button') : null
    if (button === sendButton && button !== null) {
      event.preventDefault()
      void send()
    } else if (button?.name === 'placedUrl') {
      event.preventDefault()
      const url = document.getElementById('url')
      if (!(url instanceof HTMLTextAreaElement)) return
      url.value = button.value
      url.dispatchEvent(new InputEvent('input', { bubbles: true }))
      url.focus()
    }
  })

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
      // In a line of a long form Enter saves by accident; in a value it means to try it.
      event.preventDefault()
      if (event.target.name.startsWith('value:')) void send()
    }
  })

  for (const area of form.querySelectorAll('textarea[data-template]')) {
    if (area instanceof HTMLTextAreaElement) layOver(area)
  }
  if (!('unsaved' in form.dataset)) restoreTried()
  // What the browser kept of before, or took back out of a draft.
  form.addEventListener('draft:restored', () => {
    for (const area of form.querySelectorAll('textarea[data-template]')) area.dispatchEvent(new InputEvent('input'))
    soon()
  })
}

if (form instanceof HTMLFormElement && form.dataset.draft !== undefined) edit(form)
