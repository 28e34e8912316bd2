import { z } from 'zod'
import { editedTool, type Import, type ImportItem, uneditedTool } from '../../imports/import.ts'
import type { ImportChange, ItemFilter } from '../../imports/imports.service.ts'
import { type ImportNaming, NAME_SOURCES } from '../../imports/naming/naming.ts'
import { NAME_STYLES } from '../../imports/openapi/names.ts'
import { formValues } from '../../lib/http/pages/forms.ts'
import { nameSchema } from '../../lib/http/schemas.ts'
import { AppError, type FieldError } from '../../lib/kernel/errors.ts'
import { TOOL_NAME, TOOL_NAME_RULE } from '../../lib/kernel/names.ts'
import { parseHttpUrl } from '../../templates/base-url.ts'
import { chosenUrlOf, NEW_SERVER, type TypedSettings } from './access.view.ts'
import { readAuthChoice } from './auth-choice.ts'
import { firstTagOf, type TypedNames } from './operations.view.ts'
import { type ReviewQuery, tagOf, toFilter } from './review-query.ts'

const Side = z.enum(['mine', 'theirs'])

type Body = Readonly<Record<string, unknown>>

export const bodyOf = (body: unknown): Body => (typeof body === 'object' && body !== null ? { ...body } : {})

const textOf = (body: Body, name: string): string | undefined => {
  const value = body[name]
  return typeof value === 'string' ? value : undefined
}

/** Returns all text fields of a form. */
export const textsOf = (body: Body): TypedSettings =>
  new Map(Object.entries(body).flatMap(([name, value]) => (typeof value === 'string' ? [[name, value] as const] : [])))

/** The operations of the form: those that the page had a name field for. */
const shownOf = (items: readonly ImportItem[], body: Body) =>
  items.flatMap(item => {
    const typed = textOf(body, `name:${item.key}`)?.trim()
    return typed === undefined || !('tool' in item) ? [] : [{ item, typed }]
  })

/** Returns the typed names, and why some are refused. */
export const readNames = (items: readonly ImportItem[], body: Body): TypedNames => {
  const shown = shownOf(items, body)
  return {
    names: new Map(shown.map(({ item, typed }) => [item.key, typed])),
    errors: new Map(
      shown.flatMap(({ item, typed }) =>
        TOOL_NAME.test(typed) ? [] : [[item.key, `The name ${TOOL_NAME_RULE}.`] as const],
      ),
    ),
  }
}

/** Returns the edit that makes a typed name the name of the tool: none if it would have that name anyway. */
const toNameEdit = (item: ImportItem, name: string) => ({ name: name === uneditedTool(item)?.name ? null : name })

/** Returns what the form of the opened operation changes: only what differs from the tool without edits. */
export const readOperation = (item: ImportItem, { name, description }: { name: string; description: string }) => {
  const isKept = description === '' || description === uneditedTool(item)?.description?.trim()
  return { ...toNameEdit(item, name), description: isKept ? null : description }
}

/** Returns what the rows of the form change: names, and which operations are selected. */
export const readRows = (items: readonly ImportItem[], body: Body): ImportChange => {
  const shown = shownOf(items, body)
  const picked = new Set(formValues.parse(body.pick))
  const renamed = shown.filter(({ item, typed }) => typed !== editedTool(item)?.name)
  const select = shown.flatMap(({ item }) => (!item.selected && picked.has(item.key) ? [item.key] : []))
  const deselect = shown.flatMap(({ item }) => (item.selected && !picked.has(item.key) ? [item.key] : []))
  return {
    ...(renamed.length === 0
      ? {}
      : { items: Object.fromEntries(renamed.map(({ item, typed }) => [item.key, toNameEdit(item, typed)])) }),
    ...(select.length === 0 ? {} : { select: { keys: select } }),
    ...(deselect.length === 0 ? {} : { deselect: { keys: deselect } }),
  }
}

/** Returns how the form names new tools. A choice that it does not have stays. */
export const readNaming = ({ settings: { naming } }: Import, body: Body): ImportNaming => ({
  from: NAME_SOURCES.find(source => source === body.from) ?? naming.from,
  prefix: textOf(body, 'prefix')?.trim() ?? naming.prefix,
  style: NAME_STYLES.find(style => style === body.style) ?? naming.style,
})

/** The fields of the form of changes: the pieces of a tool for which a version can be chosen, and each choice. */
export const piecesName = (key: string): string => `pieces:${key}`
export const choiceName = (key: string, piece: string): string => `resolve:${key}:${piece}`

/** Returns the choice for each piece of a tool. Undefined if the form has none. */
const readChoices = (body: Body, key: string): Record<string, 'mine' | 'theirs'> | undefined => {
  const choices = formValues.parse(body[piecesName(key)]).flatMap(piece => {
    const side = Side.safeParse(body[choiceName(key, piece)])
    return side.success ? [[piece, side.data] as const] : []
  })
  return choices.length === 0 ? undefined : Object.fromEntries(choices)
}

/** Returns what the form of changes says: which tools are updated, and whose version conflicts keep. */
export const readChanges = (body: Body): ImportChange => {
  const shown = formValues.parse(body.shown)
  const picked = new Set(formValues.parse(body.pick))
  const resolved = shown.flatMap(key => {
    const resolve = readChoices(body, key)
    return resolve === undefined ? [] : [[key, { resolve }] as const]
  })
  return {
    items: Object.fromEntries(resolved),
    select: { keys: shown.filter(key => picked.has(key)) },
    deselect: { keys: shown.filter(key => !picked.has(key)) },
  }
}

const READ_METHOD = 'GET'

/**
 * Returns what a button of the form selects: all that the page lists, a tag, or only what reads. Undefined without such a
 * button. `areAll` says that `items` are all that the filter lists.
 */
export const readBulk = (
  items: readonly ImportItem[],
  areAll: boolean,
  query: ReviewQuery,
  body: Body,
): ImportChange | undefined => {
  const filter: ItemFilter = toFilter(query)
  const bulk = textOf(body, 'bulk')
  if (bulk === 'all') return { select: { filter } }
  if (bulk === 'none') return { deselect: { filter } }
  if (bulk === 'read-only') return { deselect: { filter }, select: { filter: { ...filter, method: READ_METHOD } } }
  const selectTag = textOf(body, 'selectTag')
  const tag = selectTag ?? textOf(body, 'deselectTag')
  if (tag === undefined) return undefined
  // Where all are shown, each operation is in the folder of its first tag.
  const keys = items.filter(item => (firstTagOf(item) ?? '') === tag && 'tool' in item).map(({ key }) => key)
  const choice = areAll && tagOf(query) === undefined ? { keys } : { filter: { ...filter, tag } }
  return selectTag === undefined ? { deselect: choice } : { select: choice }
}

const checkUrl = (field: string, url: string): readonly FieldError[] => {
  if (url === '') return []
  const parsed = parseHttpUrl(url)
  if (parsed === undefined) return [{ path: field, message: 'must be a URL that starts with https:// or http://' }]
  if (parsed.search !== '' || parsed.hash !== '')
    return [{ path: field, message: 'must have no query and no fragment' }]
  return []
}

const checkName = (name: string): readonly FieldError[] =>
  (nameSchema.safeParse(name).error?.issues ?? []).map(({ message }) => ({ path: 'serverName', message }))

const toBasic = (user: string, password: string): string => Buffer.from(`${user}:${password}`).toString('base64')

const readSecrets = ({ summary }: Import, typed: TypedSettings): Record<string, string | null> =>
  Object.fromEntries(
    (summary?.globals ?? [])
      .filter(({ isSecret }) => isSecret)
      .flatMap(({ key, asks }): [string, string | null][] => {
        const value = typed.get(`secret:${key}`) ?? ''
        const user = typed.get(`user:${key}`) ?? ''
        if (value !== '' || (asks === 'basic' && user !== '')) {
          return [[key, asks === 'basic' ? toBasic(user, value) : value]]
        }
        return typed.get(`drop:${key}`) === 'on' ? [[key, null]] : []
      }),
  )

const readServer = (typed: TypedSettings): string | { newName: string } | null => {
  const server = typed.get('server') ?? ''
  if (server === NEW_SERVER) return { newName: (typed.get('serverName') ?? '').trim() }
  return server === '' ? null : server
}

/** Returns how requests sign in if the form changes it. The source is then read again. */
const readAuth = ({ settings }: Import, typed: TypedSettings): { auth: string | null } | undefined => {
  const auth = typed.get('auth')
  if (auth === undefined) return undefined
  const chosen = readAuthChoice({ auth, header: typed.get('authHeader') ?? '' })
  return chosen === settings.auth ? undefined : { auth: chosen ?? null }
}

/** Returns the settings that the form has. Throws `invalid_request` with the ids of fields. */
export const readSettings = (found: Import, typed: TypedSettings): ImportChange => {
  const urls = (found.summary?.baseUrls ?? []).map(base => ({ key: base.key, url: chosenUrlOf(base, typed) }))
  const server = readServer(typed)
  const errors = [
    ...urls.flatMap(({ key, url }) => checkUrl(`url:${key}`, url)),
    ...(typeof server === 'object' && server !== null ? checkName(server.newName) : []),
  ]
  if (errors.length > 0)
    throw new AppError('invalid_request', 'Couldn’t save. Fix the fields marked below.', { errors })
  const variables = (found.summary?.globals ?? []).filter(({ isSecret }) => !isSecret)
  return {
    settings: {
      ...readAuth(found, typed),
      server,
      baseUrls: Object.fromEntries(urls.map(({ key, url }) => [key, url === '' ? null : url])),
      variables: Object.fromEntries(variables.map(({ key }) => [key, typed.get(`global:${key}`) || null])),
      secrets: readSecrets(found, typed),
    },
  }
}
