// The matrix of bindings: shows how much is selected, selects all cells of a row, and moves focus with the arrow keys.

/** @param {Element} part @returns {HTMLInputElement[]} */
const boxesIn = part =>
  [...part.querySelectorAll('input[type=checkbox]')].filter(box => box instanceof HTMLInputElement)

/** @param {number} count @param {string} one */
const counted = (count, one) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

/** @param {HTMLTableElement} table */
const showSelection = table => {
  const status = table.closest('form')?.querySelector('[data-selection]')
  if (!status) return
  const rows = boxesIn(table).filter(box => box.name === 'row' && box.checked).length
  const cells = boxesIn(table).filter(box => box.name === 'cell' && box.checked).length
  status.textContent =
    rows + cells === 0
      ? 'Select rows or cells to set their bindings in one step.'
      : `${counted(rows, 'row')} and ${counted(cells, 'cell')} selected`
}

document.addEventListener('change', event => {
  const box = event.target
  if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox') return
  const table = box.closest('.matrix')
  const row = box.closest('tr')
  if (!(table instanceof HTMLTableElement) || row === null) return
  const [rowBox, ...cellBoxes] = boxesIn(row)
  if (box === rowBox) for (const cellBox of cellBoxes) cellBox.checked = box.checked
  // A row box stands for all of its cells, so it must not stay checked when one is cleared.
  else if (rowBox !== undefined) rowBox.checked = cellBoxes.every(cellBox => cellBox.checked)
  showSelection(table)
})

/** Rows down and columns right, by key. */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

/** Finds the next checkbox in one direction. @param {HTMLTableElement} table @param {HTMLTableCellElement} from @param {number[]} step */
const findBox = (table, from, [down = 0, right = 0]) => {
  const rows = [...table.rows]
  let at = rows.indexOf(from.parentElement) + down
  let column = from.cellIndex + right
  for (; rows[at]?.cells[column]; at += down, column += right) {
    const [box] = boxesIn(/** @type {Element} */ (rows[at]?.cells[column]))
    if (box !== undefined) return box
  }
  return undefined
}

document.addEventListener('keydown', event => {
  const box = event.target
  if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox' || !(event.key in STEPS)) return
  const cell = box.closest('td, th')
  const table = box.closest('.matrix')
  if (!(cell instanceof HTMLTableCellElement) || !(table instanceof HTMLTableElement)) return
  event.preventDefault()
  findBox(table, cell, STEPS[/** @type {keyof typeof STEPS} */ (event.key)])?.focus()
})

for (const table of document.querySelectorAll('.matrix')) {
  if (table instanceof HTMLTableElement) showSelection(table)
}
