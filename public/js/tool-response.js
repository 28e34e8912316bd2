// Searches the tree of a response in the tool editor: see views/tool-editor/json-tree.eta. Loaded with the first Send.

/** Whether each object and array was open before the search. @type {WeakMap<HTMLDetailsElement, boolean>} */
const before = new WeakMap()

/** @param {Element} item @returns {HTMLDetailsElement | null} */
const detailsOf = item => item.querySelector(':scope > details')

/** Returns the text of a value, or the key of an object or array. @param {Element} item */
const textOf = item => {
  const details = detailsOf(item)
  return (details === null ? item : details.querySelector('summary .key'))?.textContent?.toLowerCase() ?? ''
}

/**
 * Shows a value if it, a value inside it or one around it matches. Returns the number of matches.
 * @param {Element} item @param {string} wanted @param {boolean} isInMatch
 */
const filterItem = (item, wanted, isInMatch) => {
  const isMatch = textOf(item).includes(wanted)
  const details = detailsOf(item)
  let inside = 0
  for (const child of details?.querySelectorAll(':scope > ul > li') ?? []) {
    inside += filterItem(child, wanted, isInMatch || isMatch)
  }
  item.toggleAttribute('hidden', !isMatch && !isInMatch && inside === 0)
  item.toggleAttribute('data-match', isMatch)
  if (details !== null) {
    if (!before.has(details)) before.set(details, details.open)
    details.open = inside > 0
  }
  return inside + (isMatch ? 1 : 0)
}

/** @param {Element} tree */
const showAll = tree => {
  for (const item of tree.querySelectorAll('li')) {
    item.removeAttribute('hidden')
    item.removeAttribute('data-match')
    const details = detailsOf(item)
    if (details === null) continue
    details.open = before.get(details) ?? details.open
    before.delete(details)
  }
}

/** @param {Element} tree @param {string} wanted @param {Element | null} output */
const search = (tree, wanted, output) => {
  const root = tree.querySelector('li')
  if (root === null) return
  if (wanted === '') showAll(tree)
  const count = wanted === '' ? undefined : filterItem(root, wanted, false)
  if (output !== null) output.textContent = count === undefined ? '' : count === 1 ? '1 match' : `${count} matches`
}

/** @param {EventTarget | null} field */
const searchBy = field => {
  if (!(field instanceof HTMLInputElement) || field.id !== 'response-search') return
  const tree = document.getElementById('response-tree')
  if (tree !== null)
    search(tree, field.value.trim().toLowerCase(), field.parentElement?.querySelector('output') ?? null)
}
document.addEventListener('input', event => searchBy(event.target))
// Something may have been typed before this script was loaded.
searchBy(document.getElementById('response-search'))
