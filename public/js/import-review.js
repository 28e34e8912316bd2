// The review of an import: shows which operation is open, and brings it into view where it is below the list. Keeps the
// bar's buttons in place while one is pressed.

/** @param {Element | null} opened */
const isInView = opened => {
  const top = opened?.getBoundingClientRect().top ?? 0
  return top >= 0 && top < window.innerHeight / 2
}

document.addEventListener('htmx:afterSwap', event => {
  if (!(event instanceof CustomEvent)) return
  const link = event.detail.requestConfig?.elt
  const row = link instanceof HTMLAnchorElement ? link.closest('.tag li') : null
  if (row === null) return
  for (const other of document.querySelectorAll('.tag li[aria-current]')) other.removeAttribute('aria-current')
  row.setAttribute('aria-current', 'true')
  const opened = document.getElementById('opened')
  if (isInView(opened)) return
  opened?.scrollIntoView({ block: 'start' })
  document.getElementById('opened-title')?.focus({ preventScroll: true })
})

// A checked "remove" wins over what is still typed in the field. Runs before htmx sends the form.
document.addEventListener(
  'change',
  ({ target }) => {
    if (!(target instanceof HTMLInputElement) || !target.checked || !target.name.startsWith('drop:')) return
    const key = target.name.slice('drop:'.length)
    for (const field of target.form?.elements ?? []) {
      if (field instanceof HTMLInputElement && [`secret:${key}`, `user:${key}`].includes(field.name)) field.value = ''
    }
  },
  { capture: true },
)

// Leaving a field saves it and replaces the bar. A button that is pressed then would never be clicked.
let isPressed = false
document.addEventListener('pointerdown', ({ target }) => {
  isPressed = target instanceof Element && target.closest('#bar button') !== null
})
for (const type of ['pointerup', 'pointercancel']) document.addEventListener(type, () => (isPressed = false))
document.addEventListener('htmx:beforeSwap', event => {
  if (isPressed && event instanceof CustomEvent) event.detail.shouldSwap = false
})
