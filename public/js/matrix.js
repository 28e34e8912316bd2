// The matrix of bindings: says how much is picked, checks the sockets of a row with it, and moves by arrow keys.

/** @param {Element} part @returns {HTMLInputElement[]} */
const boxesIn = part =>
  [...part.querySelectorAll('input[type=checkbox]')].filter(box => box instanceof HTMLInputElement)

/** @param {number} count @param {string} one */
const counted = (count, one) => `${count.toLocaleString('en')} ${one}${count === 1 ? '' : 's'}`

/** What is picked, in words. @param {HTMLTableElement} table */
const tellPicked = table => {
  const told = table.closest('form')?.querySelector('[data-picked]')
  if (!told) return
  const rows = boxesIn(table).filter(box => box.name === 'row' && box.checked).length
  const sockets = boxesIn(table).filter(box => box.name === 'cell' && box.checked).length
  told.textContent =
    rows + sockets === 0
      ? 'Check rows, or single sockets, and wire them at once.'
      : `${counted(rows, 'row')} picked, ${counted(sockets, 'socket')}`
}

document.addEventListener('change', event => {
  const box = event.target
  if (!(box instanceof HTMLInputElement) || box.type !== 'checkbox') return
  const table = box.closest('.matrix')
  const row = box.closest('tr')
  if (!(table instanceof HTMLTableElement) || row === null) return
  const [ofRow, ...ofSockets] = boxesIn(row)
  if (box === ofRow) for (const socket of ofSockets) socket.checked = box.checked
  // A row with a socket left out is no whole row any more: what is checked is what is wired.
  else if (ofRow !== undefined) ofRow.checked = ofSockets.every(socket => socket.checked)
  tellPicked(table)
})

/** The box that an arrow key leads to, in the next row or the next column that has one. */
const STEPS = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }

/** @param {HTMLTableElement} table @param {HTMLTableCellElement} from @param {number[]} step */
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
  if (table instanceof HTMLTableElement) tellPicked(table)
}
