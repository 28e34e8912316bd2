// Shows the JSON Schema of a JSON parameter as a list of members that can be edited. The schema stays in its text field,
// which is what is saved: the list is written to it, and read again when the text changes.
import { canListValues, changeType, createValue, readSchema, setValues, writeSchema } from './schema-members.js'

/** @typedef {import('./schema-members.js').Value} Value */
/** @typedef {import('./schema-members.js').Member} Member */
/**
 * The list of one parameter. `labels` set the labels that contain names of members.
 * @typedef {{ id: string, name: string, root: Value, labels: (() => void)[], write: () => void, redraw: () => void }} List
 */
/** A value in a list, what its labels call it, and the beginning of the ids of its fields. @typedef {{ list: List, value: Value, path: () => string, id: string }} Place */

/** @type {[import('./schema-members.js').ValueType, string][]} */
const TYPES = [
  ['string', 'Text'],
  ['integer', 'Integer'],
  ['number', 'Number'],
  ['boolean', 'Yes/no'],
  ['date', 'Date'],
  ['url', 'URL'],
  ['object', 'Object'],
  ['array', 'List'],
  ['any', 'JSON'],
]

/** Longer lists are closed at first. */
const MAX_OPEN = 20

/**
 * Creates an element. `on` has event listeners.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag @param {Record<string, string>} attributes @param {(Node | string)[]} children
 */
const create = (tag, attributes, ...children) => {
  const element = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value)
  element.append(...children)
  return element
}

/** @param {string} text @param {Record<string, string>} attributes @param {() => void} act */
const createButton = (text, attributes, act) => {
  const button = create('button', { type: 'button', class: 'button', 'data-size': 'small', ...attributes }, text)
  button.addEventListener('click', act)
  return button
}

/** @param {'input' | 'textarea'} tag @param {Record<string, string>} attributes @param {string} value @param {(text: string) => void} set */
const createField = (tag, attributes, value, set) => {
  const field = create(tag, { class: 'input', spellcheck: 'false', autocomplete: 'off', ...attributes })
  field.value = value
  field.addEventListener('input', () => set(field.value))
  return field
}

/** Sets the label of an element, and again once a member has another name. @param {List} list @param {Element} element @param {() => string} text */
const label = (list, element, text) => {
  const set = () => element.setAttribute('aria-label', text())
  list.labels.push(set)
  set()
}

/** @param {Place} place */
const createTypeSelect = ({ list, value, path, id }) => {
  const select = create('select', { class: 'input', id: `${id}:type` })
  // The type of the parameter itself is that of its placeholder.
  label(list, select, () => `${value === list.root ? 'Structure' : 'Type'} of ${path()}`)
  select.append(...TYPES.map(([type, text]) => new Option(text, type, false, type === value.type)))
  select.addEventListener('change', () => {
    const found = TYPES.find(([type]) => type === select.value)
    if (found === undefined) return
    changeType(value, found[0])
    list.write()
    list.redraw()
  })
  return select
}

/** @param {Place} place */
const createAllowedValues = ({ list, value, path, id }) => {
  const attributes = { id: `${id}:values`, rows: '1', 'data-kind': 'code', placeholder: 'Allowed values, one per line' }
  const field = createField('textarea', attributes, (value.values ?? []).join('\n'), text => {
    setValues(value, text)
    list.write()
  })
  label(list, field, () => `Allowed values of ${path()}`)
  return field
}

/** Returns the fields that describe a value. @param {Place} place @returns {HTMLElement[]} */
const createDetails = place => {
  const { list, value, path, id } = place
  const attributes = { id: `${id}:about`, 'data-about': '', placeholder: 'Description' }
  const about = createField('input', attributes, value.description ?? '', text => {
    value.description = text.trim() === '' ? undefined : text
    list.write()
  })
  label(list, about, () => `Description of ${path()}`)
  const others = Object.keys(value.rest).filter(keyword => keyword !== 'properties' && keyword !== 'required')
  return [
    about,
    ...(canListValues(value.type) ? [createAllowedValues(place)] : []),
    ...(others.length > 0 ? [create('small', { class: 'faint' }, `In the text also: ${others.join(', ')}`)] : []),
  ]
}

/** @param {Place} place @param {Value} owner @param {Member} member */
const createName = ({ list, id }, owner, member) => {
  const attributes = { id: `${id}:name`, 'data-kind': 'code', 'aria-label': 'Name of the member', placeholder: 'name' }
  const field = createField('input', attributes, member.name, text => {
    // It would replace the other member.
    const isTaken = owner.members.some(other => other !== member && other.name === text)
    field.setAttribute('aria-invalid', String(isTaken))
    field.title = isTaken ? 'Another member has this name' : ''
    if (isTaken) return
    member.name = text
    for (const set of list.labels) set()
    list.write()
  })
  return field
}

/** @param {Place} place @param {Value} owner @param {Member} member @param {string} ownerId */
const createMemberRow = (place, owner, member, ownerId) => {
  const { list, path, id } = place
  const required = create('input', { type: 'checkbox', id: `${id}:required` })
  label(list, required, () => `${path()} is required`)
  required.checked = member.required
  required.addEventListener('input', () => {
    member.required = required.checked
    list.write()
  })
  const remove = createButton('Remove', { 'data-rank': 'quiet' }, () => {
    owner.members.splice(owner.members.indexOf(member), 1)
    list.write()
    list.redraw()
    document.getElementById(`${ownerId}:add`)?.focus()
  })
  label(list, remove, () => `Remove ${path()}`)
  return create(
    'div',
    { class: 'member' },
    createName(place, owner, member),
    createTypeSelect(place),
    create('label', { class: 'check' }, required, create('span', {}, 'Required')),
    ...createDetails(place),
    remove,
  )
}

/** @param {Place} place */
const createItem = ({ list, value, path, id }) => {
  value.item ??= createValue('any')
  const item = { list, value: value.item, path: () => `each item of ${path()}`, id: `${id}.0` }
  const name = create('span', { class: 'faint' }, 'Each item')
  const row = create('div', { class: 'member' }, name, createTypeSelect(item), ...createDetails(item))
  return create('li', {}, row, ...createInside(item))
}

/** @param {Place} place */
const createMembers = ({ list, value, path, id }) => {
  const rows = value.members.map((member, index) => {
    const memberPath = () => `${path()}.${member.name || 'new member'}`
    const one = { list, value: member.value, path: memberPath, id: `${id}.${index}` }
    return create('li', {}, createMemberRow(one, value, member, id), ...createInside(one))
  })
  const add = createButton('Add a member', { id: `${id}:add` }, () => {
    value.members.push({ name: '', required: false, value: createValue() })
    list.redraw()
    document.getElementById(`${id}.${value.members.length - 1}:name`)?.focus()
  })
  label(list, add, () => `Add a member to ${path()}`)
  return [...rows, create('li', {}, add)]
}

/** Returns what is inside of an object or array. @param {Place} place @returns {HTMLElement[]} */
const createInside = place => {
  if (place.value.type === 'array') return [create('ul', {}, createItem(place))]
  return place.value.type === 'object' ? [create('ul', {}, ...createMembers(place))] : []
}

/** @param {Value} value @returns {number} */
const countValues = ({ members, item }) =>
  members.reduce((sum, member) => sum + 1 + countValues(member.value), 0) + (item ? 1 + countValues(item) : 0)

/** @param {Element} place @param {List} list */
const draw = (place, list) => {
  const { id, name, root } = list
  list.labels = []
  const count = countValues(root)
  const fold = create('details', { class: 'fold', id: `${id}:fold` })
  fold.open = place.querySelector('details')?.open ?? (count > 0 && count <= MAX_OPEN)
  const icon = document.querySelector('.parameters summary .icon')?.cloneNode(true)
  const title = create(
    'span',
    {},
    root.type === 'array' ? 'Items' : 'Members',
    create('span', { class: 'hush' }, ` of ${name}`),
  )
  const whole = { list, value: root, path: () => name, id }
  const row = create('div', { class: 'member' }, create('code', {}, name), createTypeSelect(whole))
  fold.append(create('summary', {}, ...(icon ? [icon] : []), title), row, ...createInside(whole))
  const focused = place.contains(document.activeElement) ? document.activeElement?.id : undefined
  place.replaceChildren(fold)
  if (focused) document.getElementById(focused)?.focus()
}

/** @param {string} text @returns {Value | undefined} */
const readText = text => {
  if (text.trim() === '') return createValue('any')
  try {
    return readSchema(JSON.parse(text))
  } catch {
    return undefined
  }
}

/** Texts that the lists on the page show. @type {WeakMap<Element, string>} */
const shownTexts = new WeakMap()

/** Shows the schema in a place, unless it is shown already. @param {HTMLElement} place */
const show = place => {
  const text = () => document.getElementById(place.dataset.members ?? '')
  const field = text()
  if (!(field instanceof HTMLTextAreaElement) || shownTexts.get(place) === field.value) return
  shownTexts.set(place, field.value)
  const root = readText(field.value)
  if (root === undefined) {
    const note = 'The schema says more than a table of members can show. Edit it as text below.'
    place.replaceChildren(create('p', { class: 'hint' }, note))
    return
  }
  /** @type {List} */
  const list = {
    id: place.id,
    name: place.dataset.parameter ?? '',
    root,
    labels: [],
    write: () => {
      const area = text()
      if (!(area instanceof HTMLTextAreaElement)) return
      const schema = writeSchema(root)
      area.value = Object.keys(schema).length === 0 ? '' : JSON.stringify(schema, null, 2)
      shownTexts.set(place, area.value)
      area.dispatchEvent(new InputEvent('input', { bubbles: true }))
    },
    redraw: () => draw(place, list),
  }
  draw(place, list)
}

/** Shows the schemas of all JSON parameters, and follows their texts. @param {HTMLFormElement} form */
export const startMembers = form => {
  const showAll = () => {
    for (const place of document.querySelectorAll('[data-members]')) if (place instanceof HTMLElement) show(place)
  }
  showAll()
  const part = document.querySelector('[data-part="parameters"]')
  if (part !== null) new MutationObserver(showAll).observe(part, { childList: true })
  form.addEventListener('draft:restored', showAll)
  form.addEventListener('input', showAll)
}
