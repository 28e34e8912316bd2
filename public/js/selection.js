// Tables whose rows can be selected: shows how many are, and selects all rows of the page.

/** @param {Element} form @param {string} selector @returns {HTMLInputElement[]} */
const boxesIn = (form, selector) => [...form.querySelectorAll(selector)].filter(box => box instanceof HTMLInputElement)

/** @param {Element} form */
const showSelection = form => {
  const boxes = boxesIn(form, 'td[data-pick] input')
  const count = boxes.filter(box => box.checked).length
  for (const all of boxesIn(form, '[data-pick-all] input')) {
    all.closest('[data-pick-all]')?.removeAttribute('hidden')
    all.checked = count === boxes.length
    all.indeterminate = count > 0 && count < boxes.length
  }
  const status = form.querySelector('[data-selection]')
  if (status === null) return
  status.setAttribute('data-idle', status.getAttribute('data-idle') ?? status.textContent ?? '')
  status.textContent = count === 0 ? status.getAttribute('data-idle') : `${count} selected`
}

document.addEventListener('change', event => {
  const box = event.target
  if (!(box instanceof HTMLInputElement) || box.closest('[data-pick]') === null) return
  const form = box.closest('form')
  if (form === null) return
  if (box.closest('[data-pick-all]') !== null) {
    for (const one of boxesIn(form, 'td[data-pick] input')) one.checked = box.checked
  }
  showSelection(form)
})

const showAll = () => {
  for (const form of document.querySelectorAll('form:has([data-pick])')) showSelection(form)
}
showAll()
document.addEventListener('htmx:load', showAll)
// The browser restores selected boxes after the scripts have run.
window.addEventListener('pageshow', showAll)
